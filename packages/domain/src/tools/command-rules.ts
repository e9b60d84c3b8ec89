import { fitsPattern, mayFitPattern } from '../core/wildcards.ts'
import { isLauncher, type Launched, launchedBy, nameOf, programName, unwrapped } from './shell-launchers.ts'
import { knownWord, readShell, type ShellCommand, type ShellWord, textOf } from './shell-syntax.ts'

/** How commands that start each other may be nested, `sh -c` in `sh -c` for one. */
const LEVELS_MAX = 8
const COMMANDS_MAX = 5_000
const WORDS_MAX = 200_000
/** Of all texts that are nested, in characters: each level is read anew. */
const LENGTH_MAX = 500_000

/** What a command starts further, and why the search ends there, if it does. */
type Step = Readonly<Launched>
const NOTHING: Step = { commands: [], texts: [], problem: null }

/**
 * Visits every command that a text of the shell runs, also by way of what `visit` says that one starts. Answers with the first problem: of a visit,
 * or why the commands cannot be determined. Takes time in proportion to the text. What programs do on their own is not seen: a rule is no sandbox.
 */
function visitCommands(text: string, visit: (command: ShellCommand) => Step): string | null {
  const open: ({ text: string; level: number } | { command: ShellCommand; level: number })[] = [{ text, level: 0 }]
  const seen = new Set<string>()
  let commands = 0
  let words = 0
  let length = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const level = next.level + 1
    let step: Step
    if ('command' in next) {
      commands += 1
      words += next.command.words.length
      step = visit(next.command)
    } else if (seen.has(next.text)) {
      step = NOTHING
    } else {
      seen.add(next.text)
      length += next.text.length
      const reading = length > LENGTH_MAX ? { problem: 'it is too long' } : readShell(next.text)
      step = { ...NOTHING, ...reading }
    }
    if (step.problem !== null) return step.problem
    if (commands + open.length > COMMANDS_MAX || words > WORDS_MAX) return 'it has too many commands'
    if (level > LEVELS_MAX && step.commands.length + step.texts.length > 0) return 'its commands start each other too often'
    // A loop, since a hostile text may have more commands than a call can have arguments.
    for (const command of step.commands) open.push({ command, level })
    for (const each of step.texts) open.push({ text: each, level })
  }
  return null
}

/** Why one of the rules denies a command; null where none does. Each rule is what stands in the parentheses of `Bash(…)`. */
export function denialOfCommand(specifiers: readonly string[], text: string): string | null {
  if (specifiers.length === 0) return null
  const plain = specifiers.find((specifier) => fitsText(specifier, text.trim()))
  if (plain !== undefined) return `it fits ${plain}`
  let denied: string | undefined
  const problem = visitCommands(text, (command) => {
    denied = specifiers.find((specifier) => mayBe(specifier, command))
    return denied === undefined ? launchedBy(command) : { ...NOTHING, problem: denied }
  })
  if (denied !== undefined) return `a part of it is or could be ${denied}`
  return problem === null ? null : `it cannot be judged: ${problem}`
}

/** Whether rules allow every part of a command, or one of them the whole of it to the letter. */
export function isCommandAllowed(specifiers: readonly string[], text: string): boolean {
  const whole = text.trim()
  if (specifiers.some((specifier) => specifier === whole || ANYTHING.has(specifier))) return whole !== ''
  return visitCommands(text, (command) => allowedStep(specifiers, command)) === null
}

const ANYTHING = new Set(['*', ':*'])
/** Commands of the shell that do nothing but decide what comes next. */
const HARMLESS = new Set([':', '[', 'break', 'continue', 'exit', 'false', 'return', 'test', 'true'])
/** Variables that do not change which commands are run. */
const HARMLESS_VARIABLE =
  /^(?:NODE_ENV|CI|LANG|LANGUAGE|LC_\w+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|DEBUG|VERBOSE|RUST_LOG|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GOOS|GOARCH|CGO_ENABLED)$/
/** Variables of the shell that no program sees, by the custom of writing them in small letters. */
const OWN_VARIABLE = /^[a-z][a-z\d_]*$/
const HARMLESS_FILE = '/dev/null'

/** What must be allowed beside a command that is. */
function allowedStep(specifiers: readonly string[], command: ShellCommand): Step {
  const refused = { ...NOTHING, problem: 'it is not allowed' }
  const { words, variables, files } = command
  if (!files.every((file) => textOf(file) === HARMLESS_FILE)) return refused
  if (!variables.every(({ name }) => HARMLESS_VARIABLE.test(name) || (words.length === 0 && isOwnVariable(name)))) return refused
  if (words.length === 0 || HARMLESS.has(textOf(words[0]) ?? '')) return NOTHING
  const rules = specifiers.filter((specifier) => isCoveredBy(specifier, words))
  const inner = unwrapped(command)
  if (rules.some(namesWhatIsLaunched)) return NOTHING
  if (inner !== null) return { ...NOTHING, commands: [{ ...inner, variables: [], files: [] }] }
  return rules.length === 0 ? refused : launchedBy(command)
}

/** Whether a rule says what a launcher may start, as `xargs grep:*` does, and not only how. */
function namesWhatIsLaunched(specifier: string): boolean {
  const [program = '', next = ''] = specifier.split(/\s+/)
  if (program === 'find') return specifier.includes(' -exec')
  return isLauncher(program) && (/^[A-Za-z_./][\w./-]*(?::\*)?$/.test(next) || next === '-c')
}

function isOwnVariable(name: string): boolean {
  return OWN_VARIABLE.test(name) && !name.endsWith('_proxy')
}

/** Stands in a text for what is not known, and for blanks inside of a word: only a `*` takes it in. */
const UNKNOWN = '\0'

function isCoveredBy(specifier: string, words: readonly ShellWord[]): boolean {
  if (words[0]?.pieces.includes(null)) return false
  return fitsText(specifier, words.map(({ pieces }) => pieces.map((piece) => piece?.replace(/\s/g, UNKNOWN) ?? UNKNOWN).join('')).join(' '))
}

/** `git:*` and `git *` are git and whatever follows it after a blank; elsewhere `*` stands for anything. */
function fitsText(specifier: string, text: string): boolean {
  const prefix = prefixOf(specifier)
  if (prefix === null) return fitsPattern(specifier, text)
  return fitsPattern(prefix, text) || fitsPattern(`${prefix} *`, text)
}

function prefixOf(specifier: string): string | null {
  return specifier.endsWith(':*') || specifier.endsWith(' *') ? specifier.slice(0, -2) : null
}

/** Whether a command is what a rule denies, or could be: by the name of its program, with options skipped and in any order. */
function mayBe(specifier: string, command: ShellCommand): boolean {
  const name = nameOf(command)
  if (name === undefined) return false
  const words = command.words
  // To the letter, too: a pattern such as `*push*` is about the whole of it.
  if (
    mayFitText(
      specifier,
      words.flatMap(({ pieces }, at) => (at === 0 ? pieces : [' ', ...pieces])),
    )
  )
    return true
  const program = programName(name)
  if (mayBeRun(specifier, [knownWord(program), ...words.slice(1)])) return true
  const parts = /^(git)-(.+)$/.exec(program)
  return parts !== null && mayBeRun(specifier, [knownWord('git'), knownWord(parts[2] as string), ...words.slice(1)])
}

function mayFitText(specifier: string, pieces: readonly (string | null)[]): boolean {
  const prefix = prefixOf(specifier)
  return prefix === null ? mayFitPattern(specifier, pieces) : mayFitPattern(prefix, pieces) || mayFitPattern(`${prefix} *`, pieces)
}

/** Options before a subcommand, and whether the next word is their value. Of other programs each option may have one. */
const KNOWN_OPTIONS: Readonly<Record<string, { flags: RegExp; values: RegExp }>> = {
  git: {
    flags:
      /^(?:-[pPvh]|--(?:paginate|no-pager|no-replace-objects|no-lazy-fetch|no-optional-locks|no-advice|bare|\w+-pathspecs|exec-path|html-path|man-path|info-path))$/,
    values: /^(?:-[Cc]|--(?:git-dir|work-tree|namespace|super-prefix|config-env|attr-source|list-cmds))$/,
  },
  npm: { flags: /^(?:-[sgyqd]|--(?:silent|global|yes|quiet|verbose|force|json))$/, values: /^(?:-[Cw]|--(?:prefix|workspace|registry|loglevel))$/ },
}

/** Other words for a subcommand. */
const SYNONYMS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  npm: {
    install: ['i', 'in', 'ins', 'inst', 'insta', 'instal', 'isnt', 'isnta', 'isntal', 'isntall', 'add'],
    uninstall: ['un', 'unlink', 'remove', 'rm', 'r'],
    run: ['run-script', 'rum', 'urn'],
    exec: ['x'],
    test: ['t', 'tst'],
    publish: ['pub', 'publ', 'publi', 'publis'],
  },
}
/** Letters of options with their long names, which may be cut short. */
const LETTERS: Readonly<Record<string, { letters?: string; name: string }>> = {
  r: { letters: 'R', name: '--recursive' },
  f: { name: '--force' },
  n: { name: '--no-verify' },
  d: { letters: 'D', name: '--delete' },
}

/** Reads the words of a command along those of a rule, in time in proportion to their product; a rule has at most 500 characters. */
function mayBeRun(specifier: string, words: readonly ShellWord[]): boolean {
  const prefix = prefixOf(specifier)
  const all = (prefix ?? specifier).split(/\s+/).filter((token) => token !== '')
  const [program = '', ...others] = all
  if (!fitsPattern(program.toLowerCase(), textOf(words[0])?.toLowerCase() ?? '')) return false
  const tokens = others.filter((token) => !isOption(token))
  if (!others.filter(isOption).every((option) => mayHaveOption(option, words))) return false
  const known = KNOWN_OPTIONS[program]
  const synonyms = SYNONYMS[program]
  const end = tokens.length
  // How many tokens may have been met, and those of them after which an option may take the next word.
  let met = new Set([0])
  let valued = new Set<number>()
  let isAfterOptions = false
  if (prefix !== null && reaches(met, tokens)) return true
  for (const word of words.slice(1)) {
    const next = new Set<number>()
    const nextValued = new Set<number>()
    const text = textOf(word)
    if (word.splits && prefix !== null && word.pieces[0] === null) return true
    const mayBeOption =
      !isAfterOptions &&
      (text === undefined ? word.pieces[0] === null || word.pieces[0] === '' || (word.pieces[0] ?? '').startsWith('-') : text.startsWith('-'))
    for (const at of met) {
      for (let token = at; token <= end; token += 1) {
        const wanted = tokens[token]
        if (wanted === '*') {
          next.add(token)
          continue
        }
        if (wanted !== undefined && (mayFitPattern(wanted, word.pieces) || synonyms?.[wanted]?.includes(text ?? ''))) next.add(token + 1)
        break
      }
      if (mayBeOption) {
        const takesNone = text !== undefined && (text.includes('=') || (at === 0 && (known?.flags.test(text) ?? false)) || text === '--')
        const takesOne = text !== undefined && at === 0 && (known?.values.test(text) ?? false)
        if (!takesOne) next.add(at)
        if (!takesNone) nextValued.add(at)
      }
      if (word.splits) for (let token = at; token <= end; token += 1) next.add(token)
    }
    // The word is the value of an option.
    for (const at of valued) next.add(at)
    if (text === '--') isAfterOptions = true
    met = next
    valued = nextValued
    if (prefix !== null && reaches(met, tokens)) return true
    if (met.size === 0 && valued.size === 0) return false
  }
  return reaches(met, tokens)
}

function reaches(met: ReadonlySet<number>, tokens: readonly string[]): boolean {
  let end = tokens.length
  while (end > 0 && tokens[end - 1] === '*') end -= 1
  for (const at of met) if (at >= end) return true
  return false
}

function isOption(token: string): boolean {
  return token.startsWith('-') && token.length > 1
}

/** Whether an option of a rule is among the words: written out, in a cluster such as `-rf`, or under its long name. */
function mayHaveOption(option: string, words: readonly ShellWord[]): boolean {
  const end = words.findIndex((word) => textOf(word) === '--')
  const options = words.slice(1, end === -1 ? words.length : end)
  const has = (fits: (text: string) => boolean) =>
    options.some((word) => {
      const text = textOf(word)
      return text === undefined ? word.splits || word.pieces[0] === null || (word.pieces[0] ?? '').startsWith('-') : fits(text)
    })
  if (has((text) => fitsPattern(option, text) || text.startsWith(`${option}=`))) return true
  if (option.startsWith('--')) {
    const letter = Object.keys(LETTERS).find((each) => LETTERS[each]?.name === option)
    return has((text) => (text.length > 3 && text.startsWith('--') && option.startsWith(text)) || (letter !== undefined && hasLetter(text, letter)))
  }
  return [...option.slice(1)].every((letter) => {
    const { letters = '', name } = LETTERS[letter] ?? { name: null }
    return has(
      (text) =>
        [letter, ...letters].some((each) => hasLetter(text, each)) || (name !== null && text.length > 2 && text.startsWith('--') && name.startsWith(text)),
    )
  })
}

function hasLetter(text: string, letter: string): boolean {
  return /^-[^-]/.test(text) && text.includes(letter)
}

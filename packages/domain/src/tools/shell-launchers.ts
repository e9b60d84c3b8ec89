import { assignedBy, knownWord, type ShellCommand, type ShellWord, textOf, UNKNOWN_WORD, UNKNOWN_WORDS } from './shell-syntax.ts'

/** What a command starts further. */
export interface Launched {
  /** Commands that may be run: all of those that its words can mean. */
  commands: ShellCommand[]
  /** Texts that a shell runs. */
  texts: string[]
  /** Why the command cannot be determined; null if it can. */
  problem: string | null
}

/** How a program that runs another one is called: its options, and how many words stand before the other one. */
interface Launcher {
  flags: string
  /** Short options that take the next word. */
  values: string
  longFlags?: readonly string[]
  longValues?: readonly string[]
  operands?: number
  /** Whether assignments may stand before the command. */
  assignments?: boolean
  /** Whether it changes nothing about the command but when it runs and how it is watched, so that a rule that allows the command allows it too. */
  isTransparent?: boolean
}

const LAUNCHERS: Readonly<Record<string, Launcher>> = {
  builtin: { flags: '', values: '' },
  chroot: { flags: '', values: '', operands: 1 },
  command: { flags: 'p', values: '', isTransparent: true },
  doas: { flags: 'nsL', values: 'uC' },
  env: { flags: 'i0v', values: 'uC', longFlags: ['ignore-environment', 'null', 'debug'], longValues: ['unset', 'chdir'], assignments: true },
  exec: { flags: 'cl', values: 'a' },
  ionice: { flags: 't', values: 'cn' },
  nice: { flags: '0123456789', values: 'n', longValues: ['adjustment'], isTransparent: true },
  nohup: { flags: '', values: '', isTransparent: true },
  npx: { flags: 'y', values: 'p', longFlags: ['yes', 'no', 'no-install', 'quiet'], longValues: ['package'] },
  setsid: { flags: 'cfw', values: '' },
  stdbuf: { flags: '', values: 'ioe', longValues: ['input', 'output', 'error'], isTransparent: true },
  sudo: {
    flags: 'AbEHnPSkKBis',
    values: 'ugpCThDRrtU',
    longFlags: ['askpass', 'background', 'preserve-env', 'set-home', 'non-interactive', 'stdin', 'login', 'shell'],
    longValues: ['user', 'group', 'prompt', 'host', 'chdir', 'chroot', 'role', 'type'],
    assignments: true,
  },
  taskset: { flags: 'a', values: '', operands: 1 },
  time: { flags: 'apvqV', values: 'fo', isTransparent: true },
  timeout: {
    flags: 'fpv',
    values: 'ks',
    longFlags: ['foreground', 'preserve-status', 'verbose'],
    longValues: ['kill-after', 'signal'],
    operands: 1,
    isTransparent: true,
  },
  xargs: {
    flags: '0rtxil',
    values: 'IadELnPs',
    longFlags: ['null', 'no-run-if-empty', 'verbose', 'exit'],
    longValues: ['arg-file', 'delimiter', 'max-args', 'max-procs', 'max-chars'],
  },
}

/** Others, whose words may each be the command. */
const OTHER_LAUNCHERS = new Set(
  (
    'arch bunx busybox bwrap caffeinate capsh catchsegv chpst chronic chrt concurrently cross-env daemonize dbus-run-session direnv doppler dotenv ' +
    'dumb-init entr envdir fakeroot faketime firejail flock gdb gosu gtimeout hyperfine linux32 linux64 lockf ltrace nix-shell nodemon nsenter numactl ' +
    'parallel perf pkexec pnpx proot proxychains rlwrap runcon runuser screen script setarch setpriv setuidgid softlimit ssh start-stop-daemon strace ' +
    'su su-exec systemd-run tini tmux torsocks toybox tsocks unbuffer unshare uvx valgrind watch with-contenv xvfb-run'
  ).split(' '),
)
/** Those with a word that makes them one. */
const LAUNCHING_WORDS: Readonly<Record<string, readonly string[]>> = {
  asdf: ['exec'],
  'aws-vault': ['exec'],
  bundle: ['exec'],
  cargo: ['watch'],
  conda: ['run'],
  devbox: ['run'],
  docker: ['exec', 'run'],
  dotenvx: ['run'],
  git: ['run', 'foreach'],
  hatch: ['run'],
  kubectl: ['exec', 'run'],
  lerna: ['exec'],
  mise: ['exec', 'x'],
  nix: ['run', 'develop', 'shell'],
  nodenv: ['exec'],
  npm: ['exec', 'x'],
  op: ['run'],
  pdm: ['run'],
  pipenv: ['run'],
  pnpm: ['exec', 'dlx'],
  podman: ['exec', 'run'],
  poetry: ['run'],
  pyenv: ['exec'],
  rbenv: ['exec'],
  rye: ['run'],
  uv: ['run'],
  volta: ['run'],
  yarn: ['exec', 'dlx', 'run'],
}
/** The loader of programs, which takes one as its argument. */
const LOADER = /^ld(?:-[\w-]+)?\.so/
/** Where `parallel` puts in what it reads: {}, {.}, {1}, {/}. */
const PLACEHOLDER = /\{[^{}\s]*\}/g
/** Those that hand one word, or all of them, to a shell. */
const SHELL_USERS = new Set('capsh concurrently entr env flock hyperfine nix-shell nodemon npm npx parallel runuser screen script ssh su tmux watch'.split(' '))

const SHELLS = new Set('ash bash csh dash fish ksh mksh rbash sh tcsh yash zsh'.split(' '))

/** Options whose value is a command of the shell, or begins one. */
const TEXT_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  git: ['-x', '--exec', '--extcmd', '-u', '--upload-pack', '--receive-pack', '-O', '--open-files-in-pager', '--tree-filter', '--index-filter', '--msg-filter'],
  man: ['-P', '--pager'],
  rsync: ['-e', '--rsh'],
  scp: ['-S'],
  sort: ['--compress-program'],
  tar: ['--to-command', '--checkpoint-action', '-I', '--use-compress-program', '--rsh-command', '-F', '--info-script', '--new-volume-script'],
  zip: ['-TT', '--unzip-command'],
}

/** Short options that take program text, and those that take another value. */
const INTERPRETERS: readonly { name: RegExp; text: string; values: string; words?: readonly string[] }[] = [
  { name: /^(?:python|pypy)[\d.]*$/, text: 'c', values: 'WX' },
  { name: /^(?:node|nodejs|bun|tsx|ts-node)$/, text: 'ep', values: 'rC', words: ['--eval', '--print'] },
  { name: /^(?:pwsh|powershell|nu|xonsh|elvish)$/, text: 'cCeE', values: '' },
  { name: /^deno$/, text: '', values: '', words: ['eval', 'repl'] },
  { name: /^perl[\d.]*$/, text: 'eE', values: 'I' },
  { name: /^ruby[\d.]*$/, text: 'e', values: 'IrC' },
  { name: /^php[\d.]*$/, text: 'rBRE', values: 'dcz', words: ['--run'] },
  { name: /^(?:lua[\d.]*|luajit)$/, text: 'e', values: 'l' },
  { name: /^(?:osascript|Rscript|R|julia|elixir|groovy|scala)$/, text: 'eE', values: '', words: ['--eval'] },
  { name: /^(?:expect|tclsh|wish)[\d.]*$/, text: 'c', values: '' },
  { name: /^(?:vi|vim|nvim|view|ex|ed|rvim)$/, text: 'cSs', values: 'u', words: ['--cmd'] },
  { name: /^emacs$/, text: '', values: '', words: ['--eval', '--load', '-l', '-f'] },
]
const AWK = /^(?:[gmn]|)awk$/
/** An `e` where sed takes it for its command or flag that runs a shell. */
const SED_RUNS = /(?:^|[\s;{}\d$!]|[^A-Za-z\d\s][gpmiMI\d]*)e[gpmiMI\dw]*(?:$|[\s;}])/

/** Commands of the shell that change what later ones mean, or run what is not in the text. */
const UNJUDGED = new Set('. source alias let enable bind fc complete compgen at batch'.split(' '))

const ASSIGNING = new Set(['export', 'declare', 'typeset', 'local', 'readonly', 'env', 'sudo', 'doas', 'cross-env'])
/** Variables whose value is a command. */
const COMMAND_VARIABLE =
  /^(?:\w*(?:PAGER|EDITOR|ASKPASS)|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|PROMPT_COMMAND|SHELL|RSYNC_RSH|GIT_SSH(?:_COMMAND)?|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND)$/
/** Variables that make programs run what is not in the text. */
const UNJUDGED_VARIABLE =
  /^(?:BASH_ENV|ENV|LD_\w+|DYLD_\w+|PS[0-4]|BASH_FUNC\w*|BASHOPTS|SHELLOPTS|GIT_CONFIG\w*|GIT_EXEC_PATH|PERL5OPT|RUBYOPT|PYTHONSTARTUP|npm_config_\w*shell)$/i
/** Settings of git whose value is a command. */
const COMMAND_SETTING =
  /pager|editor|sshcommand|askpass|fsmonitor|helper|textconv|cmd|command|driver|program|proxy|external|process|clean|smudge|uploadpack|receivepack/i

/** More words than this are judged by where the first of them leads. */
const SUFFIXES_MAX = 200
/** Commands of one find. */
const RUNS_MAX = 16

/** Whether a program does little else but run another one. */
export function isLauncher(program: string): boolean {
  return Object.hasOwn(LAUNCHERS, program) || OTHER_LAUNCHERS.has(program) || SHELLS.has(program)
}

/** The last part of a path: `/usr/bin/git` is git. */
export function programName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).replace(/\.exe$/i, '')
}

/** The name of a command as far as it is known: that of `$HOME/bin/git` is git. Undefined where it could be any. */
export function nameOf({ words }: ShellCommand): string | undefined {
  const [word] = words
  if (word === undefined) return undefined
  const text = textOf(word)
  if (text !== undefined) return text
  const last = word.pieces.at(-1)
  return !word.splits && typeof last === 'string' && last.includes('/') ? last.slice(last.lastIndexOf('/')) : undefined
}

/** What a command starts beside itself. */
export function launchedBy(command: ShellCommand): Launched {
  const found: Launched = { commands: [], texts: [], problem: null }
  const refuse = (problem: string) => {
    found.problem ??= problem
  }
  const addText = (word: ShellWord | undefined, what: string) => {
    const text = textOf(word)
    if (text === undefined) refuse(`${what} is not known before it runs`)
    else if (text.trim() !== '') found.texts.push(text)
  }
  const setVariable = (name: string, value: ShellWord | null) => {
    if (UNJUDGED_VARIABLE.test(name)) refuse(`the variable ${name} makes programs run what is not in the command`)
    else if (COMMAND_VARIABLE.test(name)) addText(value ?? undefined, `the value of ${name}`)
  }
  for (const { name, value } of command.variables) setVariable(name, value)
  if (command.words.length === 0) return found

  const name = nameOf(command)
  if (name === undefined) {
    refuse('the name of a command is not known before it runs; write it out')
    return found
  }
  const program = programName(name)
  const args = command.words.slice(1)
  const texts = args.map(textOf)
  if (ASSIGNING.has(program)) {
    for (const arg of args) {
      const assigned = assignedBy(arg)
      if (assigned !== null) setVariable(assigned.name, assigned.value)
    }
  }
  if (UNJUDGED.has(program) && (program !== 'alias' || args.length > 0)) refuse(`${program} runs what is not in the command`)
  if (program === 'eval') addText({ pieces: args.flatMap((arg) => [...arg.pieces, ' ']), splits: false }, 'what eval runs')
  if (program === 'trap' && args.length > 1) addText(args[texts[0] === '--' ? 1 : 0], 'what trap runs')
  if (program === 'hash' && texts.includes('-p')) refuse('hash -p gives a program another name')
  if ((program === 'mapfile' || program === 'readarray') && texts.some((text) => text === undefined || /^-\w*C/.test(text)))
    refuse(`${program} -C runs a command`)
  if (program === 'crontab' && texts[0] !== '-l') refuse('crontab runs what is not in the command')
  if (SHELLS.has(program)) addShell(program, args, addText, refuse)
  addInterpreter(program, args, refuse)
  if (program === 'find') addFind(args, found, refuse)
  if (program === 'git') addGit(args, found, addText, refuse)
  for (const option of TEXT_OPTIONS[program] ?? []) {
    for (const [at, text] of texts.entries()) {
      if (text === option) addText(args[at + 1], `what ${program} ${option} runs`)
      else if (text?.startsWith(option.startsWith('--') ? `${option}=` : option) && text !== option)
        found.texts.push(text.slice(option.length).replace(/^(?:=|exec=)+/, ''))
    }
  }

  const launcher = Object.hasOwn(LAUNCHERS, program) ? LAUNCHERS[program] : undefined
  if (launcher !== undefined) addLaunched(program, launcher, args, found, refuse)
  const word = LAUNCHING_WORDS[program]
  const from =
    OTHER_LAUNCHERS.has(program) || LOADER.test(program) ? 0 : word === undefined ? -1 : texts.findIndex((text) => word.includes(text ?? '')) + 1 || -1
  if (program === 'parallel') addParallel(args, found)
  else if (from >= 0) addSuffixes(args.slice(from), found)
  if (from >= 0 || launcher !== undefined || texts.some((text) => text === '-c' || text === '--call')) addShellUser(program, args, found, addText, refuse)
  return found
}

/** The command behind a launcher that changes nothing about it; null for any other. */
export function unwrapped(command: ShellCommand): ShellCommand | null {
  const name = nameOf(command)
  const launcher = name !== undefined && Object.hasOwn(LAUNCHERS, name) ? (LAUNCHERS[name] as Launcher) : undefined
  if (launcher?.isTransparent !== true) return null
  const found = findCommand(launcher, command.words.slice(1))
  return found.isSure && found.words.length > 0 ? { ...command, words: found.words } : null
}

type AddText = (word: ShellWord | undefined, what: string) => void
type Refuse = (problem: string) => void

/** Where the command of a launcher begins, and whether every option before it is known. */
function findCommand(launcher: Launcher, args: readonly ShellWord[]): { words: readonly ShellWord[]; isSure: boolean; options: string[] } {
  const options: string[] = []
  let isSure = true
  let at = 0
  for (; at < args.length; at += 1) {
    const text = textOf(args[at])
    if (text === undefined || !text.startsWith('-')) break
    if (text === '--') {
      at += 1
      break
    }
    options.push(text)
    if (text === '-') continue
    if (text.startsWith('--')) {
      const long = text.slice(2).split('=')[0] as string
      const takesValue = launcher.longValues?.some((each) => each.startsWith(long)) ?? false
      if (takesValue && !text.includes('=')) at += 1
      else if (!takesValue && !(launcher.longFlags?.some((each) => each.startsWith(long)) ?? false)) isSure = false
      continue
    }
    for (let letter = 1; letter < text.length; letter += 1) {
      if (launcher.values.includes(text.charAt(letter))) {
        if (letter === text.length - 1) at += 1
        break
      }
      if (!launcher.flags.includes(text.charAt(letter))) isSure = false
      // `-i{}` of xargs: the rest belongs to it.
      if ('il'.includes(text.charAt(letter)) && launcher === LAUNCHERS.xargs) break
    }
  }
  at += launcher.operands ?? 0
  if (launcher.assignments) while (at < args.length && assignedBy(args[at] as ShellWord) !== null) at += 1
  return { words: args.slice(at), isSure, options }
}

function addLaunched(program: string, launcher: Launcher, args: readonly ShellWord[], found: Launched, refuse: Refuse) {
  const texts = args.map(textOf)
  if (program === 'command' && /^-\w*[vV]/.test(texts[0] ?? '')) return
  const { words, isSure, options } = findCommand(launcher, args)
  // An unquoted expansion may be options and the command.
  const before = args.slice(0, args.length - words.length)
  if (before.some(({ splits }) => splits)) refuse(`what ${program} runs is not known before it runs; quote what is expanded`)
  if (!isSure) addSuffixes(args, found)
  if (words.length === 0) return
  if (program !== 'xargs') {
    found.commands.push(bare(words))
    return
  }
  const replacing = options.findIndex((option) => /^-[I]|^-i|^--replace/.test(option))
  if (replacing === -1) {
    found.commands.push(bare([...words, UNKNOWN_WORDS]))
    return
  }
  const option = options[replacing] as string
  const own = option.replace(/^(?:-[Ii]|--replace=?)/, '')
  const mark = own !== '' ? own : option === '-I' ? texts[texts.indexOf('-I') + 1] : '{}'
  if (mark === undefined || mark === '') refuse('what xargs puts in is not known before it runs')
  else found.commands.push(bare(words.map((word) => withUnknown(word, mark, []))))
}

/** Every end of the words whose first is known, as if the command began there. */
function addSuffixes(words: readonly ShellWord[], found: Launched) {
  if (words.length > SUFFIXES_MAX) {
    found.problem ??= 'it has too many words'
    return
  }
  for (const [at, word] of words.entries()) {
    const text = textOf(word)
    if (text === undefined ? word.splits || at === 0 : !text.startsWith('-')) found.commands.push(bare(words.slice(at)))
  }
}

/** `parallel` adds what it reads, or what stands behind `:::`, to a command, or puts it into that; without a command, that is one itself. */
function addParallel(args: readonly ShellWord[], found: Launched) {
  const end = args.findIndex((arg) => textOf(arg)?.startsWith(':::'))
  const own = end === -1 ? args : args.slice(0, end)
  const inner: Launched = { commands: [], texts: [], problem: null }
  // A word with blanks is a text of the shell, see `addShellUser`.
  const words = own.flatMap((arg) => (/\s/.test(textOf(arg) ?? '') ? [] : textOf(arg)?.match(PLACEHOLDER) ? [UNKNOWN_WORD] : [arg]))
  addSuffixes(words, inner)
  for (const command of inner.commands) found.commands.push(bare([...command.words, UNKNOWN_WORDS]))
  found.problem ??= inner.problem
  // What is put in may be the command, when none stands before it; files that a pattern finds are taken for its arguments.
  if (end !== -1)
    addSuffixes(
      args.slice(end + 1).filter((arg) => inner.commands.length === 0 || textOf(arg) !== undefined),
      found,
    )
}

function addShellUser(program: string, args: readonly ShellWord[], found: Launched, addText: AddText, refuse: Refuse) {
  if (!SHELL_USERS.has(program)) return
  for (const [at, arg] of args.entries()) {
    const text = textOf(arg)
    const isOption = text !== undefined && /^(?:-c|--call|--command|--run|-S|--split-string)$/.test(text)
    if (isOption && (text !== '-S' || program === 'env')) addText(args[at + 1], `what ${program} ${text} runs`)
    const attached =
      /^(?:--(?:call|command|run|split-string)=)(.*)$/s.exec(text ?? '')?.[1] ?? (program === 'env' ? /^-\w*S(.+)$/s.exec(text ?? '')?.[1] : undefined)
    if (attached !== undefined) found.texts.push(attached)
    if (!['env', 'npm', 'npx', 'su', 'runuser', 'flock', 'script'].includes(program) && /\s/.test(text ?? ''))
      addText(program === 'parallel' ? withUnknownInput(arg) : arg, `what ${program} runs`)
  }
  if (program === 'parallel' && args.every((arg) => textOf(arg)?.startsWith('-') ?? false)) refuse('parallel runs what it reads')
}

/** A text of `parallel` with a variable of no known value for what is put in, or added. */
function withUnknownInput(arg: ShellWord): ShellWord {
  const text = textOf(arg)
  return text === undefined ? arg : knownWord(text.match(PLACEHOLDER) ? text.replace(PLACEHOLDER, '$INPUT') : `${text} $INPUT`)
}

function addShell(program: string, args: readonly ShellWord[], addText: AddText, refuse: Refuse) {
  let runsText = false
  let at = 0
  for (; at < args.length; at += 1) {
    const text = textOf(args[at])
    if (text === undefined) break
    if (text === '--' || text === '-') {
      at += 1
      break
    }
    if (/^--(?:version|help)$/.test(text)) return
    if (text.startsWith('--')) at += ['--rcfile', '--init-file'].includes(text) ? 1 : 0
    else if (/^[-+]/.test(text)) {
      runsText ||= text.startsWith('-') && text.includes('c')
      at += text.match(/[oO]/g)?.length ?? 0
    } else break
  }
  if (runsText) addText(args[at], `what ${program} -c runs`)
  else refuse(`${program} runs what is not in the command`)
}

function addInterpreter(program: string, args: readonly ShellWord[], refuse: Refuse) {
  if (AWK.test(program) || program === 'sed' || program === 'gsed') {
    for (const [at, arg] of args.entries()) {
      const known = arg.pieces
        .join('')
        .replace(/^-(?:[A-Za-z]*e(?=.)|-expression=)/, '')
        .replace(/^-.*/s, '')
      if (program.endsWith('sed') ? SED_RUNS.test(known) : /system|\||getline|@load/.test(known)) refuse(`the program of ${program} could run commands`)
      if (
        arg.splits ||
        (arg.pieces.includes(null) && /^(?:-e|)$/.test(textOf(args[at - 1]) ?? '') && at === args.findIndex((each) => !(textOf(each) ?? '').startsWith('-')))
      ) {
        refuse(`the program of ${program} is not known before it runs`)
      }
    }
    return
  }
  const interpreter = INTERPRETERS.find(({ name }) => name.test(program))
  if (interpreter === undefined) return
  for (let at = 0; at < args.length; at += 1) {
    const text = textOf(args[at])
    if (text === undefined) {
      if (args[at]?.splits) refuse(`what ${program} runs is not known before it runs`)
      return
    }
    if (interpreter.words?.some((word) => text === word || (word.startsWith('--') && text.startsWith(`${word}=`)))) {
      refuse(`the text that ${program} runs could not be judged`)
      return
    }
    if (text === '-' || text === '--') break
    if (text.startsWith('+')) {
      refuse(`${program} ${text.slice(0, 20)} could run commands`)
      return
    }
    // A program, or the module of -m: what it does is its own.
    if (!text.startsWith('-') || text === '-m') return
    if (/^(?:-V|-v|-h|--version|--help|--test|--check)$/.test(text)) return
    if (text.startsWith('--')) continue
    const letter = [...text.slice(1)].find((each) => interpreter.text.includes(each) || interpreter.values.includes(each))
    if (letter !== undefined && interpreter.text.includes(letter)) {
      refuse(`the text that ${program} runs could not be judged`)
      return
    }
    if (letter !== undefined && text.endsWith(letter)) at += 1
  }
  refuse(`${program} runs what it reads`)
}

function addFind(args: readonly ShellWord[], found: Launched, refuse: Refuse) {
  if (args.some(({ splits, pieces }) => splits && pieces[0] === null)) refuse('what find runs is not known before it runs; quote what is expanded')
  const texts = args.map(textOf)
  const end = texts.findIndex((text) => /^[-(!]/.test(text ?? ''))
  const starts = (end === -1 ? texts : texts.slice(0, end)).filter((text) => text !== undefined)
  const runs = texts.flatMap((text, at) => (/^-(?:exec|ok)(?:dir)?$/.test(text ?? '') ? [at] : []))
  if (runs.length > RUNS_MAX) refuse('it has too many commands')
  for (const at of runs.slice(0, RUNS_MAX)) {
    const text = texts[at]
    const stop = texts.findIndex((each, index) => index > at && (each === ';' || each === '+'))
    const words = args.slice(at + 1, stop === -1 ? args.length : stop)
    const prefix = text?.endsWith('dir') ? ['./'] : starts.length === 1 && starts.length === Math.max(end, 1) ? [starts[0] as string] : end === 0 ? ['.'] : []
    if (words.length > 0) found.commands.push(bare(words.map((word) => withUnknown(word, '{}', prefix))))
  }
}

function addGit(args: readonly ShellWord[], found: Launched, addText: AddText, refuse: Refuse) {
  const set = (key: string, value: ShellWord | undefined) => {
    const text = textOf(value)
    if (/^alias\./i.test(key)) {
      if (text === undefined) refuse('an alias of git is not known before it runs')
      else found.texts.push(text.startsWith('!') ? text.slice(1) : `git ${text}`)
    } else if (/^include/i.test(key)) refuse('git reads settings that are not in the command')
    else if (COMMAND_SETTING.test(key) && !/^(?:true|false|\d*)$/.test(text ?? 'unknown')) addText(value, `the setting ${key}`)
  }
  for (const [at, arg] of args.entries()) {
    const text = textOf(arg)
    if (text === '-c') {
      const [first, ...rest] = args[at + 1]?.pieces ?? []
      if (typeof first !== 'string' || !first.includes('=')) {
        if (first === null) refuse('a setting of git is not known before it runs')
        continue
      }
      const equals = first.indexOf('=')
      set(first.slice(0, equals), { pieces: [first.slice(equals + 1), ...rest], splits: false })
    } else if (text?.startsWith('--config-env')) refuse('a setting of git is not known before it runs')
    else if (text !== undefined && /^(?:alias|include)\w*\./i.test(text) && args.some((each) => textOf(each) === 'config') && at + 1 < args.length)
      set(text, args[at + 1])
  }
}

function bare(words: readonly ShellWord[]): ShellCommand {
  return { words, variables: [], files: [] }
}

/** A word in which a mark stands for what is not known; `prefix` is how that begins. */
function withUnknown(word: ShellWord, mark: string, prefix: readonly string[]): ShellWord {
  const text = textOf(word)
  if (text === undefined) return word
  const parts = text.split(mark)
  return parts.length === 1 ? knownWord(text) : { ...UNKNOWN_WORD, pieces: parts.flatMap((part, at) => (at === 0 ? [part] : [...prefix, null, part])) }
}

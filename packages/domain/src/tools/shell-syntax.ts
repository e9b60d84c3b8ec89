import { type CommandArgument, forEachChild, parse, type Redirection, type SyntaxNode, type Word, type WordPart } from 'unbash'
import { ShellEvaluation } from './shell-evaluation.ts'

/** A word of a command as the shell passes it on: text, with null for each piece that is known only when it runs. */
export interface ShellWord {
  pieces: readonly (string | null)[]
  /** Whether the unknown pieces may make several words of it, or none. */
  splits: boolean
}

export interface ShellVariable {
  name: string
  value: ShellWord | null
}

export interface ShellCommand {
  /** The name of the command first; empty for assignments and redirections alone. */
  words: readonly ShellWord[]
  /** Assignments before the name. */
  variables: readonly ShellVariable[]
  /** Files that are opened for it by redirection. */
  files: readonly ShellWord[]
}

/** Every simple command of a text, at any position, or why they cannot be determined. */
export type ShellReading = { commands: ShellCommand[] } | { problem: string }

/** What Linux takes as one argument of a program. */
const LENGTH_MAX = 131_072
/** Substitutions inside of each other. Each level is read again. */
const DEPTH_MAX = 12
/** Beginnings of substitutions and of here-documents. More of them take the parser longer than in proportion to the text. */
const OPENINGS_MAX = 256
const OPENING = /\$[({[]|`|<<|[<>]\(|\(\(/g
const NODES_MAX = 200_000

/**
 * Reads a command as bash does, and refuses what `sh` would read in another way: it depends on the machine which of them runs it. Takes time in
 * proportion to the text.
 */
export function readShell(text: string): ShellReading {
  if (text.trim() === '') return { problem: 'it is empty' }
  if (text.length > LENGTH_MAX) return { problem: `it is longer than ${LENGTH_MAX} characters` }
  if (text.includes('\0')) return { problem: 'it contains the character U+0000' }
  if ((text.match(OPENING)?.length ?? 0) > OPENINGS_MAX) return { problem: `it has more than ${OPENINGS_MAX} substitutions or here-documents` }
  try {
    return new ShellReader().read(text)
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message }
    // The parser recurses, so a hostile text can use up the stack.
    if (error instanceof RangeError) return { problem: 'it is nested too deeply' }
    throw error
  }
}

/** A word without unknown pieces; undefined for any other. */
export function textOf(word: ShellWord | undefined): string | undefined {
  if (word === undefined || word.pieces.includes(null)) return undefined
  return word.pieces.join('')
}

export function knownWord(text: string): ShellWord {
  return { pieces: [text], splits: false }
}

export const UNKNOWN_WORD: ShellWord = { pieces: [null], splits: false }
export const UNKNOWN_WORDS: ShellWord = { pieces: [null], splits: true }

class Unreadable extends Error {}

class ShellReader {
  readonly #commands: ShellCommand[] = []
  readonly #evaluation = new ShellEvaluation()

  read(text: string): ShellReading {
    // A stack of its own: what is nested deeply must not use up that of the program.
    const open: { node: SyntaxNode; source: string; depth: number }[] = [{ node: parse(text), source: text, depth: 0 }]
    for (let nodes = 0; open.length > 0; nodes += 1) {
      if (nodes > NODES_MAX) throw new Unreadable('it has too many parts')
      const { node, depth, ...at } = open.pop() as (typeof open)[number]
      const source = node.type === 'Script' ? (node.source ?? at.source) : at.source
      if (depth > DEPTH_MAX) throw new Unreadable('it is nested too deeply')
      this.#take(node, source)
      const below = node.type === 'Script' ? depth + 1 : depth
      forEachChild(node, (child) => open.push({ node: child, source, depth: below }))
    }
    const problem = this.#evaluation.problem()
    return problem === null ? { commands: this.#commands } : { problem }
  }

  #take(node: SyntaxNode, source: string) {
    if ('errors' in node && node.errors !== undefined && node.errors.length > 0)
      throw new Unreadable(`the shell could not read it (${node.errors[0]?.message})`)
    const problem = ambiguityOf(node, source)
    if (problem !== null) throw new Unreadable(problem)
    this.#evaluation.take(node)
    if (node.type === 'Command') this.#takeCommand(node)
    // What stands in a loop's redirections and the like: files without a command.
    if (node.type === 'Redirected') this.#commands.push({ words: [], variables: [], files: filesOf(node.redirects) })
  }

  #takeCommand(node: SyntaxNode & { type: 'Command' }) {
    const variables = node.prefix.flatMap((each) =>
      each.type === 'Assignment' ? [{ name: each.name, value: each.value.type === 'Word' ? wordOf(each.value) : null }] : [],
    )
    const args = node.args.map(argumentOf)
    const files = filesOf(node.redirects)
    this.#commands.push({ words: node.name === undefined ? [] : [wordOf(node.name), ...args], variables, files })
    // `a &> f b` is one command to bash, and to sh the commands `a &` and `b`.
    for (const redirect of node.redirects) {
      if (redirect.type !== 'Redirect' || !redirect.operator.startsWith('&')) continue
      const later = node.args.filter(({ pos }) => pos > redirect.pos).map(argumentOf)
      const variables: ShellVariable[] = []
      for (const word of later) {
        const variable = assignedBy(word)
        if (variable === null) break
        variables.push(variable)
      }
      if (later.length > 0) this.#commands.push({ words: later.slice(variables.length), variables, files })
    }
  }
}

/** Why bash and sh would run different things; null where they would not. */
function ambiguityOf(node: SyntaxNode, source: string): string | null {
  switch (node.type) {
    case 'AnsiCQuoted':
      return node.text.includes("\\'") ? "$'…' with an escaped quote is not the same to every shell; write it another way" : null
    case 'ArithmeticCommand':
      return '((…)) is not the same to every shell; use $((…))'
    case 'ArithmeticExpansion':
      if (node.text.startsWith('$[')) return '$[…] is not the same to every shell; use $((…))'
      return node.expression === undefined ? 'an arithmetic expansion could not be read' : null
    case 'ExtendedGlob':
      return 'extended patterns are not the same to every shell'
    case 'TestCommand':
      return /[&|;<>()\n]/.test(source.slice(node.pos, node.end)) ? '[[…]] with operators is not the same to every shell; use [ … ]' : null
    // Where shells do not agree on its end, one of them runs lines that are text to the other.
    case 'HereDoc': {
      const { delimiter, closing } = node
      const isPlain = !/[`$()\n]/.test(delimiter?.text ?? '') && closing !== undefined && source.slice(closing.pos, closing.end) === delimiter?.value
      return isPlain ? null : 'a here-document ends elsewhere to other shells; close it with its plain delimiter on a line of its own'
    }
    case 'Assignment':
      return node.index !== undefined && /[&|;<>()\s]/.test(node.index.text) ? 'the index of an array could not be judged' : null
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      return node.script === undefined ? 'a substitution could not be read' : null
    case 'ParameterExpansion':
      return node.operation?.type === 'Transform' || node.operation?.type === 'Unknown' || node.prefix === '!'
        ? `${node.text.slice(0, 40)} could be any text, evaluated once more`
        : null
    default:
      return null
  }
}

function argumentOf(argument: CommandArgument): ShellWord {
  if (argument.type === 'Word') return wordOf(argument)
  // `export A=b`: an argument to other shells.
  const value = argument.value.type === 'Word' ? wordOf(argument.value) : UNKNOWN_WORDS
  return { pieces: [`${argument.name}=`, ...value.pieces], splits: value.splits }
}

/** The variable that a word assigns where assignments may stand; null for any other word. */
export function assignedBy({ pieces: [first, ...rest], splits }: ShellWord): { name: string; value: ShellWord } | null {
  const [, name, value] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(first ?? '') ?? []
  return name === undefined || value === undefined ? null : { name, value: { pieces: [value, ...rest], splits } }
}

function filesOf(redirects: readonly Redirection[]): ShellWord[] {
  return redirects.flatMap((redirect) => {
    if (redirect.type !== 'Redirect') return []
    const target = redirect.target === undefined ? UNKNOWN_WORD : wordOf(redirect.target)
    // `2>&1` opens no file.
    return redirect.operator.endsWith('&') && /^(?:\d+|-)$/.test(textOf(target) ?? '') ? [] : [target]
  })
}

function wordOf(word: Word): ShellWord {
  const tilde = /^~[^/]*/.exec(word.text)?.[0]
  if (word.parts === undefined) {
    return tilde === undefined ? knownWord(word.value) : { pieces: [null, word.value.slice(tilde.length)], splits: false }
  }
  const pieces: (string | null)[] = tilde === undefined ? [] : [null]
  const splits = addParts(word.parts, pieces, false)
  return { pieces, splits }
}

/** Adds what parts of a word come to, and answers whether they may be several words. */
function addParts(parts: readonly WordPart[], pieces: (string | null)[], isQuoted: boolean): boolean {
  let splits = false
  for (const part of parts) {
    if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted') pieces.push(part.value)
    else if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') splits = addParts(part.parts, pieces, true) || splits
    else {
      pieces.push(null)
      // "$@" and "${list[@]}" are several words for all of their quotes.
      if (part.type !== 'ProcessSubstitution' && (!isQuoted || part.text.includes('@'))) splits = true
    }
  }
  return splits
}

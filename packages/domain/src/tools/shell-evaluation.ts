import type { SyntaxNode, Word } from 'unbash'

const NUMBER = /^[+-]?(?:\d+|0[xX][\da-fA-F]+)$/
const NAME = /^[A-Za-z_]\w*$/
const NUMERIC_TESTS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])
/** Parameters that are always numbers. */
const NUMBERS = new Set(['#', '?', '$', '!'])
/** Commands of the shell that give variables values which are not seen here, or take names that bash evaluates. */
const ASSIGNING = new Set([
  'read',
  'readarray',
  'mapfile',
  'getopts',
  'printf',
  'declare',
  'typeset',
  'local',
  'export',
  'readonly',
  'unset',
  'wait',
  'set',
  'test',
  '[',
])

/**
 * Bash evaluates the value of a variable that stands in arithmetic once more, and `a[$(command)]` in it runs the command. So arithmetic is judged by
 * what its variables can be: one that is given anything but a number somewhere in the text, or by a command of the shell, cannot be judged.
 */
export class ShellEvaluation {
  /** Variables whose value is a number, or is not set in the text. */
  readonly #used = new Set<string>()
  readonly #textual = new Set<string>()
  #problem: string | null = null

  take(node: SyntaxNode) {
    switch (node.type) {
      case 'Assignment':
        if (node.index !== undefined) this.#useWord(node.index)
        if (node.value.type !== 'Word' || !isNumeric(node.value)) this.#textual.add(node.name)
        return
      case 'For':
      case 'Select':
        if (node.wordlist === undefined || !node.wordlist.every(isNumeric)) this.#textual.add(node.name.value)
        return
      case 'ArithmeticWord':
        if (node.parts !== undefined) this.#useParts(node.parts, node.value)
        else this.#use(node.value)
        return
      case 'ArithmeticCommandExpansion':
        this.#problem ??= 'the output of a command in arithmetic could not be judged'
        return
      case 'ParameterExpansion':
        if (node.index !== undefined && !['@', '*'].includes(node.index.value)) this.#useWord(node.index)
        if (node.operation?.type === 'Slice') {
          this.#useWord(node.operation.offset)
          if (node.operation.length !== undefined) this.#useWord(node.operation.length)
        }
        return
      case 'TestUnary':
        if (node.operator === '-v' && !NAME.test(node.operand.value)) this.#problem ??= 'the name of a variable could not be judged'
        return
      case 'TestBinary':
        if (!NUMERIC_TESTS.has(node.operator)) return
        this.#useWord(node.left)
        this.#useWord(node.right)
        return
      case 'Command':
        this.#takeCommand(node)
        return
      default:
    }
  }

  /** Null where nothing is evaluated that could be a command. */
  problem(): string | null {
    if (this.#problem !== null) return this.#problem
    for (const name of this.#used) if (this.#textual.has(name)) return `the variable ${name} is used in arithmetic and could be any text`
    return null
  }

  #takeCommand({ name, args }: SyntaxNode & { type: 'Command' }) {
    const command = name?.value ?? ''
    if (!ASSIGNING.has(command)) return
    if (command === 'printf' && args[0]?.type === 'Word' && !args[0].value.startsWith('-')) return
    const takesNames = command !== 'test' && command !== '['
    for (const [at, argument] of args.entries()) {
      if (argument.type !== 'Word') continue
      if (NAME.test(argument.value) && takesNames) this.#textual.add(argument.value)
      const isEvaluated = takesNames || args[at - 1]?.text === '-v'
      if (isEvaluated && (argument.value.includes('[') || (argument.parts ?? []).some((part) => part.type.endsWith('Expansion')))) {
        this.#problem ??= `an argument of ${command} could be evaluated once more`
      }
      if (['declare', 'typeset', 'local'].includes(command) && /^[-+].*[in]/.test(argument.value))
        this.#problem ??= `${argument.value} of ${command} evaluates text`
    }
  }

  #useWord(word: Word) {
    if (word.parts === undefined) this.#use(word.value)
    else this.#useParts(word.parts, word.text)
  }

  #useParts(parts: NonNullable<Word['parts']>, text: string) {
    for (const part of parts) {
      if (part.type === 'Literal' || part.type === 'SingleQuoted') this.#use(part.value)
      else if (part.type === 'SimpleExpansion') this.#use(part.text.slice(1))
      else if (part.type === 'DoubleQuoted') this.#useParts(part.parts, text)
      else if (part.type === 'ArithmeticExpansion') continue
      else if (part.type === 'ParameterExpansion' && (part.prefix === '#' || part.operation === undefined) && part.index === undefined) {
        if (part.prefix !== '#') this.#use(part.parameter)
      } else this.#problem ??= `${text.slice(0, 40)} in arithmetic could not be judged`
    }
  }

  #use(text: string) {
    const name = text.trim()
    if (NAME.test(name)) this.#used.add(name)
    else if (name !== '' && !NUMBER.test(name) && !NUMBERS.has(name)) this.#problem ??= `${name.slice(0, 40)} in arithmetic could not be judged`
  }
}

function isNumeric(word: Word): boolean {
  if (word.parts === undefined) return NUMBER.test(word.value)
  const [part, ...more] = word.parts
  return more.length === 0 && (part?.type === 'ArithmeticExpansion' || (part?.type === 'SimpleExpansion' && NUMBERS.has(part.text.slice(1))))
}

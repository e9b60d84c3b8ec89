import { RE2JS } from 're2js'
import { ToolError } from './tool.ts'

const PATTERN_LENGTH_MAX = 500
const ALTERNATIVES_MAX = 64

/**
 * Whether paths, with slashes, match a pattern: `*` and `?` within a name, `**` across folders, `[a-z]`, `{one,other}`. It is matched by an
 * engine of linear time: the pattern comes from a model.
 *
 * @throws ToolError for a pattern that cannot be read
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  if (pattern.length > PATTERN_LENGTH_MAX) throw new ToolError(`A pattern has at most ${PATTERN_LENGTH_MAX} characters.`)
  const expression = compile(
    `^(?:${expandBraces(pattern.replace(/^\.?\//, ''))
      .map(toSource)
      .join('|')})$`,
    pattern,
  )
  return (path) => expression.matches(path)
}

/** A regular expression of RE2. @throws ToolError */
export function compileRegex(pattern: string, flags: number): RE2JS {
  if (pattern.length > PATTERN_LENGTH_MAX) throw new ToolError(`A pattern has at most ${PATTERN_LENGTH_MAX} characters.`)
  return compile(RE2JS.translateRegExp(pattern), pattern, flags)
}

function compile(source: string, pattern: string, flags = 0): RE2JS {
  try {
    return RE2JS.compile(source, flags)
  } catch (error) {
    throw new ToolError(
      `The pattern ${JSON.stringify(pattern)} cannot be read: ${(error as Error).message}. Patterns are those of RE2, without lookaround and backreferences.`,
    )
  }
}

/** `a{b,c}` as `ab` and `ac`. */
function expandBraces(pattern: string): string[] {
  const open = pattern.indexOf('{')
  if (open === -1) return [pattern]
  let depth = 0
  const cuts: number[] = []
  for (let at = open; at < pattern.length; at += 1) {
    if (pattern[at] === '{') depth += 1
    else if (pattern[at] === '}') depth -= 1
    else if (pattern[at] === ',' && depth === 1) cuts.push(at)
    if (depth > 0) continue
    const parts = [open, ...cuts].map((cut, index) => pattern.slice(cut + 1, cuts[index] ?? at))
    const expanded = parts.flatMap((part) => expandBraces(`${pattern.slice(0, open)}${part}${pattern.slice(at + 1)}`))
    if (expanded.length > ALTERNATIVES_MAX) throw new ToolError(`A pattern has at most ${ALTERNATIVES_MAX} alternatives.`)
    return expanded
  }
  throw new ToolError('The pattern has a { without its }.')
}

function toSource(pattern: string): string {
  let source = ''
  for (let at = 0; at < pattern.length; ) {
    const rest = pattern.slice(at)
    const range = /^\[(!?)([^\]/]+)\]/.exec(rest)
    if (rest.startsWith('**/')) {
      source += '(?:[^/]*/)*'
      at += 3
    } else if (rest.startsWith('**')) {
      source += '.*'
      at += 2
    } else if (range !== null) {
      source += `[${range[1] === '!' ? '^' : ''}${(range[2] as string).replace(/[\\[^]/g, '\\$&')}]`
      at += range[0].length
    } else {
      const [character = ''] = rest
      source += character === '*' ? '[^/]*' : character === '?' ? '[^/]' : RE2JS.quote(character)
      at += character.length
    }
  }
  return source
}

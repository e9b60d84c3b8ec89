import { fitsPattern } from '../core/wildcards.ts'

/**
 * Paths in rules are those of the workspace: `out/**`, `./out/**` and `/out/**` are the same, `//etc/**` is about the whole machine. A name without a
 * slash, such as `.env` or `*.md`, is one in any folder, and a folder stands for all that is in it, as in a `.gitignore`.
 */

const TAILS_MAX = 100
/** What Linux takes as a path. */
const LENGTH_MAX = 4_096

/** One spelling of a path that a tool is given: without detours, blanks of names as they are. Null for what is no path. */
export function plainPath(path: string): string | null {
  if (path === '' || path.length > LENGTH_MAX || path.includes('\0')) return null
  const isAbsolute = path.startsWith('/')
  const kept: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') kept.push(segment)
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else if (!isAbsolute) kept.push('..')
  }
  return isAbsolute ? `/${kept.join('/')}` : kept.join('/') || '.'
}

export function isPathAllowed(specifiers: readonly string[], path: string): boolean {
  const plain = plainPath(path)
  return specifiers.some((specifier) => specifier === '*' || (plain !== null && fitsPath(specifier, plain)))
}

/**
 * Why one of the rules denies a path; null where none does. Upper and lower case are the same, as on the disks of some machines, and `*` takes in
 * slashes. Where the workspace is, is not known here, so an absolute path is denied when it could lie where the rule says.
 */
export function denialOfPath(specifiers: readonly string[], path: string): string | null {
  if (specifiers.length === 0) return null
  const plain = plainPath(path)
  if (plain === null) return 'it cannot be judged: it is no path'
  const folded = fold(plain)
  const places = folded.startsWith('/') ? tails(folded) : [folded]
  for (const specifier of specifiers) {
    const rule = fold(specifier)
    if (specifier === '*' || fitsPath(rule, folded)) return `it is ${specifier}`
    if (rule.startsWith('//')) continue
    const anchored = plainPath(rule.replace(/^\/+/, '')) ?? rule
    if (places.some((place) => fitsPath(rule, place) || fitsPattern(anchored, place))) return `it is or could be ${specifier}`
  }
  return null
}

/** The ends of an absolute path, the deepest ones where there are very many. */
function tails(path: string): string[] {
  const segments = path.split('/').slice(1).slice(-TAILS_MAX)
  return segments.map((_, at) => segments.slice(at).join('/'))
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

function fitsPath(specifier: string, plain: string): boolean {
  const isAbsolute = specifier.startsWith('//')
  const path = plain.startsWith('/') ? plain.slice(1) : plain
  if (isAbsolute !== plain.startsWith('/')) return false
  const isAnchored = specifier.replace(/\/+$/, '').includes('/')
  const pattern = plainPath(specifier.replace(/^\/+/, '')) ?? '.'
  const segments = path === '.' || path === '' ? [] : path.split('/')
  // What climbs out of the workspace is in none of its folders.
  if (!isAnchored) return segments.some((segment) => fitsPattern(pattern === '**' ? '*' : pattern, segment)) && segments[0] !== '..'
  return fitsSegments(pattern === '.' ? [] : pattern.split('/'), segments)
}

/** Whether a pattern takes in a path or a folder above it, in time in proportion to the product of both. */
function fitsSegments(pattern: readonly string[], segments: readonly string[]): boolean {
  let met = closed(new Set([0]), pattern)
  for (const segment of segments) {
    if (met.has(pattern.length)) return true
    const next = new Set<number>()
    for (const at of met) {
      const wanted = pattern[at] as string
      if (wanted === '**') {
        if (segment !== '..') next.add(at)
      } else if (fitsPattern(wanted, segment) && (segment !== '..' || wanted === '..')) next.add(at + 1)
    }
    met = closed(next, pattern)
  }
  return met.has(pattern.length)
}

/** `**` may be no folder at all. */
function closed(met: Set<number>, pattern: readonly string[]): Set<number> {
  for (const at of met) if (pattern[at] === '**') met.add(at + 1)
  return met
}

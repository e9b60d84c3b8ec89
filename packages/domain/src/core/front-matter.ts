import { isMap, isSeq, LineCounter, type Node, type Pair, parseDocument, stringify } from 'yaml'
import { limited, OUT_OF_TIME } from './limited.ts'

/** More front matter than the largest document has. */
const FRONT_MATTER_LENGTH_MAX = 262_144
/** YAML can be written so that it takes for ever; what is meant well takes a hundredth of this. */
const PARSE_MS_MAX = 250

/** A text that begins with YAML between two lines that are `---`. */
interface SplitText {
  frontMatter: string
  content: string
}

interface FrontMatter {
  fields: Record<string, unknown>
  /** Where a field is written, or an entry of one that is a list: its line in the whole text, from 1. */
  lineOf(key: string, entry?: number): number
}

/** Written to follow "the text": `has front matter that …`. */
interface FrontMatterProblem {
  problem: string
  /** In the whole text, from 1. */
  line: number
}

/** Whether front matter begins in the first line, even if it never ends. */
export function beginsWithFrontMatter(text: string): boolean {
  return isDelimiter(text.slice(0, DELIMITER_LENGTH_MAX).split('\n', 1)[0])
}

/** Enough for a line that is `---` and blanks. */
const DELIMITER_LENGTH_MAX = 1_000

function isDelimiter(line: string | undefined): boolean {
  return line?.trimEnd() === '---'
}

/** The two parts of a text, or null where it has no front matter or none that ends. Only \n ends a line here: \u2028, say, may stand inside a value. */
export function splitFrontMatter(text: string): SplitText | null {
  if (!beginsWithFrontMatter(text)) return null
  const lines = text.split('\n')
  const end = lines.findIndex((line, place) => place > 0 && isDelimiter(line))
  if (end === -1) return null
  const frontMatter = lines.slice(1, end).map((line) => `${line}\n`)
  return { frontMatter: frontMatter.join(''), content: lines.slice(end + 1).join('\n') }
}

/** Reads front matter: fields of any kind, unchecked. */
export function parseFrontMatter(frontMatter: string): FrontMatter | FrontMatterProblem {
  if (frontMatter.length > FRONT_MATTER_LENGTH_MAX) return { problem: `has front matter of more than ${FRONT_MATTER_LENGTH_MAX} characters`, line: 1 }
  const parsed = limited(PARSE_MS_MAX, () => parseYaml(frontMatter))
  return parsed === OUT_OF_TIME ? { problem: 'has front matter that takes too long to read', line: 1 } : parsed
}

/** The text that reads back as these fields and this content. */
export function renderFrontMatter(fields: Record<string, unknown>, content: string): string {
  return `---\n${stringify(fields, { lineWidth: 0, aliasDuplicateObjects: false })}---\n\n${content}\n`
}

function parseYaml(text: string): FrontMatter | FrontMatterProblem {
  const lineCounter = new LineCounter()
  // The first line of the front matter is the second of the text.
  const lineAt = (offset: number) => lineCounter.linePos(offset).line + 1
  try {
    const document = parseDocument(text, { schema: 'core', prettyErrors: false, logLevel: 'error', lineCounter })
    const [error] = document.errors
    if (error !== undefined) return { problem: `has front matter that is not YAML: ${error.message}`, line: lineAt(error.pos[0]) }
    // No aliases: a few lines of them stand for any amount of data.
    const value: unknown = document.toJS({ maxAliasCount: 0 })
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      return { problem: 'must name its fields in its front matter, each as `name: value`', line: 1 }
    const pairs = new Map((isMap(document.contents) ? document.contents.items : []).map((pair) => [String(pair.key), pair as Pair<Node, Node | null>]))
    const lineOf = (key: string, entry?: number): number => {
      const pair = pairs.get(key)
      const place = entry !== undefined && isSeq(pair?.value) ? (pair.value.items[entry] as Node | undefined) : pair?.key
      return lineAt(place?.range?.[0] ?? 0)
    }
    return { fields: value as Record<string, unknown>, lineOf }
  } catch (error) {
    return { problem: `has front matter that cannot be read: ${(error as Error).message}`, line: 1 }
  }
}

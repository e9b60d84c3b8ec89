import { parseDocument, stringify } from 'yaml'
import { limited, OUT_OF_TIME } from './limited.ts'
import type { Tsg } from './tsg.ts'

/** More front matter than the largest guide has. */
const FRONT_MATTER_LENGTH_MAX = 262_144
/** YAML can be written so that it takes for ever; what is meant well takes a hundredth of this. */
const PARSE_MS_MAX = 250

/** A guide as a text of its own: everything but its content as YAML front matter, in the words of the API, then the content. */
export function renderTsgMarkdown(tsg: Omit<Tsg, 'createdAt' | 'updatedAt'>): string {
  const { technologies } = tsg.applicability
  const frontMatter = {
    tsg_id: tsg.tsgId,
    title: tsg.title,
    severity: tsg.severity,
    match: tsg.match,
    patterns: tsg.patterns,
    ...(technologies.length === 0 ? {} : { applicability: { technologies } }),
  }
  return `---\n${stringify(frontMatter, { lineWidth: 0, aliasDuplicateObjects: false })}---\n\n${tsg.content}\n`
}

/**
 * Reads what `renderTsgMarkdown` wrote, or somebody by hand: the fields as the API names them, unchecked, with the rest of the text as
 * `content`. A text that has no front matter is answered with what is wrong with it.
 */
export function parseTsgMarkdown(text: string): { fields: Record<string, unknown> } | { problem: string } {
  const parts = splitFrontMatter(text)
  if (parts === null) return { problem: 'must begin with front matter: YAML between two lines that are ---' }
  const { frontMatter, content } = parts
  if (frontMatter.length > FRONT_MATTER_LENGTH_MAX) return { problem: `has front matter of more than ${FRONT_MATTER_LENGTH_MAX} characters` }
  const fields = limited(PARSE_MS_MAX, () => parseYaml(frontMatter))
  if (fields === OUT_OF_TIME) return { problem: 'has front matter that takes too long to read' }
  if ('problem' in fields) return fields
  if (Object.hasOwn(fields.value, 'content')) return { problem: 'must not have content in its front matter: content is what comes after it' }
  return { fields: { ...fields.value, content } }
}

/** Only \n ends a line here: \u2028, say, may stand inside a value. */
function splitFrontMatter(text: string): { frontMatter: string; content: string } | null {
  const lines = text.split('\n')
  const isDelimiter = (line: string | undefined) => line?.trimEnd() === '---'
  if (!isDelimiter(lines[0])) return null
  const end = lines.findIndex((line, place) => place > 0 && isDelimiter(line))
  return end === -1
    ? null
    : {
        frontMatter: lines
          .slice(1, end)
          .map((line) => `${line}\n`)
          .join(''),
        content: lines.slice(end + 1).join('\n'),
      }
}

function parseYaml(text: string): { value: Record<string, unknown> } | { problem: string } {
  try {
    const document = parseDocument(text, { schema: 'core', prettyErrors: false })
    const [error] = document.errors
    if (error !== undefined) return { problem: `has front matter that is not YAML: ${error.message}` }
    // No aliases: a few lines of them stand for any amount of data.
    const value: unknown = document.toJS({ maxAliasCount: 0 })
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return { problem: 'must name its fields in its front matter, such as title: …' }
    return { value: value as Record<string, unknown> }
  } catch (error) {
    return { problem: `has front matter that cannot be read: ${(error as Error).message}` }
  }
}

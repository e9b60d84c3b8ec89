/** The fields of a brief that a file in Markdown has. */
export interface MarkdownBrief {
  title?: string
  instructions?: string
  description?: string
  acceptance_criteria?: string[]
  required_outputs?: (string | { name: string; description: string })[]
}

const HEADING = /^#{1,6}\s+(.*?)\s*#*$/
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?(.*\S)/i
const CRITERIA = /^acceptance criteria:?$/i
const OUTPUTS = /^(required )?outputs:?$/i
/** A title in characters. */
const TITLE_MAX = 256

/**
 * A brief in Markdown: its first heading or line is the title, the lists below "Acceptance criteria" and "Required outputs" (`- name: description`) are those
 * fields, and the rest is the instructions. One line is a description, of which the server makes both.
 */
export function readMarkdownBrief(text: string): MarkdownBrief {
  const [first = '', ...others] = text.trim().split(/\r?\n/)
  const heading = HEADING.exec(first)?.[1]
  if (others.length === 0 && heading === undefined) return { description: first }
  const isTitle = [...(heading ?? first)].length <= TITLE_MAX
  const sections = { criteria: [] as string[], outputs: [] as string[] }
  const rest: string[] = isTitle ? [] : [first]
  let into: string[] | undefined
  let isCode = false
  for (const line of others) {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode
    const name = isCode ? undefined : HEADING.exec(line)?.[1]
    if (name !== undefined) into = CRITERIA.test(name) ? sections.criteria : OUTPUTS.test(name) ? sections.outputs : undefined
    if (into === undefined) rest.push(line)
    else if (name === undefined) addTo(into, line)
  }
  const { criteria, outputs } = sections
  return {
    title: isTitle ? (heading ?? first) : `${[...(heading ?? first)].slice(0, TITLE_MAX - 1).join('')}…`,
    // A brief that is a heading and lists says with its heading what to do.
    instructions: rest.join('\n').trim() || (heading ?? first),
    ...(criteria.length === 0 ? {} : { acceptance_criteria: criteria }),
    ...(outputs.length === 0 ? {} : { required_outputs: outputs.map(readOutput) }),
  }
}

/** An item of a list; a line that is none goes on with the one before. */
function addTo(items: string[], line: string): void {
  const item = ITEM.exec(line)?.[1]
  if (item !== undefined || items.length === 0) {
    if ((item ?? line).trim() !== '') items.push(item ?? line.trim())
  } else if (line.trim() !== '') items.push(`${items.pop()} ${line.trim()}`)
}

function readOutput(item: string): string | { name: string; description: string } {
  const [, name, description] = /^`?([^`:]+)`?:\s+(.+)$/.exec(item) ?? []
  return name === undefined || description === undefined ? item.replaceAll('`', '') : { name, description }
}

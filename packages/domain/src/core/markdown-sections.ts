import { endsFence, type Fence, fenceOf } from './npl-blocks.ts'

/** A section that begins with `## `, up to the next heading of its level or above. */
export interface MarkdownSection {
  /** Where its heading stands, from 1. */
  line: number
  /** Where it stands again; the first of them counts. */
  repeatedAt: number | null
  lines: string[]
}

/** A longer one is none that means anything. */
const TITLE_LENGTH_MAX = 100

/**
 * The sections that are asked for, by their titles in lower case. What stands in code fences is text. A text may have a million headings:
 * only those asked for are kept.
 */
export function readSections<Title extends string>(text: string, titles: readonly Title[]): Map<Title, MarkdownSection> {
  const sections = new Map<Title, MarkdownSection>()
  let open: MarkdownSection | null = null
  let fence: Fence | null = null
  let number = 0
  for (const line of everyLine(text)) {
    number += 1
    const heading = fence === null ? headingOf(line) : null
    if (heading !== null) {
      const title = titles.find((each) => each === heading)
      const known = title === undefined ? undefined : sections.get(title)
      open = title === undefined || known !== undefined ? null : { line: number, repeatedAt: null, lines: [] }
      if (title !== undefined && open !== null) sections.set(title, open)
      if (known !== undefined) known.repeatedAt ??= number
      continue
    }
    if (fence !== null) fence = endsFence(fence, line) ? null : fence
    else if (line.includes('```') || line.includes('~~~')) fence = fenceOf(line)
    open?.lines.push(line)
  }
  return sections
}

/** One at a time, empty ones included: unlike `linesOf`, this is for counting. */
function* everyLine(text: string): Generator<string> {
  let start = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    yield text.slice(start, end)
    start = end + 1
  }
  yield text.slice(start)
}

// Not `.`: it leaves out \u2028, and what may stop early is tried from everywhere.
const HEADING = /^ {0,3}(#{1,2})(?:[ \t]+([^\n]*))?$/

/** The title of a heading that ends a section: '' for one of the first level; null for what is none. `## Allowed  tools: ##` is `allowed tools`. */
function headingOf(line: string): string | null {
  const found = HEADING.exec(line)
  if (found === null) return null
  const title = (found[2] ?? '').trim()
  if (found[1] === '#' || title.length > TITLE_LENGTH_MAX) return ''
  return title.replace(/#+$/, '').trim().replace(/:$/, '').replaceAll(/\s+/g, ' ').toLowerCase()
}

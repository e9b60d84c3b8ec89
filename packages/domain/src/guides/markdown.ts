import { parseFrontMatter, renderFrontMatter, splitFrontMatter } from '../core/front-matter.ts'
import type { Tsg } from './tsg.ts'

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
  return renderFrontMatter(frontMatter, tsg.content)
}

/**
 * Reads Markdown from `renderTsgMarkdown` or written by hand: the fields as the API names them, unchecked, with the rest of the text as
 * `content`. A text that has no front matter is answered with what is wrong with it.
 */
export function parseTsgMarkdown(text: string): { fields: Record<string, unknown> } | { problem: string } {
  const parts = splitFrontMatter(text)
  if (parts === null) return { problem: 'must begin with front matter: YAML between two lines that are ---' }
  const read = parseFrontMatter(parts.frontMatter)
  if ('problem' in read) return { problem: read.problem }
  if (Object.hasOwn(read.fields, 'content')) return { problem: 'must not have content in its front matter: content is what comes after it' }
  return { fields: { ...read.fields, content: parts.content } }
}

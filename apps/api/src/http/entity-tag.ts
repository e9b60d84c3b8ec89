import { hash } from 'node:crypto'

/** The `ETag` of a document: equal documents have equal tags, whichever process answers. */
export const contentTag = (text: string): string => `"${hash('sha256', text, 'base64url').slice(0, 22)}"`

/** Headers of answers with a tag, for the reference. */
export const TAG_HEADERS = ['ETag'] as const

/** An answer with the tag of its body. */
export function tagged(body: object, status = 200, headers: Record<string, string> = {}) {
  return { status, headers: { ...headers, etag: contentTag(JSON.stringify(body)) }, body }
}

/** What `If-None-Match` is answered with while it names the tag, for the reference. */
export const NOT_MODIFIED = { description: 'It has not changed since the `ETag` in `If-None-Match`.', headers: TAG_HEADERS }

/** The tag of the same in Markdown: another representation, so another tag. */
export const markdownTag = (tag: string): string => tag.replace(/"$/, '.md"')

/** Whether `If-None-Match` names a tag. The comparison is weak, as RFC 9110 demands: a proxy that compresses makes a tag weak. */
export function namesTag(header: string | undefined, tag: string | undefined): boolean {
  return header?.split(',').some((each) => ['*', tag].includes(each.trim().replace(/^W\//, ''))) ?? false
}

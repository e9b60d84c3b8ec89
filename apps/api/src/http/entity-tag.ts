import { hash } from 'node:crypto'

/** The `ETag` of a document: equal documents have equal tags, whichever process answers. */
export const contentTag = (text: string): string => `"${hash('sha256', text, 'base64url').slice(0, 22)}"`

/** Whether `If-None-Match` names a tag. The comparison is weak, as RFC 9110 demands: a proxy that compresses makes a tag weak. */
export function namesTag(header: string | undefined, tag: string | undefined): boolean {
  return header?.split(',').some((each) => ['*', tag].includes(each.trim().replace(/^W\//, ''))) ?? false
}

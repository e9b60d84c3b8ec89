import { DomainError } from '@muster/domain'
import type { ExpectedRevision, Precondition } from '@muster/usecases'
import type { RawCall } from './endpoint.ts'
import { markdownTag, namesTag } from './entity-tag.ts'
import { fieldProblem, validationFailed } from './validation.ts'

// The quotes may be missing, and a proxy that compresses makes a tag weak: the revision is meant all the same.
const TAG = /^(?:W\/)?(?:"(\d{1,10})"|(\d{1,10}))$/

/** What stands for a revision in `ETag`. */
export const entityTag = (revision: number): string => `"${revision}"`

/**
 * The revisions that a change may have been made from.
 *
 * @throws DomainError `validation_failed` for what is no list of entity tags
 */
export function expectedRevision(headers: RawCall['headers']): ExpectedRevision {
  const header = headers['if-match']
  if (header === undefined) return undefined
  const tags = String(header)
    .split(',')
    .map((tag) => tag.trim())
  if (tags.length === 1 && tags[0] === '*') return 'any'
  const revisions = tags.map((tag) => TAG.exec(tag)).map((found) => (found === null ? null : Number(found[1] ?? found[2])))
  if (revisions.every((revision) => revision !== null)) return revisions
  throw validationFailed([fieldProblem('If-Match:', 'must be the ETag of the task, such as "3"', header)])
}

/**
 * For what has no revision of its own: the change is made only if the present state has a tag that `If-Match` names, in any representation.
 *
 * @param tagOf the `ETag` with which a state is answered
 */
export function expectedTag<Current>(headers: RawCall['headers'], tagOf: (current: Current) => string): Precondition<Current> {
  const header = headers['if-match']
  if (header === undefined) return undefined
  return (current) => {
    const tag = current === null ? null : tagOf(current)
    if (tag !== null && (namesTag(String(header), tag) || namesTag(String(header), markdownTag(tag)))) return
    const now = tag === null ? 'there is none now' : `it is ${tag} now`
    throw new DomainError('revision_stale', `It has changed since the ETag in If-Match: ${now}. Read it again, and make the change from there.`)
  }
}

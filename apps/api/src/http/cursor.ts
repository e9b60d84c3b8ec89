import { createHash } from 'node:crypto'
import { cursorInvalid } from '@muster/usecases'

/** Length of the part of a cursor that says which list it belongs to, in characters. */
const LIST_LENGTH = 16

/**
 * One page of a list: the endpoint, and its path parameters and filters as they were parsed. `limit` and `cursor` are no part of it: pages may
 * differ in length.
 */
export interface CursorList {
  operationId: string
  params: unknown
  query: Record<string, unknown>
}

/** Makes the `next_cursor` of a list from a use-case's position in it. A reader of the API takes it as a whole. */
export function sealCursor(list: CursorList, position: string): string {
  return markOf(list) + Buffer.from(position).toString('base64url')
}

/**
 * Reads the position back.
 *
 * @throws DomainError `cursor_invalid` for a cursor of another list, of other filters, or of an older format
 */
export function openCursor(list: CursorList, cursor: string): string {
  if (cursor.slice(0, LIST_LENGTH) !== markOf(list)) throw cursorInvalid()
  return Buffer.from(cursor.slice(LIST_LENGTH), 'base64url').toString()
}

/** Not a signature: a position reveals nothing beyond the list itself. It only prevents use of a cursor in the wrong list. */
function markOf({ operationId, params, query: { limit: _, cursor: __, ...filters } }: CursorList): string {
  return createHash('sha256')
    .update(JSON.stringify([operationId, params ?? null, filters]))
    .digest('base64url')
    .slice(0, LIST_LENGTH)
}

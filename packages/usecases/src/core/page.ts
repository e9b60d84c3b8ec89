import { DomainError, isUuid } from '@muster/domain'

/** One page of a list. `nextCursor` is null on the last one. */
export interface Page<T> {
  items: T[]
  nextCursor: string | null
}

/** Cuts the one item too many that was read to know whether there is a next page. */
export function page<T>(items: T[], limit: number, cursorOf: (last: T) => string): Page<T> {
  if (items.length <= limit) return { items, nextCursor: null }
  const kept = items.slice(0, limit)
  return { items: kept, nextCursor: cursorOf(kept.at(-1) as T) }
}

export function cursorInvalid(): DomainError {
  return new DomainError(
    'cursor_invalid',
    'This cursor does not belong to this list. Send it to the path that gave it out, with the same filters, or start again without a cursor.',
  )
}

/** The place in a list that is numbered. @throws DomainError `cursor_invalid` */
export function numberInCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  const number = Number(cursor)
  if (!/^\d{1,10}$/.test(cursor) || number > 2_147_483_647) throw cursorInvalid()
  return number
}

/** The last id of the page before, in a list in the order of ids. @throws DomainError `cursor_invalid` */
export function idInCursor(cursor: string | undefined): string | undefined {
  if (cursor !== undefined && !isUuid(cursor)) throw cursorInvalid()
  return cursor
}

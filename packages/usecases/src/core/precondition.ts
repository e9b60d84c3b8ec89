/**
 * Refuses a change that its caller made from another state than the present one; null: there is nothing. Asked within the transaction of the change, once
 * what is to be changed is locked, so that of two changes from one state only the first is made. Undefined where the caller names no state.
 *
 * @throws DomainError `revision_stale`
 */
export type Precondition<Current> = ((current: Current | null) => void) | undefined

/** A change; or what makes it of the present state, asked once that is locked, so that no other change comes in between. */
export type ChangeOf<Change, Current> = Change | ((current: Current) => Change)

export function toChange<Change extends object, Current>(change: ChangeOf<Change, Current>, current: Current): Change {
  return typeof change === 'function' ? change(current) : change
}

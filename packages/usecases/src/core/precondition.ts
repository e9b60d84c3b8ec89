/**
 * Refuses a change that its caller made from another state than the present one; null: there is nothing. Asked within the transaction of the change, once
 * what is to be changed is locked, so that of two changes from one state only the first is made. Undefined where the caller names no state.
 *
 * @throws DomainError `revision_stale`
 */
export type Precondition<Current> = ((current: Current | null) => void) | undefined

import { DomainError } from '@muster/domain'

/** The time limit, in milliseconds, of one database query of a long poll. */
export const LOOK_MS = 5_000

const TOO_LATE = 'The database did not answer in time. The request may still take effect; repeat it with the same Idempotency-Key.'

/**
 * Stops waiting for work after a time limit. The work itself continues, because a query cannot be stopped while the database does not answer.
 *
 * @throws DomainError `unavailable` when the time is up
 */
export async function within<T>(ms: number, work: Promise<T>, message = TOO_LATE): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DomainError('unavailable', message)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

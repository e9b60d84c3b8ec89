import { DomainError } from '@muster/domain'

/** Longest time that one look at the database may take, of a caller who would wait for more than that for what he looks for. */
export const LOOK_MS = 5_000

const TOO_LATE = 'The database does not answer in time. What was asked may still take effect; repeat it with the same Idempotency-Key.'

/**
 * Gives up waiting for work that takes longer than a caller should wait. The work itself goes on: a database that does not answer
 * cannot be told to stop.
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

import { idempotency, type Tx, transaction } from '@muster/db'
import { DomainError } from '@muster/domain'
import { type Ctx, Replay } from './ctx.ts'

/**
 * The only way in which a use-case writes: one transaction in the actor's project. With an `Idempotency-Key` the answer
 * is stored in the same commit as the effect, so that a crash leaves both or neither, and a repetition gets the stored answer.
 *
 * @param isAnswer whether a result is worth repeating; one that is not commits without using the key up
 * @throws Replay when the same request was answered before
 * @throws DomainError `request_in_progress` while the same key is being answered, `idempotency_mismatch` for another request
 */
export async function inProject<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>, isAnswer: (result: T) => boolean = () => true): Promise<T> {
  const { idempotency: request, actor } = ctx
  if (request === undefined) return await transaction(ctx.db, actor.projectId, work)
  return await transaction(ctx.db, actor.projectId, async (tx) => {
    if (!(await idempotency.lockIdempotencyKey(tx, actor.projectId, actor.id, request.key))) {
      throw new DomainError('request_in_progress', 'A request with this Idempotency-Key is still being answered. Try again in a moment.', {
        retryAfterSeconds: 1,
      })
    }
    const known = await idempotency.findIdempotencyKey(tx, actor.projectId, actor.id, request.key)
    if (known !== null) {
      if (!known.requestHash.equals(request.requestHash)) {
        throw new DomainError('idempotency_mismatch', 'This Idempotency-Key was used before with another request. Use a new key for a new request.')
      }
      throw new Replay({ status: known.status, headers: known.headers, body: known.body })
    }
    const result = await work(tx)
    if (!isAnswer(result)) return result
    await idempotency.insertIdempotencyKey(tx, actor.projectId, actor.id, request.key, { requestHash: request.requestHash, ...request.toAnswer(result) })
    return result
  })
}

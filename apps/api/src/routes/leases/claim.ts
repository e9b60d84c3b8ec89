import { type ClaimedSubtask, claimSubtask } from '@muster/usecases'
import { LOOK_MS, within } from '../../http/deadline.ts'
import { endpoint } from '../../http/endpoint.ts'
import { claimedSubtaskSchema, claimSchema, presentClaim } from './lease-schema.ts'

/** A notification may be lost; work is found within this time anyway. */
const LOOK_EVERY_MS = 500

export const claimSubtaskEndpoint = endpoint({
  operationId: 'claimSubtask',
  method: 'POST',
  path: '/subtasks/claim',
  tag: 'Outside workers',
  summary: 'Claim the next subtask',
  description:
    'Claims the next waiting subtask of a runner under a lease. Renew it with heartbeats; end it with complete, fail, release or wait. With `wait_seconds`, the call waits for work.',
  access: 'subtasks:claim',
  needsNoRoom: 'accepted work goes on',
  unaudited: 'the traffic of an outside worker, fenced by its lease; the events of the subtask name the worker',
  body: claimSchema,
  answers: {
    200: { description: 'A subtask, its prompt and its lease.', schema: claimedSubtaskSchema },
    204: { description: 'No subtask is waiting.' },
  },
  errors: ['runner_unavailable'],
  deadlineMs: 70_000,
  async handle({ ctx, deps, body, gone, elapsedMs, authorizeAgain }) {
    const deadline = performance.now() + body.wait_seconds * 1000
    const input = { runner: body.runner, workerId: body.worker_id, leaseSeconds: body.lease_seconds }
    const left = gone()
    for (let spentMs = elapsedMs(); ; ) {
      // Each look is a transaction of its own: waiting holds none open.
      const claim = await within(Math.max(0, LOOK_MS - spentMs), claimSubtask(ctx, input))
      const leftMs = deadline - performance.now()
      if (claim !== null || leftMs <= 0) return claim
      await deps.runWaiters.wait(Math.min(leftMs, LOOK_EVERY_MS), left, deps.stopping)
      // A caller that has disconnected must not receive work.
      if (left.aborted || deps.stopping.aborted) return null
      // The credential and the look have one time limit together, as at the beginning of the call.
      const askedAt = performance.now()
      await authorizeAgain()
      spentMs = performance.now() - askedAt
    }
  },
  answer: (claim: ClaimedSubtask | null) => (claim === null ? { status: 204 } : { status: 200, body: presentClaim(claim) }),
  // Which attempt it was, without its secrets: the use-case issues new ones when the claim is repeated.
  storedAnswer: (claim) => ({ status: 200, body: claim === null ? null : { id: claim.subtask.id, attempt: claim.lease.attempt } }),
})

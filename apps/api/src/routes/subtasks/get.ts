import { isTerminal, isTerminalSubtaskEvent, type Subtask } from '@muster/domain'
import { type Ctx, getSubtask } from '@muster/usecases'
import { z } from 'zod'
import type { ApiDeps } from '../../api-deps.ts'
import { within } from '../../deadline.ts'
import { endpoint } from '../../endpoint.ts'
import { idParams } from '../../schemas/fields.ts'
import { presentSubtask, subtaskSchema } from '../../schemas/subtask.ts'
import { createWaiters } from '../../waiters.ts'

const WAIT_SECONDS_MAX = 60
/** The end of a subtask is heard of by its event. This is for events that are held up. */
const LOOK_EVERY_MS = 1_000
/** Longest time one look may take. */
const LOOK_MS = 5_000

const look = (ctx: Ctx, id: string): Promise<Subtask> => within(LOOK_MS, getSubtask(ctx, id))

export const getSubtaskEndpoint = endpoint({
  operationId: 'getSubtask',
  method: 'GET',
  path: '/subtasks/{id}',
  tag: 'Subtasks',
  summary: 'Read a subtask',
  description: 'With `wait_seconds`, answers as soon as the subtask has ended, or with its state when the time is up.',
  access: 'subtasks:read',
  params: idParams('subtask'),
  query: z.strictObject({
    wait_seconds: z.coerce.number<string>().min(0).max(WAIT_SECONDS_MAX).default(0).describe('How long to wait for its end.'),
  }),
  answers: { 200: { description: 'The subtask.', schema: subtaskSchema } },
  errors: ['not_found'],
  deadlineMs: (WAIT_SECONDS_MAX + 10) * 1000,
  async handle({ ctx, deps, params, query, gone }) {
    const subtask = await look(ctx, params.id)
    if (query.wait_seconds === 0 || isTerminal(subtask.status)) return subtask
    return waitForEnd(ctx, deps, subtask, query.wait_seconds * 1000, gone())
  },
  answer: (subtask) => ({ status: 200, body: presentSubtask(subtask) }),
})

async function waitForEnd(ctx: Ctx, deps: ApiDeps, subtask: Subtask, waitMs: number, gone: AbortSignal): Promise<Subtask> {
  const deadline = performance.now() + waitMs
  const ending = createWaiters()
  let hasEnded = false
  const unsubscribe = deps.feed.subscribe({ projectId: ctx.actor.projectId, subjectId: subtask.id }, (event) => {
    if (!isTerminalSubtaskEvent(event.type)) return
    hasEnded = true
    ending.wake()
  })
  try {
    let current = await look(ctx, subtask.id)
    for (;;) {
      const leftMs = deadline - performance.now()
      if (isTerminal(current.status) || leftMs <= 0 || gone.aborted || deps.stopping.aborted) return current
      if (!hasEnded) await ending.wait(Math.min(leftMs, LOOK_EVERY_MS), gone, deps.stopping)
      current = await look(ctx, subtask.id)
    }
  } finally {
    unsubscribe()
  }
}

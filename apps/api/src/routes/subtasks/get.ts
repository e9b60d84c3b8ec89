import { getSubtask } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, queryNumber } from '../../http/schemas.ts'
import { presentSubtask, subtaskSchema } from './subtask-schema.ts'
import { inTimeForLook, WAIT_DEADLINE_MS, WAIT_SECONDS_MAX, waitForEnd } from './wait-for-end.ts'

export const getSubtaskEndpoint = endpoint({
  operationId: 'getSubtask',
  method: 'GET',
  path: '/subtasks/{id}',
  tag: 'Subtasks',
  summary: 'Read a subtask',
  description: 'With `wait_seconds`, answers when the subtask ends, or with its current state when the time is over.',
  access: 'subtasks:read',
  params: idParams('subtask'),
  query: z.strictObject({
    wait_seconds: queryNumber(0, WAIT_SECONDS_MAX).default(0).describe('Seconds to wait for the end.'),
  }),
  answers: { 200: { description: 'The subtask.', schema: subtaskSchema } },
  errors: ['not_found'],
  deadlineMs: WAIT_DEADLINE_MS,
  async handle({ ctx, deps, params, query, gone, elapsedMs, authorizeAgain }) {
    let spentMs = elapsedMs()
    const look = () => {
      const looking = inTimeForLook(getSubtask(ctx, params.id), spentMs)
      spentMs = 0
      return looking
    }
    if (query.wait_seconds === 0) return await look()
    return await waitForEnd(deps, params.id, look, { ms: query.wait_seconds * 1000, gone: gone(), authorizeAgain })
  },
  answer: (subtask) => ({ status: 200, body: presentSubtask(subtask) }),
})

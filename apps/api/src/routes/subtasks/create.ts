import { hasScope, isTerminal, type Subtask } from '@muster/domain'
import { createSubtask, getSubtask, Replay } from '@muster/usecases'
import { type Answer, endpoint } from '../../http/endpoint.ts'
import { newSubtaskSchema, SPAWN_ERRORS, toRequiredOutputs, toSpawnOptions } from './new-subtask-schema.ts'
import { presentSubtask, subtaskSchema } from './subtask-schema.ts'
import { inTimeForLook, spawnAndWait, WAIT_BODY_DEADLINE_MS, WAIT_DEADLINE_MS } from './wait-for-end.ts'

const toAnswer = (subtask: Subtask): Answer => ({
  status: isTerminal(subtask.status) ? 200 : 202,
  headers: { location: `/subtasks/${subtask.id}` },
  body: presentSubtask(subtask),
})

const LOCATION = ['Location'] as const

export const createSubtaskEndpoint = endpoint({
  operationId: 'createSubtask',
  method: 'POST',
  path: '/subtasks',
  tag: 'Subtasks',
  summary: 'Spawn a subtask',
  description:
    'Stores the subtask and answers at once; an idle worker starts it within milliseconds. To get the result, send `wait_seconds`, poll `Location`, follow its events, or read the inbox of the parent session.',
  access: 'subtasks:write',
  spawns: true,
  body: newSubtaskSchema,
  answers: {
    200: { description: 'The subtask has ended within `wait_seconds`.', schema: subtaskSchema, headers: LOCATION },
    202: { description: 'Accepted and stored; the subtask has not ended yet.', schema: subtaskSchema, headers: LOCATION },
  },
  errors: [...SPAWN_ERRORS, 'pending_limit_reached', 'budget_exhausted', 'subtasks_disabled', 'secrets_not_configured'],
  deadlineMs: WAIT_DEADLINE_MS,
  bodyDeadlineMs: WAIT_BODY_DEADLINE_MS,
  async handle({ ctx, deps, body, gone, elapsedMs, authorizeAgain }) {
    const id = ctx.newId()
    const create = () => {
      const creating = createSubtask(ctx, {
        ...toSpawnOptions(deps, body),
        id,
        task: body.task,
        taskId: body.task_id ?? undefined,
        priority: body.priority,
        requiredOutputs: toRequiredOutputs(body.required_outputs),
      })
      return inTimeForLook(creating, elapsedMs())
    }
    // A caller that may not read subtasks cannot wait for one, and needs the id all the same.
    const waitMs = hasScope(ctx.actor, 'subtasks:read') ? body.wait_seconds * 1_000 : 0
    if (waitMs === 0) return await create()
    const wait = { ms: waitMs, gone: gone(), authorizeAgain }
    try {
      return await spawnAndWait(deps, id, create, () => getSubtask(ctx, id), wait)
    } catch (error) {
      if (!(error instanceof Replay)) throw error
      const { id: earlier } = error.answer.body as { id: string }
      const read = () => inTimeForLook(getSubtask(ctx, earlier))
      const { status, headers = {}, body: replayed } = toAnswer(await spawnAndWait(deps, earlier, read, read, wait))
      throw new Replay({ status, headers, body: replayed })
    }
  },
  answer: toAnswer,
})

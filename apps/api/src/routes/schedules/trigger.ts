import { triggerSchedule } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { pickRunner, SPAWN_ERRORS } from '../subtasks/new-subtask-schema.ts'
import { presentSubtask, subtaskSchema } from '../subtasks/subtask-schema.ts'

export const triggerScheduleEndpoint = endpoint({
  operationId: 'triggerSchedule',
  method: 'POST',
  path: '/schedules/{id}/trigger',
  tag: 'Schedules',
  summary: 'Run a schedule now',
  description: 'Starts a run now, also while the schedule is paused or an earlier run is active. It is marked `manual` and is no firing.',
  access: 'schedules:write',
  spawns: true,
  params: idParams('schedule'),
  answers: { 202: { description: 'Accepted and stored.', schema: subtaskSchema, headers: ['Location'] } },
  errors: [...SPAWN_ERRORS, 'pending_limit_reached', 'budget_exhausted', 'not_found', 'invalid_transition', 'schedules_disabled'],
  handle: ({ ctx, deps, params }) => triggerSchedule(ctx, params.id, ({ runner, subagent }) => void pickRunner(deps, runner)(subagent)),
  answer: (subtask) => ({ status: 202, headers: { location: `/subtasks/${subtask.id}` }, body: presentSubtask(subtask) }),
})

import { reviewTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { personVerdicts, reviewSchema } from './task-changes-schema.ts'
import { TASK_HEADERS, taskAnswer, taskSchema } from './task-schema.ts'

export const reviewTaskEndpoint = endpoint({
  operationId: 'reviewTask',
  method: 'POST',
  path: '/tasks/{id}/review',
  tag: 'Tasks',
  summary: 'Review submitted outputs',
  description:
    'For a task in review. `approve` completes it if its outputs match the current brief. `request_revision` sends the assignee the points to revise. The decision is stored as an evaluation.',
  access: 'tasks:write',
  needsNoRoom: 'accepted work goes on',
  params: idParams('task'),
  body: reviewSchema,
  answers: { 200: { description: 'Decided.', schema: taskSchema, headers: TASK_HEADERS } },
  errors: ['not_found', 'invalid_transition', 'outputs_missing'],
  handle: ({ ctx, params, body: { decision, note, criteria } }) =>
    reviewTask(ctx, params.id, {
      decision,
      note: note ?? undefined,
      criteria: personVerdicts(criteria),
    }),
  answer: (task) => taskAnswer(task),
})

import { reviewTask } from '@muster/usecases'
import { endpoint } from '../../endpoint.ts'
import { idParams } from '../../schemas/fields.ts'
import { TASK_HEADERS, taskAnswer, taskSchema } from '../../schemas/task.ts'
import { reviewSchema } from '../../schemas/task-changes.ts'

export const reviewTaskEndpoint = endpoint({
  operationId: 'reviewTask',
  method: 'POST',
  path: '/tasks/{id}/review',
  tag: 'Tasks',
  summary: 'Decide over what was handed in',
  description:
    'Of a task in review: `approve` completes it, as long as its outputs are what the brief asks for by now; `request_revision` tells its holder what to revise.',
  access: 'tasks:write',
  params: idParams('task'),
  body: reviewSchema,
  answers: { 200: { description: 'Decided.', schema: taskSchema, headers: TASK_HEADERS } },
  errors: ['not_found', 'invalid_transition', 'outputs_missing'],
  handle: ({ ctx, params, body }) => reviewTask(ctx, params.id, { decision: body.decision, note: body.note ?? undefined }),
  answer: (task) => taskAnswer(task),
})

import { completeTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { completionSchema } from './task-changes-schema.ts'
import { TASK_HEADERS, taskAnswer, taskSchema } from './task-schema.ts'

export const completeTaskEndpoint = endpoint({
  operationId: 'completeTask',
  method: 'POST',
  path: '/tasks/{id}/complete',
  tag: 'Tasks',
  summary: 'Complete a task',
  description:
    'Submits the outputs. Every required output must be present and match its schema; otherwise nothing changes. The task becomes `completed`, or `in_review` if the brief asks for a review. The assignee’s own credential may call this.',
  access: 'tasks:write',
  needsNoRoom: 'accepted work goes on',
  params: idParams('task'),
  body: completionSchema,
  answers: { 200: { description: 'Submitted.', schema: taskSchema, headers: TASK_HEADERS } },
  errors: ['not_found', 'invalid_transition', 'outputs_missing'],
  handle: ({ ctx, params, body }) => completeTask(ctx, params.id, { outputs: body.outputs, summary: body.summary ?? undefined }),
  answer: (task) => taskAnswer(task),
})

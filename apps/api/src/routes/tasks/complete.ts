import { completeTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'
import { completionSchema } from './task-changes-schema.ts'
import { TASK_HEADERS, taskAnswer, taskSchema } from './task-schema.ts'

export const completeTaskEndpoint = endpoint({
  operationId: 'completeTask',
  method: 'POST',
  path: '/tasks/{id}/complete',
  tag: 'Tasks',
  summary: 'Complete a task',
  description:
    'Hands in the outputs. Every required one has to be there and fit its schema, or nothing is changed; without a schema an empty one (`""`, blanks only, `[]`, `{}`) counts as absent. The task is then `completed`, or `in_review` where its brief asks for that. Open to the credential of the sub-agent that holds it.',
  access: 'tasks:write',
  params: idParams('task'),
  body: completionSchema,
  answers: { 200: { description: 'Handed in.', schema: taskSchema, headers: TASK_HEADERS } },
  errors: ['not_found', 'invalid_transition', 'outputs_missing'],
  handle: ({ ctx, params, body }) => completeTask(ctx, params.id, { outputs: body.outputs, summary: body.summary ?? undefined }),
  answer: (task) => taskAnswer(task),
})

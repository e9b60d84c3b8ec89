import { assignTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { entityTag } from '../../http/if-match.ts'
import { idParams } from '../../http/schemas.ts'
import { assignedTaskSchema, assignmentRequestSchema } from './task-changes-schema.ts'
import { presentTask, TASK_HEADERS } from './task-schema.ts'

export const assignTaskEndpoint = endpoint({
  operationId: 'assignTask',
  method: 'POST',
  path: '/tasks/{id}/assign',
  tag: 'Tasks',
  summary: 'Assign a task to a session',
  description:
    'The next injection of the session delivers the brief. Another session that held the task receives nothing more of it. For the session that holds it already, only the credential is new. The credential opens this task only, until the task ends.',
  access: 'tasks:write',
  params: idParams('task'),
  body: assignmentRequestSchema,
  answers: { 200: { description: 'Assigned.', schema: assignedTaskSchema, headers: TASK_HEADERS } },
  errors: ['not_found', 'invalid_transition'],
  handle: ({ ctx, params, body }) => assignTask(ctx, params.id, body.subagent_session_id, { resend: body.resend }),
  answer: ({ task, credential }) => ({
    status: 200,
    headers: { etag: entityTag(task.revision) },
    body: { task: presentTask(task), subagent_credential: credential },
  }),
  storedAnswer: ({ task }) => ({ status: 200, headers: { etag: entityTag(task.revision) }, body: { task: presentTask(task), subagent_credential: null } }),
})

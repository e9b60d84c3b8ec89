import { assignTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'
import { entityTag } from '../../http/if-match.ts'
import { assignedTaskSchema, assignmentRequestSchema } from './task-changes-schema.ts'
import { presentTask, TASK_HEADERS } from './task-schema.ts'

export const assignTaskEndpoint = endpoint({
  operationId: 'assignTask',
  method: 'POST',
  path: '/tasks/{id}/assign',
  tag: 'Tasks',
  summary: 'Assign a task to a session',
  description:
    'The next injection of that session hands over the brief. Assigned to another session, it is handed over there from the beginning, and the old one gets nothing more. Assigned again to the session that holds it, only the credential is new; with `resend` its next injection hands over the whole brief once more, for a session that lost it. The credential opens this task alone, and ends with it.',
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

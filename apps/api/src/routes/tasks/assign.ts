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
    'The next injection of the session delivers the brief. If another session held the task, that session receives nothing more of it. If the same session already holds the task, only the credential is new; with `resend`, its next injection delivers the whole brief again. The credential opens this task only and expires when the task ends.',
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

import { postMessage } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { printableId } from '../../http/fields-schemas.ts'
import { messageSchema, newMessageSchema, presentMessage } from './message-schema.ts'

export const postMessageEndpoint = endpoint({
  operationId: 'postMessage',
  method: 'POST',
  path: '/sessions/{id}/messages',
  tag: 'Sessions',
  summary: 'Store what was said in a session',
  description:
    'Call it after each model response. Failures in it that guides know are told of by the session’s next injection. With the `task_id` of a task that the session holds, and a credential that has `tasks:write` too, the check-in blocks of an assistant’s message are taken as `POST /tasks/{id}/check-ins` takes them; those longer than 100,000 characters together are not. Whatever has reflection or check-in blocks in it is evaluated, by the criteria of the revision that the session knows of.',
  access: 'sessions:write',
  params: z.strictObject({ id: printableId('The session, as its harness names it.', 'writer-1') }),
  body: newMessageSchema,
  repairsText: true,
  bodyBytesMax: 8 * 1_048_576,
  deadlineMs: 30_000,
  answers: { 201: { description: 'Stored. Content longer than 64 KiB is left out of the answer.', schema: messageSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params, body }) =>
    postMessage(ctx, params.id, {
      role: body.role,
      content: body.content,
      model: body.model ?? undefined,
      taskId: body.task_id ?? undefined,
      agentName: body.agent_name ?? undefined,
      usage: body.usage ?? undefined,
      metadata: body.metadata,
    }),
  answer: (message) => ({ status: 201, body: presentMessage(message) }),
})

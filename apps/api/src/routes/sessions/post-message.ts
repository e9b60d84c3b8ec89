import { postMessage } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { printableId } from '../../http/schemas.ts'
import { messageSchema, newMessageSchema, presentMessage } from './message-schema.ts'

export const postMessageEndpoint = endpoint({
  operationId: 'postMessage',
  method: 'POST',
  path: '/sessions/{id}/messages',
  tag: 'Sessions',
  summary: 'Store a message of a session',
  description:
    'Call it after each model response. The next injection of the session announces guides for failures in the message. With the `task_id` of a task that the session holds, and the scope `tasks:write`, check-in blocks of an assistant message count like `POST /tasks/{id}/check-ins`. A message with reflection or check-in blocks is evaluated by the criteria that were delivered to the session.',
  access: 'sessions:write',
  unaudited: 'the traffic of a session, at each of its steps',
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

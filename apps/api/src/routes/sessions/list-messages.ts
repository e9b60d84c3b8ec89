import { listMessages } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery, printableId } from '../../http/schemas.ts'
import { messageListSchema, presentMessage } from './message-schema.ts'

export const listMessagesEndpoint = endpoint({
  operationId: 'listMessages',
  method: 'GET',
  path: '/sessions/{id}/messages',
  tag: 'Sessions',
  summary: 'List the messages of a session',
  description: 'Newest first, each with its evaluation. Contents longer than 64 KiB are left out.',
  access: 'sessions:write',
  params: z.strictObject({ id: printableId('The session, as its harness names it.', 'writer-1') }),
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of messages.', schema: messageListSchema } },
  errors: ['not_found', 'cursor_invalid'],
  handle: ({ ctx, params, query }) => listMessages(ctx, params.id, query),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentMessage), next_cursor: nextCursor } }),
})

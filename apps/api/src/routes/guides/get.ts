import { renderTsgMarkdown } from '@muster/domain'
import { getTsg } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { NOT_MODIFIED, TAG_HEADERS, tagged } from '../../http/entity-tag.ts'
import { presentTsg, tsgMarkdownSchema, tsgParams, tsgSchema, tsgSession } from './tsg-schema.ts'

export const getTsgEndpoint = endpoint({
  operationId: 'getTsg',
  method: 'GET',
  path: '/tsgs/{tsg_id}',
  tag: 'Troubleshooting guides',
  summary: 'Read a guide',
  description: 'With `Accept: text/markdown`, the answer is what `PUT` accepts.',
  access: 'tsgs:read',
  params: tsgParams,
  query: z.strictObject({ session_id: tsgSession.optional().describe('The session that reads the guide. If set, the guide counts as read.') }),
  takesIfNoneMatch: true,
  answers: { 200: { description: 'The guide.', schema: tsgSchema, markdown: tsgMarkdownSchema, headers: TAG_HEADERS }, 304: NOT_MODIFIED },
  errors: ['not_found'],
  handle: ({ ctx, params, query }) => getTsg(ctx, params.tsg_id, { sessionId: query.session_id }),
  answer: (tsg) => tagged(presentTsg(tsg)),
  answerMarkdown: renderTsgMarkdown,
})

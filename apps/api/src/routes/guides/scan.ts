import { scanTsgs } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { presentScannedTsg, tsgScanResultSchema, tsgScanSchema } from './tsg-schema.ts'

export const scanTsgsEndpoint = endpoint({
  operationId: 'scanTsgs',
  method: 'POST',
  path: '/tsgs/scan',
  tag: 'Troubleshooting guides',
  summary: 'Find guides for an error',
  description:
    'Best first: by severity, by the longest pattern that matched, by how often the guide has helped. Of a text longer than 32,768 characters, the first and the last 16,384 are looked at. What is found counts as brought up; with `session_id`, that session is told of it with its next injection.',
  access: 'tsgs:read',
  body: tsgScanSchema,
  repairsText: true,
  answers: { 200: { description: 'The guides that know it; none when nobody has written one.', schema: tsgScanResultSchema } },
  handle: ({ ctx, body }) => scanTsgs(ctx, { errorMessage: body.error_message, context: body.context ?? undefined, sessionId: body.session_id ?? undefined }),
  answer: (items) => ({ status: 200, body: { items: items.map(presentScannedTsg) } }),
})

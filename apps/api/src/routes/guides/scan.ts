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
    'Best first: by severity, longest matching pattern and success rate. Of a text longer than 32,768 characters, the first and last 16,384 are scanned. Found guides count as announced; with `session_id`, the next injection of that session announces them.',
  access: 'tsgs:read',
  needsNoRoom: 'it stores which guides were shown',
  unaudited: 'the traffic of a session, at each of its steps',
  body: tsgScanSchema,
  repairsText: true,
  answers: { 200: { description: 'The matching guides; empty if there are none.', schema: tsgScanResultSchema } },
  handle: ({ ctx, body }) => scanTsgs(ctx, { errorMessage: body.error_message, context: body.context ?? undefined, sessionId: body.session_id ?? undefined }),
  answer: (items) => ({ status: 200, body: { items: items.map(presentScannedTsg) } }),
})

import { getTsgUsage } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { presentTsgUsage, tsgParams, tsgUsageSchema } from './tsg-schema.ts'

export const getTsgUsageEndpoint = endpoint({
  operationId: 'getTsgUsage',
  method: 'GET',
  path: '/tsgs/{tsg_id}/usage',
  tag: 'Troubleshooting guides',
  summary: 'Read the usage of a guide',
  description: 'How often the guide was announced, read and helpful.',
  access: 'tsgs:read',
  params: tsgParams,
  answers: { 200: { description: 'The usage figures.', schema: tsgUsageSchema } },
  errors: ['not_found'],
  handle: async ({ ctx, params }) => ({ tsgId: params.tsg_id, usage: await getTsgUsage(ctx, params.tsg_id) }),
  answer: ({ tsgId, usage }) => ({ status: 200, body: presentTsgUsage(tsgId, usage) }),
})

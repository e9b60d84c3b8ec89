import { getEvaluationStats } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { evaluationGroupingSchema, evaluationStatsSchema, presentEvaluationStats } from './evaluation-stats-schema.ts'

const instant = z.iso.datetime({ offset: true }).optional()

export const getEvaluationStatsEndpoint = endpoint({
  operationId: 'getEvaluationStats',
  method: 'GET',
  path: '/evaluations/stats',
  tag: 'Evaluations',
  summary: 'Compare scores',
  description:
    'Scores of outputs by day, sub-agent or criterion. Each output counts once, by its latest evaluation. Limits: 366 days, the newest 50,000 outputs, 400 groups.',
  access: 'evaluations:read',
  query: z.strictObject({
    from: instant.describe('Only outputs first evaluated at or after this time. Default: 30 days before `to`.'),
    to: instant.describe('Only outputs first evaluated before this time. Default: now.'),
    by: evaluationGroupingSchema.default('day'),
  }),
  deadlineMs: 10_000,
  answers: { 200: { description: 'The totals and the groups.', schema: evaluationStatsSchema } },
  async handle({ ctx, query }) {
    const at = (time: string | undefined) => (time === undefined ? undefined : new Date(time))
    return { by: query.by, stats: await getEvaluationStats(ctx, { by: query.by, from: at(query.from), to: at(query.to) }) }
  },
  answer: ({ by, stats }) => ({ status: 200, body: presentEvaluationStats(by, stats) }),
})

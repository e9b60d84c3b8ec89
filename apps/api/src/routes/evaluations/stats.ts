import { RECOMMENDATIONS, VERDICTS } from '@muster/domain'
import { type EvaluationStats, type EvaluationTally, getAgreementStats, getEvaluationStats } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { component, formerly, time, toTime } from '../../http/schemas.ts'
import { agreementStatsSchema, presentAgreementStats } from './agreement-schema.ts'

const instant = z.iso.datetime({ offset: true }).optional()

const evaluationGroupingSchema = component('EvaluationGrouping', z.enum(['day', 'subagent', 'criterion']))

const statsSchema = () =>
  component(
    'AnyEvaluationStats',
    z.union([evaluationStatsSchema, agreementStatsSchema]).describe('`AgreementStats` for `by=agreement`, otherwise `EvaluationStats`.'),
  )

const countsOf = <Name extends string>(names: readonly Name[]) => z.object(Object.fromEntries(names.map((name) => [name, z.int()])) as Record<Name, z.ZodInt>)

const tallyFields = {
  outputs: z.int(),
  scored: z.int().describe('The number of outputs with a score.'),
  average_score: z.number().min(0).max(1).nullable().describe('The average score; null if there are none.'),
  recommendations: component('RecommendationCounts', countsOf(RECOMMENDATIONS)),
}

const groupSchema = component(
  'EvaluationGroup',
  z.object({
    key: z.string().nullable().describe('The day (UTC), the sub-agent (null: none), or the criterion.'),
    ...tallyFields,
    verdicts: component('VerdictCounts', countsOf(VERDICTS)).nullable().describe('The verdicts on the criterion; null for other groupings.'),
  }),
)

const tally = { outputs: 12, scored: 10, average_score: 0.7125, recommendations: { approve: 5, review: 5, request_revision: 2 } }

const evaluationStatsSchema = component(
  'EvaluationStats',
  z.object({
    since: time('Outputs that were first evaluated from then on'),
    until: time('and before then.'),
    from: formerly(time(''), 'since'),
    to: formerly(time(''), 'until'),
    by: evaluationGroupingSchema,
    ...tallyFields,
    groups: z.array(groupSchema).describe('Days: newest first. Others: most outputs first. At most 400.'),
    is_cut: z.boolean().describe('True if the time range has more than the newest 50,000 outputs that were counted.'),
  }),
  {
    since: '2026-02-01T00:00:00.000Z',
    until: '2026-03-03T00:00:00.000Z',
    from: '2026-02-01T00:00:00.000Z',
    to: '2026-03-03T00:00:00.000Z',
    by: 'day',
    ...tally,
    groups: [{ key: '2026-03-02', ...tally, verdicts: null }],
    is_cut: false,
  },
)

function presentEvaluationStats(
  by: z.output<typeof evaluationGroupingSchema>,
  { from, to, total, groups, isCut }: EvaluationStats & { from: Date; to: Date },
): z.output<typeof evaluationStatsSchema> {
  return {
    since: toTime(from),
    until: toTime(to),
    from: toTime(from),
    to: toTime(to),
    by,
    ...presentTally(total),
    groups: groups.map((group) => ({ key: group.key, ...presentTally(group), verdicts: group.verdicts })),
    is_cut: isCut,
  }
}

function presentTally({ outputs, scored, averageScore, recommendations }: EvaluationTally) {
  return { outputs, scored, average_score: averageScore, recommendations }
}

export const getEvaluationStatsEndpoint = endpoint({
  operationId: 'getEvaluationStats',
  method: 'GET',
  path: '/evaluations/stats',
  tag: 'Evaluations',
  summary: 'Compare scores',
  description:
    'Scores of outputs by day, sub-agent or criterion. Each output counts once, by its latest evaluation. Limits: 366 days, the newest 50,000 outputs, 400 groups. With `by=agreement`: how far verdicts agree with reviews and quality flags of people.',
  access: 'evaluations:read',
  query: z.strictObject({
    since: instant.describe('Only outputs first evaluated at or after this time. Default: 30 days before `until`.'),
    until: instant.describe('Only outputs first evaluated before this time. Default: now.'),
    by: component('StatsGrouping', z.enum([...evaluationGroupingSchema.options, 'agreement']))
      .default('day')
      .describe('How scores are grouped; `agreement`: verdicts beside what people say.'),
  }),
  queryAliases: { from: 'since', to: 'until' },
  deadlineMs: 10_000,
  answers: { 200: { description: 'The totals and the groups.', schema: statsSchema() } },
  async handle({ ctx, query }) {
    const at = (time: string | undefined) => (time === undefined ? undefined : new Date(time))
    const range = { from: at(query.since), to: at(query.until) }
    if (query.by === 'agreement') return presentAgreementStats(await getAgreementStats(ctx, range))
    return presentEvaluationStats(query.by, await getEvaluationStats(ctx, { by: query.by, ...range }))
  },
  answer: (body) => ({ status: 200, body }),
})

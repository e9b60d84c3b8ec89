import { MODEL_PRICES_DATE, USAGE_GROUPINGS, type UsageTotals } from '@muster/domain'
import { getUsage, type UsageReport } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { component, time, toTime, toUsd } from '../../http/schemas.ts'

const instant = z.iso.datetime({ offset: true }).optional()

const groupingSchema = component('UsageGrouping', z.enum(USAGE_GROUPINGS))

const totalFields = {
  runs: z.int().describe('Subtasks that ran and ended.'),
  attempts: z.int().describe('The number of their attempts.'),
  judgements: z.int().describe('The number of judgements that ended.'),
  input_tokens: z.int().describe('Tokens that models have read, with those from a cache.'),
  cached_input_tokens: z.int().describe('Of the input tokens, those that providers read from their caches.'),
  output_tokens: z.int(),
  duration_ms: z.int().describe('How long the attempts ran with a live worker, in milliseconds.'),
  cost_usd: z.number().nullable().describe('The cost of everything whose cost is known. Null if the cost of nothing is known.'),
  cost_source: component('CostSource', z.enum(['reported', 'priced', 'mixed']))
    .nullable()
    .describe('`reported`: runners and judges said it. `priced`: calculated from tokens and prices. Null: there is none.'),
  unpriced_runs: z.int().describe('Attempts and judgements without a price for their model. `cost_usd` lacks them.'),
  unpriced_models: z.array(z.string()).describe('The names of those models. `MODEL_PRICES` can set their prices.'),
  unreported_runs: z.int().describe('Attempts and judgements that reported nothing. `cost_usd` lacks them too.'),
}

const groupSchema = component(
  'UsageGroup',
  z.object({
    key: z.string().nullable().describe('The day (UTC), project, agent, task, model or runner; `(judge)` is the runner of judgements. Null: none.'),
    ...totalFields,
  }),
)

const example = {
  ...{ runs: 10, attempts: 11, judgements: 2, input_tokens: 120_000, cached_input_tokens: 30_000, output_tokens: 14_000, duration_ms: 420_000 },
  ...{ cost_usd: 0.425, cost_source: 'mixed' as const, unpriced_runs: 0, unpriced_models: [], unreported_runs: 1 },
}

const storedSchema = component(
  'StoredBytes',
  z.object({
    bytes: z.int().describe('What the project stores: texts before compression, with a fixed charge a row.'),
    limit_bytes: z.int().describe('How much it may store. Beyond it, what would be stored is refused with `quota_exceeded`.'),
    run_limit_bytes: z.int().describe('How much one run may store.'),
    runs: z
      .array(component('StoredByRun', z.object({ id: z.uuid().describe('A subtask, or a task that was assigned.'), bytes: z.int() })))
      .describe('The runs under way that have stored most. At most 10.'),
  }),
)

const usageReportSchema = component(
  'UsageReport',
  z.object({
    since: time('Subtasks and judgements that ended from then on'),
    until: time('and before then.'),
    by: groupingSchema,
    ...totalFields,
    groups: z.array(groupSchema).describe('Days: newest first. Others: most tokens first. At most 400.'),
    is_cut: z.boolean().describe('True if there are more than 400 groups. The totals count them all.'),
    stored: storedSchema.describe('What is stored now, whatever the range.'),
    prices_date: z.string().describe('The date of the list prices that count where `MODEL_PRICES` has none.'),
  }),
  {
    since: '2026-02-01T00:00:00.000Z',
    until: '2026-03-03T00:00:00.000Z',
    by: 'day',
    ...example,
    groups: [{ key: '2026-03-02', ...example }],
    is_cut: false,
    stored: { bytes: 48_211_004, limit_bytes: 107_374_182_400, run_limit_bytes: 67_108_864, runs: [] },
    prices_date: MODEL_PRICES_DATE,
  },
)

function presentTotals(totals: UsageTotals) {
  return {
    runs: totals.runs,
    attempts: totals.attempts,
    judgements: totals.judgements,
    input_tokens: totals.inputTokens,
    cached_input_tokens: totals.cachedInputTokens,
    output_tokens: totals.outputTokens,
    duration_ms: totals.durationMs,
    cost_usd: totals.costUsdMicros === null ? null : toUsd(totals.costUsdMicros),
    cost_source: totals.costSource,
    unpriced_runs: totals.unpricedRuns,
    unpriced_models: totals.unpricedModels,
    unreported_runs: totals.unreportedRuns,
  }
}

function presentUsage(by: z.output<typeof groupingSchema>, { since, until, total, groups, isCut, stored }: UsageReport): z.output<typeof usageReportSchema> {
  return {
    since: toTime(since),
    until: toTime(until),
    by,
    ...presentTotals(total),
    groups: groups.map((group) => ({ key: group.key, ...presentTotals(group) })),
    is_cut: isCut,
    stored: { bytes: stored.bytes, limit_bytes: stored.limit, run_limit_bytes: stored.runLimit, runs: stored.runs },
    prices_date: MODEL_PRICES_DATE,
  }
}

export const getUsageEndpoint = endpoint({
  operationId: 'getUsage',
  method: 'GET',
  path: '/usage',
  tag: 'Usage',
  summary: 'Read tokens, cost and time',
  description:
    'What ended subtasks and judgements have used. A subtask counts whole, with all its attempts, in the moment of its end. Limits: 366 days, 400 groups.',
  access: 'subtasks:read',
  query: z.strictObject({
    since: instant.describe('Only what ended at or after this time. Default: 30 days before `until`.'),
    until: instant.describe('Only what ended before this time. Default: now.'),
    by: groupingSchema.default('day'),
  }),
  deadlineMs: 10_000,
  answers: { 200: { description: 'The totals and the groups.', schema: usageReportSchema } },
  async handle({ ctx, query }) {
    const at = (time: string | undefined) => (time === undefined ? undefined : new Date(time))
    return { by: query.by, report: await getUsage(ctx, { by: query.by, since: at(query.since), until: at(query.until) }) }
  },
  answer: ({ by, report }) => ({ status: 200, body: presentUsage(by, report) }),
})

import {
  CRITERION_SOURCES,
  DIMENSIONS,
  EVALUATION_ORIGINS,
  EVALUATION_WARNING_CODES,
  JUDGEMENT_STATUSES,
  toStorableText,
  VERDICT_METHODS,
  VERDICTS,
} from '@muster/domain'
import type { CreatedEvaluation, EvaluationSummary, Payload, StoredEvaluation } from '@muster/usecases'
import { z } from 'zod'
import { component, listComponent, requestComponent } from '../../http/components-schemas.ts'
import { printableId, text, time, toTime, toUsd } from '../../http/fields-schemas.ts'
import { recommendationSchema } from '../subtasks/subtask-schema.ts'

const OUTPUT = `JWT is in place, and its tests pass.

<npl-block type="check-in">
acceptance_criteria:
  - ✅ Implements JWT authentication
  - ✅ Includes unit tests
  - 🐛 Rate limiting has race condition
  - ❓ OAuth scope needs clarification
</npl-block>`

const CRITERIA = ['Implements JWT authentication', 'Includes unit tests', 'Rate limiting', 'OAuth scope']

const judgeSchema = requestComponent(
  'JudgeRequest',
  z
    .union([z.boolean(), z.strictObject({ model: text(128).optional().describe('The default judge of the server where it is absent.') })])
    .describe('Whether a model is to give verdicts as well, and which. As the project’s settings have it where it is absent.'),
)

export const newEvaluationSchema = requestComponent(
  'NewEvaluation',
  z.strictObject({
    output: z
      .string()
      .refine((value) => /\S/.test(value), 'must not be empty')
      .transform(toStorableText)
      .meta({ minLength: 1 })
      .describe('What is to be judged. What cannot be stored (U+0000, lone surrogates) becomes U+FFFD.'),
    acceptance_criteria: z
      .array(text(2_000))
      .max(50)
      .optional()
      .describe('What it is held against, in place of the criteria of the task. They get the ids `criterion-1`, `criterion-2` and so on.'),
    threshold: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('Below this score it has to be revised; at most `approve_at` of the project (0.8), which it does not move. 0.6, or as the project has it.'),
    task_id: z.uuid().nullish().describe('The task that it is about. Unless criteria are given, it is held against those of its current revision.'),
    session_id: printableId('The session that it comes from.', 'writer-1').nullish(),
    judge: judgeSchema.optional(),
  }),
  { output: OUTPUT, acceptance_criteria: CRITERIA, threshold: 0.6 },
)

const verdictSchema = component('Verdict', z.enum(VERDICTS).describe('not_addressed: nothing speaks of it, which is not the same as met.'))

const criterionVerdictSchema = component(
  'CriterionVerdict',
  z.object({
    id: z.string(),
    text: z.string(),
    source: z.enum(CRITERION_SOURCES),
    required: z.boolean(),
    verdict: verdictSchema,
    evidence: z.string().nullable().describe('What it rests on: words of the agent, of the output, or of the validator.'),
    method: z
      .enum(VERDICT_METHODS)
      .describe('check_in: the agent says so itself. schema: an output was held against its schema. judge: a model has read it, and quotes it.'),
  }),
)

const warningSchema = component(
  'EvaluationWarning',
  z.object({ code: z.enum(EVALUATION_WARNING_CODES), message: z.string(), criterion_id: z.string().optional().describe('The criterion that it is about.') }),
)

const reflectionItemSchema = component(
  'ReflectionItem',
  z.object({
    emoji: z.string(),
    category: z.string().nullable().describe('Null for an emoji that means nothing here.'),
    text: z.string(),
    weight: z.number().describe('What it adds; 0: it does not count.'),
  }),
)

const reflectionSchema = component(
  'Reflection',
  z
    .object({
      items: z.array(reflectionItemSchema).describe('In order. Of very many, the first 200 that weigh against it and the first 200 of the others.'),
      item_count: z.int().describe('How many there are in all.'),
      score: z.number().min(0).max(1).nullable().describe('Of the reflections alone.'),
      categories: z.record(z.string(), z.int()).describe('How many items of each.'),
    })
    .describe('What the agent says of its own work, in all reflection blocks together.'),
)

const dimensionsSchema = component(
  'EvaluationDimensions',
  z
    .object(
      Object.fromEntries(Object.keys(DIMENSIONS).map((name) => [name, z.number().min(0).max(1).nullable()])) as Record<
        keyof typeof DIMENSIONS,
        z.ZodNullable<z.ZodNumber>
      >,
    )
    .describe('The same score for some of the categories; null where nothing of them counts.'),
)

const judgementSchema = component(
  'Judgement',
  z
    .object({
      status: z.enum(JUDGEMENT_STATUSES),
      model: z.string().nullable().describe('Null while it is the default judge of the server, and has not answered.'),
      evaluation_id: z.uuid().nullable().describe('The evaluation with its verdicts.'),
      error: z.string().nullable().describe('Why there will be no verdicts.'),
      cost_usd: z.number(),
    })
    .describe('How far a model has come with giving verdicts as well. They make an evaluation of their own.'),
)

const SUMMARY_FIELDS = {
  evaluation_id: z.uuid(),
  origin: z.enum(EVALUATION_ORIGINS).describe('What it was made for: a request, a stored message, the result of a subtask, or what a task was completed with.'),
  task_id: z.uuid().nullable(),
  subtask_id: z.uuid().nullable(),
  message_id: z.uuid().nullable(),
  session_id: z.string().nullable(),
  subagent: z.string().nullable(),
  score: z.number().min(0).max(1).nullable().describe('Null where nothing in the output counts.'),
  recommendation: recommendationSchema,
  summary: z.string().optional().describe('In place of a poor output: what is wrong with it, its first and its last part.'),
  criteria_revision: z.int().nullable().describe('The revision of the task whose criteria it was held against.'),
  judge_of: z.uuid().nullable().describe('The evaluation of the same output that this one adds a model’s verdicts to.'),
  judge: judgementSchema.nullable().describe('Null where no model was asked.'),
  created_at: time('When it was made.'),
}

const DETAIL_FIELDS = {
  warnings: z.array(warningSchema),
  reflection: reflectionSchema,
  dimensions: dimensionsSchema,
  criteria: z.array(criterionVerdictSchema).describe('One a criterion, in their order.'),
  threshold: z.number().describe('Below this score it would have had to be revised.'),
  approve_at: z.number().describe('From this score on it would have been approved.'),
}

const SUMMARY_EXAMPLE = {
  evaluation_id: '0198c9d0-7a10-7c3e-8b52-4e1f0a9d8c7b',
  origin: 'request' as const,
  task_id: null,
  subtask_id: null,
  message_id: null,
  session_id: null,
  subagent: null,
  score: 0.6125,
  recommendation: 'review' as const,
  criteria_revision: null,
  judge_of: null,
  judge: null,
  created_at: '2026-03-02T08:00:09.310Z',
}

const verdict = (place: number, given: 'met' | 'unmet' | 'unclear', evidence: string) => ({
  id: `criterion-${place}`,
  text: CRITERIA[place - 1] as string,
  source: 'acceptance' as const,
  required: true,
  verdict: given,
  evidence,
  method: 'check_in' as const,
})

const EXAMPLE = {
  ...SUMMARY_EXAMPLE,
  warnings: [{ code: 'unmet_criterion' as const, message: 'Criterion "Rate limiting" is unmet (check_in).', criterion_id: 'criterion-3' }],
  reflection: { items: [], item_count: 0, score: null, categories: {} },
  dimensions: { correctness: 0.7, security: null, style: null, completeness: 0.35 },
  criteria: [
    verdict(1, 'met', 'Implements JWT authentication'),
    verdict(2, 'met', 'Includes unit tests'),
    verdict(3, 'unmet', 'Rate limiting has race condition'),
    verdict(4, 'unclear', 'OAuth scope needs clarification'),
  ],
  threshold: 0.6,
  approve_at: 0.8,
}

export const evaluationSchema = component('Evaluation', z.object({ ...SUMMARY_FIELDS, ...DETAIL_FIELDS }), EXAMPLE)

export const createdEvaluationSchema = component(
  'CreatedEvaluation',
  z.object({
    ...SUMMARY_FIELDS,
    ...DETAIL_FIELDS,
    full_payload: z.string().optional().describe('The output, unless it has to be revised; then it is at `GET /evaluations/{id}/payload`.'),
  }),
  { ...EXAMPLE, full_payload: OUTPUT },
)

export const evaluationSummarySchema = component('EvaluationSummary', z.object(SUMMARY_FIELDS), SUMMARY_EXAMPLE)

export const evaluationListSchema = listComponent('EvaluationList', evaluationSummarySchema)

export const payloadSchema = component(
  'EvaluatedPayload',
  z.object({
    full_output: z.string(),
    evaluation_id: z.uuid().describe('The latest evaluation of it.'),
    subtask_id: z.uuid().nullable().describe('The subtask whose result it is.'),
  }),
  { full_output: OUTPUT, evaluation_id: EXAMPLE.evaluation_id, subtask_id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47' },
)

export function presentEvaluationSummary(evaluation: EvaluationSummary): z.output<typeof evaluationSummarySchema> {
  const { judgement } = evaluation
  return {
    evaluation_id: evaluation.id,
    origin: evaluation.origin,
    task_id: evaluation.taskId,
    subtask_id: evaluation.subtaskId,
    message_id: evaluation.messageId,
    session_id: evaluation.sessionId,
    subagent: evaluation.subagentName,
    score: evaluation.score,
    recommendation: evaluation.recommendation,
    ...(evaluation.summary === null ? {} : { summary: evaluation.summary }),
    criteria_revision: evaluation.criteriaRevision,
    judge_of: evaluation.judgeOf,
    judge:
      judgement === null
        ? null
        : {
            status: judgement.status,
            model: judgement.model,
            evaluation_id: judgement.evaluationId,
            error: judgement.error,
            cost_usd: toUsd(judgement.costUsdMicros),
          },
    created_at: toTime(evaluation.createdAt),
  }
}

export function presentEvaluation(evaluation: StoredEvaluation): z.output<typeof evaluationSchema> {
  const { warnings, reflection, dimensions, criteria, threshold, approveAt } = evaluation.detail
  return {
    ...presentEvaluationSummary(evaluation),
    warnings: warnings.map(({ code, message, criterionId }) => ({ code, message, ...(criterionId === undefined ? {} : { criterion_id: criterionId }) })),
    reflection: {
      items: reflection.items.map(({ emoji, category, text, weight }) => ({ emoji, category, text, weight })),
      item_count: reflection.itemCount,
      score: reflection.score,
      categories: { ...reflection.categories },
    },
    dimensions,
    criteria: criteria.map(({ id, text, source, required, verdict, evidence, method }) => ({ id, text, source, required, verdict, evidence, method })),
    threshold,
    approve_at: approveAt,
  }
}

export function presentCreatedEvaluation({ evaluation, fullPayload }: CreatedEvaluation): z.output<typeof createdEvaluationSchema> {
  return { ...presentEvaluation(evaluation), ...(fullPayload === null ? {} : { full_payload: fullPayload }) }
}

export function presentPayload({ output, evaluationId, subtaskId }: Payload): z.output<typeof payloadSchema> {
  return { full_output: output, evaluation_id: evaluationId, subtask_id: subtaskId }
}

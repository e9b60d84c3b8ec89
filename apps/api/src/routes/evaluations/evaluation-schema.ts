import {
  DIMENSIONS,
  EVALUATION_ORIGINS,
  EVALUATION_WARNING_CODES,
  JUDGEMENT_STATUSES,
  projectSettingsSchema,
  toStorableText,
  VERDICT_METHODS,
  VERDICTS,
} from '@muster/domain'
import type { CreatedEvaluation, EvaluationSummary, Payload, StoredEvaluation } from '@muster/usecases'
import { z } from 'zod'
import { component, formerly, listComponent, printableId, requestComponent, text, time, toTime, toUsd } from '../../http/schemas.ts'
import { recommendationSchema } from '../subtasks/subtask-schema.ts'
import { criterionSourceSchema } from '../tasks/task-schema.ts'

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
    .union([z.boolean(), requestComponent('JudgeModel', z.strictObject({ model: text(128).optional().describe('Default: the judge of the server.') }))])
    .describe('Whether a model gives verdicts too, and which model. Default: the settings of the project.'),
)

export const newEvaluationSchema = requestComponent(
  'NewEvaluation',
  z.strictObject({
    output: z
      .string()
      .refine((value) => /\S/.test(value), 'must not be empty')
      .transform(toStorableText)
      .meta({ minLength: 1 })
      .describe('Characters that cannot be stored (U+0000, lone surrogates) become U+FFFD.'),
    acceptance_criteria: z
      .array(text(2_000))
      .max(50)
      .optional()
      .describe('Instead of those of the task. Their ids are `criterion-1`, `criterion-2` and so on.'),
    threshold: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe(
        'Below this score the text has to be revised. At most `approve_at` of the project (0.8), which stays as it is. Default: the setting of the project, otherwise 0.6.',
      ),
    task_id: z.uuid().nullish(),
    session_id: printableId('The session that it comes from.', 'writer-1').nullish(),
    judge: judgeSchema.optional(),
  }),
  { output: OUTPUT, acceptance_criteria: CRITERIA, threshold: 0.6 },
)

export const verdictSchema = component(
  'VerdictValue',
  z.enum(VERDICTS).describe('not_addressed: there is no evidence. unclear: an open question, a ✅ whose words deny it, or a judge that cannot tell.'),
)

export const verdictMethodSchema = component(
  'VerdictMethod',
  z
    .enum(VERDICT_METHODS)
    .describe(
      'check_in: the agent’s own report. schema: an output was validated. check: a program was executed. judge: a model read the output; a met quotes it. person: a review says it.',
    ),
)

const originSchema = component(
  'EvaluationOrigin',
  z.enum(EVALUATION_ORIGINS).describe('The cause: a request, a stored message, the result of a subtask, the completion of a task, or its review.'),
)

const trustSchema = component('Trust', projectSettingsSchema.shape.evaluation.unwrap().shape.trust.unwrap())

const criterionVerdictSchema = component(
  'CriterionVerdict',
  z.object({
    id: z.string(),
    text: z.string(),
    source: criterionSourceSchema,
    required: z.boolean(),
    check: z.string().optional().describe('The check that decides it. Absent if none does.'),
    verdict: verdictSchema,
    evidence: z.string().nullable().describe('A quote of the agent, of the output, or of the schema validator.'),
    method: verdictMethodSchema,
  }),
)

const warningSchema = component(
  'EvaluationWarning',
  z.object({
    code: component('EvaluationWarningCode', z.enum(EVALUATION_WARNING_CODES)),
    message: z.string(),
    criterion_id: z.string().optional(),
  }),
)

const reflectionItemSchema = component(
  'ReflectionItem',
  z.object({
    emoji: z.string(),
    category: z.string().nullable().describe('Null for an unknown emoji.'),
    text: z.string(),
    weight: z.number().describe('The weight in the score; 0: it does not count.'),
  }),
)

const reflectionSchema = component(
  'Reflection',
  z
    .object({
      items: z.array(reflectionItemSchema).describe('In order. At most the first 200 negative and the first 200 other items.'),
      item_count: z.int().describe('The total number of items.'),
      score: z.number().min(0).max(1).nullable().describe('The score of the reflections only.'),
      categories: z.record(z.string(), z.int()).describe('The number of items per category.'),
    })
    .describe('The agent’s reflection on its own work, from all reflection blocks.'),
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
    .describe('The score of some categories; null if no item of them counts.'),
)

const judgementSchema = component(
  'Judgement',
  z
    .object({
      status: component('JudgementStatus', z.enum(JUDGEMENT_STATUSES)),
      model: z.string().nullable().describe('Null while the default judge of the server has not answered.'),
      evaluation_id: z.uuid().nullable().describe('The evaluation with the verdicts of the judge.'),
      error: z.string().nullable().describe('Why the judge gives no verdicts.'),
      cost_usd: z.number(),
    })
    .describe('The progress of the judge. Its verdicts are stored as a separate evaluation.'),
)

const SUMMARY_FIELDS = {
  id: z.uuid(),
  evaluation_id: formerly(z.uuid(), 'id'),
  origin: originSchema,
  task_id: z.uuid().nullable(),
  subtask_id: z.uuid().nullable(),
  message_id: z.uuid().nullable(),
  session_id: z.string().nullable(),
  subagent: z.string().nullable(),
  score: z.number().min(0).max(1).nullable().describe('Null if no item of the output counts.'),
  recommendation: recommendationSchema,
  summary: z.string().optional().describe('For an output that has to be revised: the problems, and the first and last part of the output.'),
  criteria_revision: z.int().nullable().describe('The task revision whose criteria were applied.'),
  rule_version: z.int().describe('Of the evaluation rule. 2: an approval needs every required criterion met.'),
  judge_of: z.uuid().nullable().describe('The evaluation to which this one adds the verdicts of checks or of a judge.'),
  review_of: z.uuid().nullable().describe('The evaluation that a person reviewed. The recommendation is then the decision of the review.'),
  judge: judgementSchema.nullable().describe('Null if no judge was asked.'),
  created_at: time(),
}

const DETAIL_FIELDS = {
  warnings: z.array(warningSchema),
  reflection: reflectionSchema,
  dimensions: dimensionsSchema,
  criteria: z.array(criterionVerdictSchema).describe('One verdict per criterion, in order.'),
  threshold: z.number().describe('Outputs below this score have to be revised.'),
  approve_at: z.number().describe('Outputs at or above this score are approved.'),
  trust: trustSchema.nullable().describe('What `review: auto` completed on, as in `EvaluationSettings`. Null for `rule_version` 1, which asked for none.'),
}

const SUMMARY_EXAMPLE = {
  id: '0198c9d0-7a10-7c3e-8b52-4e1f0a9d8c7b',
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
  rule_version: 2,
  judge_of: null,
  review_of: null,
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
  trust: 'evidence' as const,
}

export const evaluationSchema = component(
  'Evaluation',
  z.object({
    ...SUMMARY_FIELDS,
    ...DETAIL_FIELDS,
    full_payload: z.string().optional().describe('In the answer to `POST /evaluations`: the complete output, unless it has to be revised.'),
  }),
  EXAMPLE,
)

export const evaluationSummarySchema = component('EvaluationSummary', z.object(SUMMARY_FIELDS), SUMMARY_EXAMPLE)

export const evaluationListSchema = listComponent('EvaluationList', evaluationSummarySchema)

export const payloadSchema = component(
  'EvaluatedPayload',
  z.object({
    full_output: z.string(),
    evaluation_id: z.uuid().describe('The latest evaluation of the output.'),
    subtask_id: z.uuid().nullable(),
  }),
  { full_output: OUTPUT, evaluation_id: EXAMPLE.id, subtask_id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47' },
)

export function presentEvaluationSummary(evaluation: EvaluationSummary): z.output<typeof evaluationSummarySchema> {
  const { judgement } = evaluation
  return {
    id: evaluation.id,
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
    rule_version: evaluation.ruleVersion,
    judge_of: evaluation.judgeOf,
    review_of: evaluation.reviewOf,
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
  const { warnings, reflection, dimensions, criteria, threshold, approveAt, trust = null } = evaluation.detail
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
    criteria: criteria.map(({ id, text, source, required, check, verdict, evidence, method }) => ({
      ...{ id, text, source, required },
      ...(check === undefined ? {} : { check }),
      ...{ verdict, evidence, method },
    })),
    threshold,
    approve_at: approveAt,
    trust,
  }
}

export function presentCreatedEvaluation({ evaluation, fullPayload }: CreatedEvaluation): z.output<typeof evaluationSchema> {
  return { ...presentEvaluation(evaluation), ...(fullPayload === null ? {} : { full_payload: fullPayload }) }
}

export function presentPayload({ output, evaluationId, subtaskId }: Payload): z.output<typeof payloadSchema> {
  return { full_output: output, evaluation_id: evaluationId, subtask_id: subtaskId }
}

import { KAPPA_CASES_MIN, NO_KAPPA_REASONS } from '@muster/domain'
import type { AgreementCase, AgreementStats, RatedGroup } from '@muster/usecases'
import { z } from 'zod'
import { component, formerly, time, toTime } from '../../http/schemas.ts'
import { qualitySchema } from '../sessions/message-schema.ts'
import { recommendationSchema } from '../subtasks/subtask-schema.ts'
import { authorSchema, reviewDecisionSchema } from '../tasks/task-changes-schema.ts'
import { verdictMethodSchema, verdictSchema } from './evaluation-schema.ts'

const agreementFields = {
  outputs: z.int().describe('The number of outputs of which people have spoken.'),
  n: z.int().describe('The number of pairs in which both verdict and person say met or not.'),
  observed_agreement: z.number().min(0).max(1).nullable().describe('The part of the pairs in which they say the same; null without pairs.'),
  kappa: z.number().min(-1).max(1).nullable().describe("Cohen's kappa of the pairs: 1 for full agreement, 0 for that of chance. Null where it says nothing."),
  reason: component('NoKappaReason', z.enum(NO_KAPPA_REASONS))
    .nullable()
    .describe(`Why there is no kappa. too_few: n is below ${KAPPA_CASES_MIN}. one_category: the verdicts, or the people, say the same of all pairs.`),
  pairs: component(
    'AgreementPairs',
    z
      .object({ both_met: z.int(), only_verdict_met: z.int(), only_person_met: z.int(), both_unmet: z.int() })
      .describe('How often the verdict and the person say met. For outputs: approve, and accepted.'),
  ),
  undecided: z.int().describe('Pairs that do not count, because one side does not decide: `review`, `unclear` or `not_addressed`.'),
  named: z.int().describe('How many of n are about a criterion that a review names; in the others the word about the whole output counts.'),
}

const groupSchema = component(
  'AgreementGroup',
  z.object({ key: z.string().nullable().describe('The sub-agent (null: none), the criterion, or the method.'), ...agreementFields }),
)

const saidSchema = component(
  'PersonWord',
  z
    .object({
      kind: component('PersonWordKind', z.enum(['verdict', 'decision', 'flag'])).describe(
        'A verdict on the criterion, the decision of a review, or a quality flag.',
      ),
      value: z.union([verdictSchema, reviewDecisionSchema, qualitySchema]),
      comment: z.string().nullable().describe('The comment on the verdict, or the note of the review.'),
      author: authorSchema,
      at: time(),
    })
    .describe('What a person, or a controller with a key of the project, said.'),
)

const caseSchema = component(
  'AgreementCase',
  z.object({
    evaluation_id: z.uuid().describe('The latest evaluation by rule, checks or judge.'),
    task_id: z.uuid().nullable(),
    subtask_id: z.uuid().nullable(),
    subagent: z.string().nullable(),
    criterion: component('AgreementCriterion', z.object({ id: z.string(), text: z.string() }))
      .nullable()
      .describe('Null: the whole output.'),
    verdict: verdictSchema.nullable().describe('The verdict on the criterion; null for the whole output, where the recommendation counts.'),
    method: verdictMethodSchema.nullable(),
    score: z.number().min(0).max(1).nullable(),
    recommendation: recommendationSchema,
    said: saidSchema,
    difference: z.number().min(0).max(1).describe('1 for met against unmet. For outputs, the distance of the score from what was said.'),
    links: component(
      'AgreementLinks',
      z.object({ evaluation: z.string(), output: z.string(), task: z.string().nullable(), subtask: z.string().nullable() }).describe('Paths to read more.'),
    ),
  }),
)

const id = { evaluation: '0198c9d0-7a10-7c3e-8b52-4e1f0a9d8c7b', task: '0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31' }
const counted = {
  outputs: 40,
  n: 38,
  observed_agreement: 0.8947,
  kappa: 0.7639,
  reason: null,
  pairs: { both_met: 22, only_verdict_met: 3, only_person_met: 1, both_unmet: 12 },
  undecided: 2,
  named: 0,
}

export const agreementStatsSchema = component(
  'AgreementStats',
  z.object({
    since: time('Outputs that were first evaluated from then on'),
    until: time('and before then.'),
    from: formerly(time(''), 'since'),
    to: formerly(time(''), 'until'),
    by: z.literal('agreement'),
    ...agreementFields,
    by_subagent: z.array(groupSchema).describe('Outputs by the sub-agent of the run, most first. At most 400.'),
    by_criterion: z.array(groupSchema).describe('The latest verdicts on criteria, by their text, most outputs first. At most 400.'),
    by_method: z.array(groupSchema).describe('Verdicts on criteria by how they were come to, including verdicts that another one replaced.'),
    cases: z.array(caseSchema).describe('The 20 cases in which verdict and person differ most.'),
    is_cut: z.boolean().describe('True if people have spoken of more than the newest 5,000 outputs that were counted.'),
  }),
  {
    since: '2026-02-01T00:00:00.000Z',
    until: '2026-03-03T00:00:00.000Z',
    from: '2026-02-01T00:00:00.000Z',
    to: '2026-03-03T00:00:00.000Z',
    by: 'agreement',
    ...counted,
    by_subagent: [{ key: 'writer', ...counted }],
    by_criterion: [
      {
        key: 'Includes unit tests',
        outputs: 6,
        n: 6,
        observed_agreement: 0.8333,
        kappa: null,
        reason: 'too_few',
        pairs: { both_met: 5, only_verdict_met: 1, only_person_met: 0, both_unmet: 0 },
        undecided: 0,
        named: 1,
      },
    ],
    by_method: [{ key: 'check_in', ...counted }],
    cases: [
      {
        evaluation_id: id.evaluation,
        task_id: id.task,
        subtask_id: null,
        subagent: 'writer',
        criterion: { id: '0198c9b1-4c01-7000-8000-000000000001', text: 'Includes unit tests' },
        verdict: 'met',
        method: 'judge',
        score: 1,
        recommendation: 'approve',
        said: {
          kind: 'verdict',
          value: 'unmet',
          comment: 'They test nothing.',
          author: { kind: 'key', id: '0198c9a0-0000-7000-8000-00000000000a' },
          at: '2026-03-02T08:10:00.000Z',
        },
        difference: 1,
        links: { evaluation: `/evaluations/${id.evaluation}`, output: `/evaluations/${id.evaluation}/payload`, task: `/tasks/${id.task}`, subtask: null },
      },
    ],
    is_cut: false,
  },
)

export function presentAgreementStats(stats: AgreementStats): z.output<typeof agreementStatsSchema> {
  const groups = (given: readonly RatedGroup[]) => given.map((group) => ({ key: group.key, ...presentAgreement(group) }))
  return {
    since: toTime(stats.from),
    until: toTime(stats.to),
    from: toTime(stats.from),
    to: toTime(stats.to),
    by: 'agreement',
    ...presentAgreement(stats.all),
    by_subagent: groups(stats.bySubagent),
    by_criterion: groups(stats.byCriterion),
    by_method: groups(stats.byMethod),
    cases: stats.cases.map(presentCase),
    is_cut: stats.isCut,
  }
}

function presentAgreement({ outputs, agreement, bothMet, onlyVerdictMet, onlyPersonMet, bothUnmet, undecided, named }: RatedGroup) {
  return {
    outputs,
    n: agreement.n,
    observed_agreement: agreement.observed,
    kappa: agreement.kappa,
    reason: agreement.reason,
    pairs: { both_met: bothMet, only_verdict_met: onlyVerdictMet, only_person_met: onlyPersonMet, both_unmet: bothUnmet },
    undecided,
    named,
  }
}

function presentCase({ evaluationId, taskId, subtaskId, subagentName, said, saidBy, saidAt, comment, ...rest }: AgreementCase): z.output<typeof caseSchema> {
  const { criterion, verdict, method, score, recommendation, difference } = rest
  return {
    evaluation_id: evaluationId,
    task_id: taskId,
    subtask_id: subtaskId,
    subagent: subagentName,
    criterion,
    ...{ verdict, method, score, recommendation },
    said: { kind: said.kind, value: said.value, comment, author: { kind: saidBy.kind, id: saidBy.id }, at: toTime(saidAt) },
    difference,
    links: {
      evaluation: `/evaluations/${evaluationId}`,
      output: `/evaluations/${evaluationId}/payload`,
      task: taskId === null ? null : `/tasks/${taskId}`,
      subtask: subtaskId === null ? null : `/subtasks/${subtaskId}`,
    },
  }
}

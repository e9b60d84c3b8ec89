import { checkIns, type EndingRow, evaluations, judgements, type NewEvaluationRow, pipeline, settle, type Tx } from '@muster/db'
import {
  type Evaluation,
  type EvaluationInput,
  type EvaluationJudge,
  type EvaluationRules,
  type EvaluationSettings,
  earlierLines,
  evaluate,
  evaluationRules,
  isForJudge,
  judgeOf,
  type NewEvent,
  type NplBlock,
  outputChecks,
  type RequiredOutput,
  RULE_VERSION,
  subtaskSessionId,
  summarize,
} from '@muster/domain'
import type { Deps } from '../core/ctx.ts'

/** What an output is of. */
type EvaluatedSubject = Pick<NewEvaluationRow, 'projectId' | 'origin' | 'taskId' | 'subtaskId' | 'messageId' | 'sessionId' | 'subagentName'>

/** Judges an output, and makes of it the row that is to be stored. Reads and writes nothing. */
export function evaluateOutput(
  id: string,
  subject: EvaluatedSubject,
  input: EvaluationInput & { settings: EvaluationRules },
  judged: { judgeOf: string; judge: EvaluationJudge } | null = null,
): { evaluation: ReturnType<typeof evaluate>; row: NewEvaluationRow } {
  const evaluation = evaluate(input)
  const { score, recommendation, criteriaRevision, warnings, reflection, dimensions, criteria, closedGates, trust, scored } = evaluation
  const { threshold, approveAt, gates } = input.settings
  return {
    evaluation,
    row: {
      ...subject,
      id,
      ruleVersion: RULE_VERSION,
      score,
      recommendation,
      criteriaRevision,
      detail: { warnings, reflection, dimensions, criteria, threshold, approveAt, gates, closedGates, trust, ...(scored === undefined ? {} : { scored }) },
      summary: recommendation === 'request_revision' ? summarize(evaluation, input.output) : null,
      judgeOf: judged?.judgeOf ?? null,
      judge: judged?.judge ?? null,
      output: null,
      outputBodyId: null,
    },
  }
}

/** What is announced of a new evaluation. */
export function evaluationEvent(row: NewEvaluationRow, actor: NewEvent['actor']): NewEvent {
  return {
    type: 'evaluation.created',
    subject: { kind: 'evaluation', id: row.id },
    data: {
      evaluation_id: row.id,
      origin: row.origin,
      task_id: row.taskId,
      subtask_id: row.subtaskId,
      message_id: row.messageId,
      session_id: row.sessionId,
      score: row.score,
      recommendation: row.recommendation,
      criteria_revision: row.criteriaRevision,
      judge_of: row.judgeOf,
      ...(row.reviewOf == null ? {} : { review_of: row.reviewOf }),
    },
    actor: { kind: actor.kind, id: actor.id },
  }
}

interface JudgementRequest {
  projectId: string
  /** Of the evaluation that is written in the same transaction. */
  evaluationId: string
  /** Null: the judge's default. */
  model: string | null
}

/**
 * Requests the verdicts of a judge on an evaluation. The row and its job commit with the evaluation; workers are notified then. A repeated
 * request changes nothing. `judgeEvaluation` does the work.
 */
export async function requestJudgement(deps: Pick<Deps, 'judgeJobs' | 'notifier'>, tx: Tx, request: JudgementRequest): Promise<void> {
  if (!(await judgements.insertJudgement(tx, request))) return
  await deps.judgeJobs.insert(tx, [request])
  tx.afterCommit(() => deps.notifier.notify('judge'))
}

/** The evaluation rules of a project. */
interface ProjectRules {
  rules: EvaluationRules
  /** Null if no judge is used; `model` is null for the judge of the server. */
  judge: { model: string | null } | null
}

/** The same for a batch of results, with the delivered tasks and the check-ins of their runs, by subtask. */
export interface RulesOfEnds extends ProjectRules {
  /** Subtasks with an open question. */
  asking: ReadonlySet<string>
  /** Whether a subtask of the project waits for a permit. */
  hasWaiting: boolean
  delivered: ReadonlyMap<string, settle.DeliveredTask>
  said: ReadonlyMap<string, checkIns.StoredCheckIn[]>
}

/** An evaluation before it is stored. With a `judge`, its verdicts decide later. */
export interface MadeEvaluation {
  evaluation: Evaluation
  row: NewEvaluationRow
  judge: ProjectRules['judge']
}

export async function readProjectRules(tx: Tx, projectId: string): Promise<ProjectRules> {
  return toProjectRules((await evaluations.findEvaluationSettings(tx, projectId)) ?? {})
}

function toProjectRules(settings: EvaluationSettings): ProjectRules {
  return { rules: evaluationRules(settings), judge: judgeOf(settings) }
}

/**
 * The rules that evaluate the results of these subtasks. Without tasks it is one statement, so it may follow the locks of the rows in their pipeline.
 */
export async function readRulesOfEnds(tx: Tx, projectId: string, subtaskIds: readonly string[], taskIds: readonly string[]): Promise<RulesOfEnds> {
  const hasTasks = taskIds.length > 0
  const [context, delivered, said] = await Promise.all([
    settle.readEndingContext(tx, projectId, subtaskIds),
    hasTasks ? settle.listDeliveredTasks(tx, subtaskIds, taskIds) : [],
    hasTasks ? checkIns.listCheckIns(tx, projectId, { taskIds, sessionIds: subtaskIds.map(subtaskSessionId) }) : [],
  ])
  return {
    ...rulesWithoutTasks(context),
    delivered: new Map(delivered.map((brief) => [brief.subtaskId, brief])),
    said: Map.groupBy(said, ({ sessionId }) => sessionId),
  }
}

/** The same for results of subtasks without tasks. */
export function rulesWithoutTasks({ evaluation, asking, hasWaiting }: settle.EndingContext): RulesOfEnds {
  return { ...toProjectRules(evaluation), asking, hasWaiting, delivered: new Map(), said: new Map() }
}

/** The evaluated part of an end: the result, and the accepted required outputs. */
interface DeliveredResult {
  result: string
  blocks: readonly NplBlock[]
  accepted: readonly RequiredOutput[]
}

/** Evaluates the result of a run by the criteria that were delivered to it, and by its earlier check-ins. */
export function evaluateEnd(deps: Pick<Deps, 'newId'>, projectId: string, rulesOfEnds: RulesOfEnds, row: EndingRow, end: DeliveredResult): MadeEvaluation {
  const sessionId = subtaskSessionId(row.id)
  const delivered = rulesOfEnds.delivered.get(row.id)
  const criteria = delivered?.criteria ?? []
  const said = (rulesOfEnds.said.get(sessionId) ?? []).filter(({ taskId }) => taskId === row.taskId)
  const checks = outputChecks(end.accepted)
  const made = evaluateOutput(
    deps.newId(),
    {
      projectId,
      origin: 'subtask',
      taskId: row.taskId,
      subtaskId: row.id,
      messageId: null,
      sessionId,
      subagentName: row.subagentName,
    },
    {
      output: end.result,
      blocks: end.blocks,
      criteria: [...criteria, ...checks.criteria],
      criteriaRevision: delivered?.revision ?? null,
      taskId: row.taskId,
      checkIns: said.map((checkIn) => earlierLines(checkIn, criteria)),
      schemaVerdicts: checks.schemaVerdicts,
      settings: rulesOfEnds.rules,
    },
  )
  return { ...made, judge: judgeFor(rulesOfEnds, made.evaluation) }
}

/** The judge of an evaluation; null if validators and checks decide all criteria, or there are none. */
export function judgeFor({ judge }: ProjectRules, { criteria }: Pick<Evaluation, 'criteria'>): ProjectRules['judge'] {
  return criteria.some(isForJudge) ? judge : null
}

/** Stores evaluations with the requests to their judges. The caller publishes their events. */
export async function storeEvaluations(deps: Deps, tx: Tx, projectId: string, made: readonly MadeEvaluation[]): Promise<void> {
  await pipeline([
    evaluations.insertEvaluations(
      tx,
      projectId,
      made.map(({ row }) => row),
    ),
    ...made.flatMap(({ row, judge }) => (judge === null ? [] : [requestJudgement(deps, tx, { projectId, evaluationId: row.id, model: judge.model })])),
  ])
}

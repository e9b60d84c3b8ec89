import { checkIns, type EndingRow, evaluations, type NewEvaluationRow, pipeline, settle, type Tx } from '@muster/db'
import {
  type Evaluation,
  type EvaluationRules,
  earlierLines,
  evaluationRules,
  isOutputCriterion,
  judgeOf,
  type NplBlock,
  outputChecks,
  type RequiredOutput,
  subtaskSessionId,
} from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { evaluateOutput } from './evaluate-output.ts'
import { requestJudgement } from './request-judgement.ts'

/** The evaluation rules of a project. */
export interface ProjectRules {
  rules: EvaluationRules
  /** Null if no judge is used; `model` is null for the judge of the server. */
  judge: { model: string | null } | null
}

/** The same for a batch of results, with the delivered tasks and the check-ins of their runs, by subtask. */
export interface RulesOfEnds extends ProjectRules {
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
  const settings = (await evaluations.findEvaluationSettings(tx, projectId)) ?? {}
  return { rules: evaluationRules(settings), judge: judgeOf(settings) }
}

/**
 * The rules that evaluate the results of these subtasks. Without tasks it is one statement, so it may follow the locks of the rows in their pipeline.
 */
export async function readRulesOfEnds(tx: Tx, projectId: string, subtaskIds: readonly string[], taskIds: readonly string[]): Promise<RulesOfEnds> {
  const hasTasks = taskIds.length > 0
  const [projectRules, delivered, said] = await Promise.all([
    readProjectRules(tx, projectId),
    hasTasks ? settle.listDeliveredTasks(tx, subtaskIds, taskIds) : [],
    hasTasks ? checkIns.listCheckIns(tx, projectId, { taskIds, sessionIds: subtaskIds.map(subtaskSessionId) }) : [],
  ])
  return {
    ...projectRules,
    delivered: new Map(delivered.map((brief) => [brief.subtaskId, brief])),
    said: Map.groupBy(said, ({ sessionId }) => sessionId),
  }
}

/** The evaluated part of an end: the result, and the accepted required outputs. */
export interface DeliveredResult {
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

/** The judge of an evaluation; null if a validator has decided all criteria, or there are none. */
export function judgeFor({ judge }: ProjectRules, { criteria }: Pick<Evaluation, 'criteria'>): ProjectRules['judge'] {
  return criteria.every(isOutputCriterion) ? null : judge
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

import { checkIns, type EndingRow, evaluations, type NewEvaluationRow, settle, type Tx } from '@muster/db'
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

/** By what a project's outputs are judged. */
export interface ProjectRules {
  rules: EvaluationRules
  /** Null where no model is asked; its model is null where it is the server's. */
  judge: { model: string | null } | null
}

/** The same for a batch of results, and what is known of the runs of briefs among them, by their subtasks. */
export interface RulesOfEnds extends ProjectRules {
  delivered: ReadonlyMap<string, settle.DeliveredTask>
  said: ReadonlyMap<string, checkIns.StoredCheckIn[]>
}

/** An evaluation that is yet to be stored, and whether a judge is asked as well, whose verdicts then decide. */
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
 * By what the results of these subtasks are judged. Without tasks it is one statement; it may travel in the packet that locks the rows,
 * behind the lock.
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

/** What is judged of an end: the result, and the outputs that were asked for and have been accepted. */
export interface DeliveredResult {
  result: string
  blocks: readonly NplBlock[]
  accepted: readonly RequiredOutput[]
}

/** Judges the result of a run, by the criteria that it was told, and by what it has said of them before. */
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

/** A judge is asked about criteria: where a validator has decided them all, or there are none, there is nothing to ask. */
export function judgeFor({ judge }: ProjectRules, { criteria }: Pick<Evaluation, 'criteria'>): ProjectRules['judge'] {
  return criteria.every(isOutputCriterion) ? null : judge
}

/** Stores evaluations with the requests to their judges. They are announced by whoever made them. */
export async function storeEvaluations(deps: Deps, tx: Tx, projectId: string, made: readonly MadeEvaluation[]): Promise<void> {
  await Promise.all([
    evaluations.insertEvaluations(
      tx,
      projectId,
      made.map(({ row }) => row),
    ),
    ...made.flatMap(({ row, judge }) => (judge === null ? [] : [requestJudgement(deps, tx, { projectId, evaluationId: row.id, model: judge.model })])),
  ])
}

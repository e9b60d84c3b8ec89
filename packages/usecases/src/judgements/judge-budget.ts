import { budgets, judgements, lanes, type StoredEvaluation, subtasks, type Tx, tasks } from '@muster/db'
import { type BudgetRoom, budgetRooms, type Judge, type JudgeQuestion, NO_USE, refuseJudgement, type Task, taskRooms } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'

/** Longest answer of a judge under a budget, in tokens. Enough for a hundred criteria with their quotes. */
const ANSWER_TOKENS_MAX = 8_192

/** What a judge is asked, once there is room for its answer, or why there is none. */
type Reserved = { question: JudgeQuestion } | { refusal: { reason: string; isPermanent: boolean } }

/**
 * Reserves the most that a judgement may use in the budgets of the project, of the agent whose result it judges, and of its task. Its try must have
 * begun. Without a budget, nothing is reserved and nothing locked. Takes the locks of the task and of the project.
 */
export async function reserveJudgement(
  deps: Deps,
  tx: Tx,
  judge: Judge,
  { evaluation, task, question }: { evaluation: StoredEvaluation; task: Task | null; question: Omit<JudgeQuestion, 'answerTokensMax'> },
): Promise<Reserved> {
  const { projectId, subtaskId, id: evaluationId } = evaluation
  const rooms = [...(await roomsOfTask(tx, task)), ...(await roomsOfProject(deps, tx, projectId, subtaskId))]
  if (rooms.length === 0) return { question: { ...question, answerTokensMax: null } }
  const bounded = { ...question, answerTokensMax: ANSWER_TOKENS_MAX }
  const most = judge.bound(bounded)
  const refusal = refuseJudgement(rooms, most)
  if (refusal !== null) return { refusal }
  await judgements.reserve(tx, { projectId, evaluationId }, { tokens: most.tokens, costMicros: most.costUsdMicros ?? 0 })
  return { question: bounded }
}

async function roomsOfProject(deps: Deps, tx: Tx, projectId: string, subtaskId: string | null): Promise<BudgetRoom[]> {
  if (!(await lanes.lockProjectLanes(tx, projectId, [], lanes.laneDefaults(deps.settings)))) return []
  const agentId = subtaskId === null ? null : ((await subtasks.findSubtask(tx, subtaskId))?.agentId ?? null)
  const { limits, project, agents } = await budgets.readBudgetFacts(tx, projectId, agentId === null ? [] : [agentId])
  const rooms = budgetRooms(limits, agentId ?? '', { project, agent: agents.get(agentId ?? '') ?? NO_USE })
  return agentId === null ? rooms.filter(({ scope }) => scope === 'project') : rooms
}

async function roomsOfTask(tx: Tx, task: Task | null): Promise<BudgetRoom[]> {
  if (task === null || (task.budgetMaxTokens === null && task.budgetMaxCostMicros === null)) return []
  const locked = await tasks.lockTask(tx, task.id)
  if (locked === null) return []
  const budget = { maxTokens: locked.budgetMaxTokens, maxCostUsdMicros: locked.budgetMaxCostMicros }
  return taskRooms(locked.id, budget, await budgets.readTaskUse(tx, locked.projectId, locked.id))
}

import { budgets, projects, type StoredEvaluation, subtasks, type Tx } from '@muster/db'
import { type BudgetRoom, budgetRooms, NO_USE, type Task, taskRooms } from '@muster/domain'

/**
 * Why a judgement may not begin: a budget of the project, of the agent whose result it judges, or of its task has nothing left. Null if each has something. A
 * judgement reserves nothing, so the last one may exceed a budget, by what it uses itself.
 */
export async function refuseJudgement(
  tx: Tx,
  { projectId, subtaskId }: Pick<StoredEvaluation, 'projectId' | 'subtaskId'>,
  task: Task | null,
): Promise<string | null> {
  const used = [...(await roomsOfProject(tx, projectId, subtaskId)), ...(await roomsOfTask(tx, task))].find(
    ({ limit, used, reserved }) => used + reserved >= limit,
  )
  return used === undefined
    ? null
    : `${used.scope === 'project' ? 'The project' : used.scope === 'agent' ? 'The agent' : 'The task'} has nothing left of its budget.`
}

async function roomsOfProject(tx: Tx, projectId: string, subtaskId: string | null): Promise<BudgetRoom[]> {
  const { limits } = (await projects.findProject(tx, projectId))?.settings ?? {}
  const hasBudget = limits?.budget !== undefined || Object.values(limits?.agents ?? {}).some(({ budget }) => budget !== undefined)
  // All of the project's use of the day is read only where something is limited.
  if (limits === undefined || !hasBudget) return []
  const agentId = subtaskId === null ? null : ((await subtasks.findSubtask(tx, subtaskId))?.agentId ?? null)
  const { project, agents } = await budgets.readBudgetFacts(tx, projectId, agentId === null ? [] : [agentId])
  const rooms = budgetRooms(limits, agentId ?? '', { project, agent: agents.get(agentId ?? '') ?? NO_USE })
  return agentId === null ? rooms.filter(({ scope }) => scope === 'project') : rooms
}

async function roomsOfTask(tx: Tx, task: Task | null): Promise<BudgetRoom[]> {
  if (task === null || (task.budgetMaxTokens === null && task.budgetMaxCostMicros === null)) return []
  const budget = { maxTokens: task.budgetMaxTokens, maxCostUsdMicros: task.budgetMaxCostMicros }
  return taskRooms(task.id, budget, await budgets.readTaskUse(tx, task.projectId, task.id))
}

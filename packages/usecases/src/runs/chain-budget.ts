import { budgets, type EndingRow, type LockedTask, lanes, type Tx } from '@muster/db'
import { type BudgetAmounts, budgetRooms, NO_USAGE, NO_USE, refuseRaise, restOfBudget, type SubtaskBudget } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import type { PreparedEnd } from './prepare-ends.ts'

/** Whether the subtasks of a chain share what was reserved for the first: where a task, a project or an agent has a budget. */
export function sharesBudget(row: Pick<EndingRow, 'hasProjectBudget'>, task: LockedTask | null): boolean {
  return row.hasProjectBudget || (task !== null && (task.budgetMaxTokens !== null || task.budgetMaxCostMicros !== null))
}

/** What a run has used with all its attempts, at its end. */
export function spentBy(row: EndingRow, usage: PreparedEnd['usage']): BudgetAmounts {
  const { inputTokens, outputTokens, costUsdMicros } = { ...NO_USAGE, ...usage }
  return { tokens: row.inputTokens + row.outputTokens + inputTokens + outputTokens, costMicros: row.costMicros + costUsdMicros }
}

/** The budget of the next revision round: as much as was requested for the first subtask, or what is left of a shared budget; null if nothing is. */
export function budgetOfRound(task: LockedTask, row: EndingRow, usage: PreparedEnd['usage']): SubtaskBudget | null {
  const budget = { maxTokens: row.budgetMaxTokens, maxCostUsdMicros: row.budgetMaxCostMicros }
  return sharesBudget(row, task) ? restOfBudget(budget, spentBy(row, usage)) : budget
}

/**
 * The same for a round that follows later than in the commit that ended its run, which has freed the reservation: it has to find room again. Takes the
 * locks of the project and the lane.
 */
export async function reserveRound(deps: Deps, tx: Tx, task: LockedTask, row: EndingRow): Promise<SubtaskBudget | null> {
  const budget = budgetOfRound(task, row, undefined)
  if (budget === null || !row.hasProjectBudget) return budget
  const { projectId } = task
  await lanes.lockProjectLanes(tx, projectId, [row.agentId], lanes.laneDefaults(deps.settings))
  const { limits, project, agents } = await budgets.readBudgetFacts(tx, projectId, [row.agentId])
  const rooms = budgetRooms(limits, row.agentId, { project, agent: agents.get(row.agentId) ?? NO_USE })
  return refuseRaise(rooms, budget) === null ? budget : null
}

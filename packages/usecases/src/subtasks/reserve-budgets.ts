import { budgets, isDatabaseUnavailable, type NewSubtaskRow, type Tx, transaction } from '@muster/db'
import { type BudgetUse, budgetExhausted, budgetRooms, type DomainError, NO_USE, reserveBudget, type SubtaskBudget, taskRooms } from '@muster/domain'
import type { RunJobs } from '@muster/jobs'
import type { Deps } from '../core/ctx.ts'

/** A subtask that asks for room in the budgets that it meets. */
export interface Asking {
  row: NewSubtaskRow
  /** The budget of the task that it runs, whose row is locked. */
  taskBudget?: SubtaskBudget | undefined
}

/**
 * Reserves room for subtasks in their order, each in what those before it have left. The reservation is the budget of the row, and ends with the row.
 * The lanes and the project must be locked.
 *
 * @returns the rows with their reservations, and the refusals by the ids of the others
 */
export async function reserveBudgets<A extends Asking>(
  deps: Deps,
  tx: Tx,
  projectId: string,
  asking: readonly A[],
): Promise<{ reserved: A[]; refusals: Map<string, DomainError> }> {
  const facts = await budgets.readBudgetFacts(tx, projectId, [...new Set(asking.map(({ row }) => row.agentId))])
  if (facts.isBehind) tx.afterCommit(() => addSpentDaysSoon(deps, projectId))
  const reserved: A[] = []
  const refusals = new Map<string, DomainError>()
  for (const each of asking) {
    const { row, taskBudget } = each
    const agent = facts.agents.get(row.agentId) ?? NO_USE
    const ofTask =
      taskBudget === undefined || row.taskId === null ? [] : taskRooms(row.taskId, taskBudget, await budgets.readTaskUse(tx, projectId, row.taskId))
    const rooms = [...ofTask, ...budgetRooms(facts.limits, row.agentId, { project: facts.project, agent })]
    const answer = reserveBudget(rooms, { maxTokens: row.budgetMaxTokens, maxCostUsdMicros: row.budgetMaxCostMicros })
    if ('refused' in answer) {
      refusals.set(row.id, budgetExhausted(answer, facts.resetsAt, facts.now))
      continue
    }
    const { maxTokens: budgetMaxTokens, maxCostUsdMicros: budgetMaxCostMicros } = answer.granted
    facts.project = withReserved(facts.project, answer.granted)
    facts.agents.set(row.agentId, withReserved(agent, answer.granted))
    reserved.push({ ...each, row: { ...row, budgetMaxTokens, budgetMaxCostMicros } })
  }
  return { reserved, refusals }
}

function withReserved(use: BudgetUse, { maxTokens, maxCostUsdMicros }: SubtaskBudget): BudgetUse {
  const { tokens, costMicros } = use.reserved
  return { ...use, reserved: { tokens: tokens + (maxTokens ?? 0), costMicros: costMicros + (maxCostUsdMicros ?? 0) } }
}

/** The projects whose days are being added by this process. */
const adding = new WeakMap<RunJobs, Set<string>>()

/** Adds the days that are over to what a project has used in all. Nothing depends on it but how much the next reservation has to read, so a failure is only logged. */
function addSpentDaysSoon(deps: Deps, projectId: string): void {
  const ofProcess = adding.get(deps.runJobs) ?? new Set<string>()
  adding.set(deps.runJobs, ofProcess)
  if (ofProcess.has(projectId)) return
  ofProcess.add(projectId)
  transaction(deps.db, projectId, (tx) => budgets.addSpentDays(tx, projectId))
    .catch((error: unknown) => {
      const fields = { err: error, project_id: projectId }
      if (isDatabaseUnavailable(error)) deps.log.warn(fields, 'failed to add up the days of a budget: the database is unavailable')
      else deps.log.error(fields, 'failed to add up the days of a budget; the next subtask of the project tries again')
    })
    .finally(() => ofProcess.delete(projectId))
}

import { bodies, budgets, inbox, type LockedSubtask, lanes, questions, subtasks, type Tx, tasks, updates } from '@muster/db'
import { type Answer, budgetExhausted, budgetRooms, DomainError, type NewEvent, NO_USE, readRaise, refuseRaise, subtaskSessionId } from '@muster/domain'
import { returnTaskToPending } from '../assignments/unassign-task.ts'
import type { Deps } from '../core/ctx.ts'
import { questionEvent, subtaskEvent, updateEvent } from '../events/event-data.ts'
import type { LockedQuestion } from './locked-question.ts'

const NOT_RAISED = 'The budget is used up, and it was not raised.'

/** Of a question that a run waits for because its budget is used up: its subtask is locked, and waits. */
type BudgetQuestion = LockedQuestion & { subtask: LockedSubtask }

/**
 * Raises the budget of a run by what was approved, and that of the task that it runs with it, as far as the budgets of the project and the agent have
 * room. Takes the locks of the project and the lane.
 *
 * @throws DomainError `validation_failed` for edited arguments that are no amounts, `budget_exhausted` without room: the question stays open
 */
export async function raiseBudget(deps: Deps, tx: Tx, { question, task, subtask }: BudgetQuestion, answer: Answer): Promise<void> {
  const { projectId } = question
  const raise = readRaise(answer.edited_arguments ?? question.arguments)
  if (raise === null) {
    const reason = 'must have max_tokens, max_cost_usd or both, as amounts by which to raise the budget'
    throw new DomainError('validation_failed', `The request has a problem: edited_arguments ${reason}.`, {
      errors: [{ pointer: '/edited_arguments', field: 'edited_arguments', reason }],
    })
  }
  if (await lanes.lockProjectLanes(tx, projectId, [subtask.agentId], lanes.laneDefaults(deps.settings))) {
    const { limits, project, agents, resetsAt, now } = await budgets.readBudgetFacts(tx, projectId, [subtask.agentId])
    const refusal = refuseRaise(budgetRooms(limits, subtask.agentId, { project, agent: agents.get(subtask.agentId) ?? NO_USE }), raise)
    if (refusal !== null) throw budgetExhausted(refusal, resetsAt, now)
  }
  await subtasks.raiseBudget(tx, subtask.id, raise)
  if (task?.subtaskId === subtask.id) await tasks.raiseBudget(tx, task.id, raise)
}

/** Ends a run whose budget is not raised as `budget_exceeded`, and returns the task that it holds. Returns the events to publish. */
export async function endOverBudget(deps: Deps, tx: Tx, { question, task, subtask }: BudgetQuestion, actor: NewEvent['actor']): Promise<NewEvent[]> {
  const { projectId } = question
  const { id, attempt } = subtask
  if (task?.subtaskId === id && task.subagentSessionId === subtaskSessionId(id)) {
    await returnTaskToPending(deps, tx, projectId, task.id, NOT_RAISED, actor)
  }
  const withdrawn = await questions.withdrawOpen(tx, projectId, { subtaskId: id })
  await subtasks.failWithoutRun(tx, id, { finalOutcome: 'budget_exceeded', error: NOT_RAISED })
  if (subtask.continuationBodyId !== null) await bodies.deleteBodies(tx, [subtask.continuationBodyId])
  await inbox.insertSubtaskItem(tx, projectId, deps.newId(), id)
  const expired = await updates.expireUpdates(tx, projectId, [id])
  return [
    ...withdrawn.map((each) => questionEvent('question.withdrawn', each, actor)),
    ...expired.map((update) => updateEvent('update.expired', update.updateId, id, actor)),
    subtaskEvent('subtask.failed', subtask, actor, {
      ...{ attempt, status: 'failed', final_outcome: 'budget_exceeded', result: null, summary: null, error: NOT_RAISED, task_id: task?.id ?? null },
    }),
  ]
}

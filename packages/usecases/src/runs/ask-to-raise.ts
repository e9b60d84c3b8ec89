import { type EndingRow, inbox, type LockedTask, outbox, questions, type Tx } from '@muster/db'
import { cutToCodePoints, raiseOf } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { questionEvent } from '../events/event-data.ts'
import { wakeAfterCommit } from '../events/wake.ts'
import { digestOf } from '../questions/ask-question.ts'
import { sharesBudget, spentBy } from './chain-budget.ts'
import type { PreparedEnd } from './prepare-ends.ts'

/** A week: people go on holiday. */
const EXPIRES_IN_SECONDS = 7 * 86_400
const PARTIAL_POINTS_MAX = 1_000
const BUDGET = { kind: 'system', id: 'budget' } as const

/**
 * The end of a run that has used up a budget of tokens or dollars which a task, a project or an agent sets: it waits for an approval to raise its budget.
 * Other ends stay as they are, and so does that of a run whose budget is only its own. The row and its task must be locked.
 */
export async function askToRaise(deps: Deps, tx: Tx, projectId: string, row: EndingRow, reported: PreparedEnd, task: LockedTask | null): Promise<PreparedEnd> {
  const { end, usage } = reported
  if (end.kind !== 'budget_exceeded' || row.cancelRequested || !sharesBudget(row, task)) return reported
  const raise = raiseOf({ maxTokens: row.budgetMaxTokens, maxCostUsdMicros: row.budgetMaxCostMicros }, spentBy(row, usage))
  if (raise === null) return reported
  const amounts = [raise.max_tokens === undefined ? [] : `${raise.max_tokens} tokens`, raise.max_cost_usd === undefined ? [] : `$${raise.max_cost_usd}`]
    .flat()
    .join(' and ')
  const partial = end.partialResult === null || end.partialResult.trim() === '' ? '' : `\n\nSo far: ${cutToCodePoints(end.partialResult, PARTIAL_POINTS_MAX)}`
  const question = await questions.insertQuestion(tx, {
    projectId,
    id: deps.newId(),
    kind: 'approval',
    subtaskId: row.id,
    taskId: null,
    sessionId: row.parentSessionId,
    askedBySession: null,
    prompt: `The run has used up its budget. Approve to raise it by ${amounts} and let the run go on, or reject to end it as budget_exceeded.${partial}`,
    options: null,
    schema: null,
    defaultAnswer: { decision: 'reject' },
    revision: task?.revision ?? null,
    arguments: raise,
    argumentsDigest: digestOf(raise),
    expiresInSeconds: EXPIRES_IN_SECONDS,
    onExpiry: 'default',
  })
  if (row.parentSessionId !== null) {
    await inbox.insertQuestionItem(tx, projectId, { id: deps.newId(), sessionId: row.parentSessionId, questionId: question.id })
  }
  const events = [questionEvent('question.asked', question, BUDGET)]
  await outbox.publish(tx, projectId, events)
  wakeAfterCommit(deps, tx, events)
  return { ...reported, end: { kind: 'waiting', questionId: question.id, continuation: end.continuation ?? null } }
}

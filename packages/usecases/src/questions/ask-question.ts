import { claims, inbox, outbox, type Question, questions, settle, subtasks, type Tx, tasks } from '@muster/db'
import {
  canonicalJson,
  DomainError,
  isTerminal,
  type NewQuestion,
  OPEN_QUESTIONS_MAX,
  questionProblems,
  requireFound,
  requireOpenTask,
  requireOwnSubtask,
  requireOwnTask,
  requireScope,
  requireValid,
  subtaskSessionId,
} from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { hashToken, matchesHash } from '../core/secrets.ts'
import { questionEvent } from '../events/event-data.ts'
import { wakeAfterCommit } from '../events/wake.ts'

export interface AskInput extends NewQuestion {
  prompt: string
  expiresInSeconds: number
}

/** The digest that binds an approval to its arguments. */
export function digestOf(args: Record<string, unknown>): string {
  return hashToken(canonicalJson(args)).toString('hex')
}

/**
 * Asks the parent session of a running subtask. The run itself asks, by its own credential or its lease token, or a caller that may write subtasks.
 *
 * @throws DomainError `not_found`, `lease_lost`, `invalid_transition` unless it runs and is not being cancelled, `validation_failed`, `conflict` with too many open questions
 */
export async function askAboutSubtask(ctx: Ctx, id: string, input: AskInput & { leaseToken?: string | undefined }): Promise<Question> {
  requireScope(ctx.actor, 'subtasks:read')
  requireOwnSubtask(ctx.actor, id)
  return await inProject(ctx, async (tx) => {
    const [taskId] = await settle.listTaskIds(tx, [id])
    const task = taskId === undefined ? null : await tasks.lockTask(tx, taskId)
    const row = requireFound(await subtasks.lockSubtask(tx, id), 'subtask')
    if (input.leaseToken !== undefined) {
      const lease = await claims.findLease(tx, id)
      if (lease?.status !== 'running' || !matchesHash(input.leaseToken, lease.tokenHash)) {
        throw new DomainError('lease_lost', 'This lease has ended: the subtask was finished, given back or taken over. Nothing was asked.')
      }
    } else if (ctx.actor.lineage === null) {
      requireScope(ctx.actor, 'subtasks:write')
    }
    if (isTerminal(row.status) || row.status !== 'running' || row.cancelRequestedAt !== null) {
      const state = row.status === 'running' ? 'being cancelled' : row.status
      throw new DomainError('invalid_transition', `This subtask is ${state}; only a run can ask.`, { status_now: row.status })
    }
    return await ask(ctx, tx, input, {
      subject: { subtaskId: id },
      sessionId: row.parentSessionId,
      askedBySession: subtaskSessionId(id),
      revision: task?.revision ?? null,
    })
  })
}

/**
 * Asks the parent session of a task that has not ended.
 *
 * @throws DomainError `not_found`, `invalid_transition` once it has ended, `validation_failed`, `conflict` with too many open questions
 */
export async function askAboutTask(ctx: Ctx, id: string, input: AskInput): Promise<Question> {
  requireScope(ctx.actor, 'tasks:write')
  return await inProject(ctx, async (tx) => {
    const task = requireFound(await tasks.lockTask(tx, id), 'task')
    requireOwnTask(ctx.actor, task)
    requireOpenTask(task)
    return await ask(ctx, tx, input, {
      subject: { taskId: id },
      sessionId: task.parentSessionId,
      askedBySession: task.subagentSessionId,
      revision: task.revision,
    })
  })
}

async function ask(
  ctx: Ctx,
  tx: Tx,
  input: AskInput,
  {
    subject,
    sessionId,
    askedBySession,
    revision,
  }: { subject: questions.QuestionSubject; sessionId: string | null; askedBySession: string | null; revision: number | null },
): Promise<Question> {
  requireValid(questionProblems(input))
  const { projectId } = ctx.actor
  if ((await questions.countOpenQuestions(tx, projectId, subject)) >= OPEN_QUESTIONS_MAX) {
    throw new DomainError('conflict', `It has ${OPEN_QUESTIONS_MAX} open questions already. Withdraw some, or wait for their answers.`)
  }
  const question = await questions.insertQuestion(tx, {
    projectId,
    id: ctx.newId(),
    kind: input.kind,
    subtaskId: 'subtaskId' in subject ? subject.subtaskId : null,
    taskId: 'taskId' in subject ? subject.taskId : null,
    sessionId,
    askedBySession,
    prompt: input.prompt,
    options: input.options,
    schema: input.schema,
    defaultAnswer: input.default,
    revision,
    arguments: input.arguments,
    argumentsDigest: input.arguments === null ? null : digestOf(input.arguments),
    expiresInSeconds: input.expiresInSeconds,
    onExpiry: input.onExpiry,
  })
  if (sessionId !== null) await inbox.insertQuestionItem(tx, projectId, { id: ctx.newId(), sessionId, questionId: question.id })
  const events = [questionEvent('question.asked', question, ctx.actor)]
  await outbox.publish(tx, projectId, events)
  wakeAfterCommit(ctx, tx, events)
  return question
}

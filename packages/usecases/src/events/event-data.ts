import type { CheckRun } from '@muster/db'
import { cutToCodePoints, type NewEvent, type Schedule, type SlotOutcome, type TaskStatus } from '@muster/domain'

const TASK_SHOWN_POINTS = 500
const RESULT_SHOWN_POINTS = 4_000

/** The data that every event of a subtask carries. Long texts are cut: the whole is at `GET /subtasks/{id}`. [011] Result Delivery */
export function subtaskEvent(
  type: NewEvent['type'],
  subtask: { id: string; agentId: string; task: string; parentSessionId: string | null },
  actor: NewEvent['actor'],
  more: Record<string, unknown> & { result?: string | null } = {},
): NewEvent {
  const data: Record<string, unknown> = {
    subtask_id: subtask.id,
    agent_id: subtask.agentId,
    task: cutToCodePoints(subtask.task, TASK_SHOWN_POINTS),
    parent_session_id: subtask.parentSessionId,
    // Until 1.0, also under the former name.
    parent_session: subtask.parentSessionId,
    ...more,
  }
  if (typeof more.result === 'string') data.result = cutToCodePoints(more.result, RESULT_SHOWN_POINTS)
  return { type, subject: { kind: 'subtask', id: subtask.id }, data, actor }
}

/** The event of an update. Its subject is the subtask, so that followers of a subtask see its receipts too. */
export function updateEvent(
  type: NewEvent['type'],
  updateId: string,
  subtaskId: string,
  actor: NewEvent['actor'],
  more: Record<string, unknown> = {},
): NewEvent {
  return { type, subject: { kind: 'subtask', id: subtaskId }, data: { update_id: updateId, subtask_id: subtaskId, ...more }, actor }
}

/** The data that every event of a task carries. */
export function taskEvent(
  type: NewEvent['type'],
  task: { id: string; title: string; status: TaskStatus; revision: number; parentSessionId: string | null; subagentSessionId?: string | null },
  actor: NewEvent['actor'],
  more: Record<string, unknown> = {},
): NewEvent {
  return {
    type,
    subject: { kind: 'task', id: task.id },
    data: {
      task_id: task.id,
      title: task.title,
      status: task.status,
      revision: task.revision,
      parent_session_id: task.parentSessionId,
      subagent_session_id: task.subagentSessionId ?? null,
      // Until 1.0, also under the former names.
      parent_session: task.parentSessionId,
      subagent_session: task.subagentSessionId ?? null,
      ...more,
    },
    actor,
  }
}

/** Who held a task before, for `task.assigned`. Until 1.0, also under the former name. */
export const previousSession = (sessionId: string | null) => ({ previous_session_id: sessionId, previous_session: sessionId })

/** The event of a task update. Its subject is the task, so that followers of a task see its receipts too. */
export function taskUpdateEvent(
  type: NewEvent['type'],
  updateId: string,
  taskId: string,
  actor: NewEvent['actor'],
  more: Record<string, unknown> = {},
): NewEvent {
  return { type, subject: { kind: 'task', id: taskId }, data: { update_id: updateId, task_id: taskId, ...more }, actor }
}

/** The event of a question. Its subject is the subtask or task, whose followers see its questions too. */
export function questionEvent(
  type: NewEvent['type'],
  question: { id: string; kind: string; subtaskId: string | null; taskId: string | null; sessionId: string | null; prompt: string },
  actor: NewEvent['actor'],
  more: Record<string, unknown> = {},
): NewEvent {
  const { id, subtaskId, taskId } = question
  const subject = subtaskId === null ? ({ kind: 'task', id: taskId as string } as const) : ({ kind: 'subtask', id: subtaskId } as const)
  const prompt = cutToCodePoints(question.prompt, TASK_SHOWN_POINTS)
  const { kind, sessionId } = question
  // `parent_session` until 1.0: the former name.
  const data = { question_id: id, kind, subtask_id: subtaskId, task_id: taskId, parent_session_id: sessionId, parent_session: sessionId, prompt, ...more }
  return { type, subject, data, actor }
}

/** The end of an execution of a check. Its subject is the task, whose followers see it too. The output is at `GET /tasks/{id}/checks`. */
export function checkEvent(run: CheckRun, actor: NewEvent['actor']): NewEvent {
  return {
    type: 'check.completed',
    subject: { kind: 'task', id: run.taskId },
    data: {
      check_run_id: run.id,
      task_id: run.taskId,
      subtask_id: run.subtaskId,
      evaluation_id: run.evaluationId,
      criterion_id: run.criterionId,
      check: run.checkName,
      status: run.status,
      exit_code: run.exitCode,
      reason: run.reason === null ? null : cutToCodePoints(run.reason, TASK_SHOWN_POINTS),
      duration_ms: run.durationMs,
    },
    actor,
  }
}

/** The data that every event of a schedule carries. */
export function scheduleEvent(type: NewEvent['type'], scheduleId: string, actor: NewEvent['actor'], more: Record<string, unknown> = {}): NewEvent {
  return { type, subject: { kind: 'schedule', id: scheduleId }, data: { schedule_id: scheduleId, ...more }, actor }
}

/** What became of a slot of a schedule: the subtask that came of it, or why none did. */
export function slotEvent(
  { id, agentId }: Pick<Schedule, 'id' | 'agentId'>,
  slot: Date,
  became: { subtaskId: string; manual: boolean } | { outcome: SlotOutcome },
  actor: NewEvent['actor'],
): NewEvent {
  const data = { agent_id: agentId, slot: slot.toISOString() }
  return 'outcome' in became
    ? scheduleEvent('schedule.skipped', id, actor, { ...data, outcome: became.outcome })
    : scheduleEvent('schedule.fired', id, actor, { ...data, subtask_id: became.subtaskId, manual: became.manual })
}

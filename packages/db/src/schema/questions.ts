import {
  type Answer,
  ON_EXPIRY,
  type OnExpiry,
  QUESTION_KINDS,
  QUESTION_STATUSES,
  type QuestionKind,
  type QuestionOption,
  type QuestionStatus,
} from '@muster/domain'
import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, oneOf, projectId } from './columns.ts'

/** What a run or an assignee asks, and its answer. */
export const questions = pgTable(
  'questions',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    kind: text().$type<QuestionKind>().notNull(),
    subtaskId: uuid(),
    taskId: uuid(),
    /** The parent session, which is asked. */
    sessionId: text(),
    /**
     * The session that works on the subtask or task: its own credential sees the question. Null for a task without a holder, and for a run whose budget is
     * used up: Muster asks then.
     */
    askedBySession: text(),
    prompt: text().notNull(),
    options: jsonb().$type<QuestionOption[]>(),
    schema: jsonb().$type<Record<string, unknown>>(),
    defaultAnswer: jsonb().$type<Answer>(),
    /** Of the task when it was asked; null for a subtask without a task. */
    revision: integer(),
    arguments: jsonb().$type<Record<string, unknown>>(),
    argumentsDigest: text(),
    status: text().$type<QuestionStatus>().notNull().default('open'),
    expiresAt: instant().notNull(),
    onExpiry: text().$type<OnExpiry>().notNull(),
    answer: jsonb().$type<Answer>(),
    answeredByKind: text(),
    answeredById: text(),
    /** The update that delivers the answer. */
    updateId: uuid(),
    askedAt: instantNow(),
    answeredAt: instant(),
  },
  (table) => [
    check('questions_kind', oneOf('kind', QUESTION_KINDS)),
    check('questions_status', oneOf('status', QUESTION_STATUSES)),
    check('questions_on_expiry', oneOf('on_expiry', ON_EXPIRY)),
    check('questions_subject', sql`(subtask_id is null) <> (task_id is null)`),
    check('questions_answer', sql`status <> 'answered' or answer is not null and answered_by_kind is not null and answered_at is not null`),
    index('questions_list').on(table.projectId, table.id),
    index('questions_by_status').on(table.projectId, table.status, table.id),
    index('questions_by_session').on(table.projectId, table.sessionId, table.id),
    index('questions_by_asker').on(table.projectId, table.askedBySession, table.id),
    index('questions_by_task').on(table.projectId, table.taskId, table.id).where(sql`task_id is not null`),
    index('questions_by_subtask').on(table.projectId, table.subtaskId).where(sql`subtask_id is not null`),
    index('questions_open_of_subtask').on(table.projectId, table.subtaskId).where(sql`status = 'open' and subtask_id is not null`),
    index('questions_due').on(table.expiresAt).where(sql`status = 'open'`),
  ],
)

import type { Answer, QuestionStatus } from '@muster/domain'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { pipeline, type Tx } from '../../client.ts'
import { questions } from '../../schema/questions.ts'
import { subtasks } from '../../schema/subtasks.ts'
import { along, anyOf, given, planForValues } from '../core/lists.ts'

export type Question = typeof questions.$inferSelect

export type NewQuestionRow = Omit<Question, 'status' | 'expiresAt' | 'answer' | 'answeredByKind' | 'answeredById' | 'updateId' | 'askedAt' | 'answeredAt'> & {
  /** Seconds until it expires. */
  expiresInSeconds: number
}

export async function insertQuestion(tx: Tx, { expiresInSeconds, ...row }: NewQuestionRow): Promise<Question> {
  const [inserted] = await tx.orm
    .insert(questions)
    .values({ ...row, expiresAt: sql`muster_now() + ${expiresInSeconds}::int * interval '1 second'` })
    .returning()
  return inserted as Question
}

/** The subtask or task that a question is about. */
export type QuestionSubject = { subtaskId: string } | { taskId: string }

const openOf = (projectId: string, subject: QuestionSubject): SQL | undefined =>
  and(
    eq(questions.projectId, projectId),
    eq(questions.status, 'open'),
    'subtaskId' in subject ? eq(questions.subtaskId, subject.subtaskId) : eq(questions.taskId, subject.taskId),
  )

export async function countOpenQuestions(tx: Tx, projectId: string, subject: QuestionSubject): Promise<number> {
  return await tx.orm.$count(questions, openOf(projectId, subject))
}

export async function findQuestion(tx: Tx, id: string): Promise<Question | null> {
  const [row] = await tx.orm.select().from(questions).where(eq(questions.id, id))
  return row ?? null
}

/** The statuses of some questions, with the subtasks that asked them. */
export async function listQuestionStatuses(tx: Tx, ids: readonly string[]): Promise<Map<string, Pick<Question, 'status' | 'subtaskId'>>> {
  const rows = await tx.orm
    .select({ id: questions.id, status: questions.status, subtaskId: questions.subtaskId })
    .from(questions)
    .where(anyOf(questions.id, ids))
  return new Map(rows.map(({ id, ...row }) => [id, row]))
}

/** Locks a question, after the rows of its task and its subtask. */
export async function lockQuestion(tx: Tx, id: string): Promise<Question | null> {
  const [row] = await tx.orm.select().from(questions).where(eq(questions.id, id)).for('update')
  return row ?? null
}

export interface QuestionFilter {
  status?: QuestionStatus | undefined
  /** The parent session. */
  sessionId?: string | undefined
  /** Those about the task, and those of the subtasks that run it. */
  taskId?: string | undefined
  /** Only those that this session asked. */
  askedBySession?: string | undefined
  beforeId?: string | undefined
  limit: number
}

/** Looks the ids up first: the planner would walk all questions for the order instead. */
function isAboutTask(projectId: string, taskId: string): SQL {
  return sql`${questions.id} = any(array(
    select q.id from ${questions} q where q.project_id = ${projectId} and q.task_id = ${taskId}
    union all
    select q.id from ${subtasks} s join ${questions} q on q.project_id = s.project_id and q.subtask_id = s.id
    where s.project_id = ${projectId} and s.task_id = ${taskId}))`
}

/** Newest first. */
export async function listQuestions(tx: Tx, projectId: string, filter: QuestionFilter): Promise<Question[]> {
  // The most selective filter leads.
  const [lead, ...rest] = given([
    [questions.askedBySession, filter.askedBySession],
    [questions.sessionId, filter.sessionId],
    [questions.status, filter.status],
  ])
  const { taskId } = filter
  // A task has few questions, so they lead.
  const { where, orderBy } = along(lead === undefined || taskId !== undefined ? [] : [lead], questions.id, filter.beforeId)
  const others = taskId === undefined || lead === undefined ? rest : [lead, ...rest]
  const [, rows] = await pipeline([
    planForValues(tx),
    tx.orm
      .select()
      .from(questions)
      .where(
        and(
          eq(questions.projectId, projectId),
          ...(taskId === undefined ? [] : [isAboutTask(projectId, taskId)]),
          ...where,
          ...others.map(([column, value]) => eq(column, value)),
        ),
      )
      .orderBy(...orderBy)
      .limit(filter.limit),
  ])
  return rows
}

export interface Closing {
  status: Exclude<QuestionStatus, 'open'>
  answer?: Answer
  answeredBy?: { kind: string; id: string }
  updateId?: string | null
}

/** Closes a question that is open: an answer in time, an expiry when it is due. Null if it was not to be closed so. */
export async function closeQuestion(tx: Tx, id: string, { status, answer, answeredBy, updateId }: Closing): Promise<Question | null> {
  const inTime = {
    answered: [sql`${questions.expiresAt} > muster_now()`],
    expired: [sql`${questions.expiresAt} <= muster_now()`],
    withdrawn: [],
  }[status]
  const [row] = await tx.orm
    .update(questions)
    .set({
      status,
      ...(answer === undefined ? {} : { answer }),
      ...(answeredBy === undefined ? {} : { answeredByKind: answeredBy.kind, answeredById: answeredBy.id, answeredAt: sql`muster_now()` }),
      ...(updateId === undefined ? {} : { updateId }),
    })
    .where(and(eq(questions.id, id), eq(questions.status, 'open'), ...inTime))
    .returning()
  return row ?? null
}

/** Withdraws the open questions of a locked subtask or task. */
export async function withdrawOpen(tx: Tx, projectId: string, subject: QuestionSubject): Promise<Question[]> {
  return await tx.orm.update(questions).set({ status: 'withdrawn' }).where(openOf(projectId, subject)).returning()
}

import { type FinalOutcome, SUBTASK_STATUSES, type Subtask, type SubtaskBudget, type SubtaskStatus } from '@muster/domain'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { pipeline, type Tx } from '../../client.ts'
import { bodies } from '../../schema/bodies.ts'
import { subtasks } from '../../schema/subtasks.ts'
import { readBody } from '../core/bodies.ts'
import { along, anyOf, type Filter, given, planForValues } from '../core/lists.ts'
import { type AsText, fromText, read, SHOWN, type ShownRow, type SubtaskRow, toSubtask } from './row.ts'

/** One subtask with its whole result, or null. */
export async function findSubtask(tx: Tx, id: string): Promise<Subtask | null> {
  const [row] = await readShown(tx, sql`select * from ${subtasks} where ${subtasks.id} = ${id}`)
  if (row === undefined) return null
  const subtask = toSubtask(row)
  if (row.resultBodyId !== null) subtask.result = await readBody(tx, row.resultBodyId)
  return subtask
}

/** The span that asked for a subtask; null without one, or without the subtask. */
export async function findTraceparent(tx: Tx, id: string): Promise<string | null> {
  const [row] = await tx.orm.select({ traceparent: subtasks.traceparent }).from(subtasks).where(eq(subtasks.id, id))
  return row?.traceparent ?? null
}

export interface SubtaskFilter {
  status?: SubtaskStatus | undefined
  parentSessionId?: string | undefined
  agentId?: string | undefined
  taskId?: string | undefined
  scheduleId?: string | undefined
  subagentName?: string | undefined
  /** The one subtask that a subtask's own credential may see. */
  onlyId?: string | undefined
  beforeId?: string | undefined
  limit: number
}

/** Newest first. Results that live in `bodies` are not read: they are null here. */
export async function listSubtasks(tx: Tx, projectId: string, filter: SubtaskFilter): Promise<Subtask[]> {
  const { status, parentSessionId, agentId, taskId, scheduleId, subagentName, onlyId } = filter
  // The most selective filter leads.
  const [lead, ...rest] = given([
    [subtasks.scheduleId, scheduleId],
    [subtasks.taskId, taskId],
    [subtasks.parentSessionId, parentSessionId],
    [subtasks.subagentName, subagentName],
  ])
  const lane = given([[subtasks.agentId, agentId]])
  const only = given([[subtasks.id, onlyId]])
  const isNarrow = lead !== undefined || only.length > 0
  if (!isNarrow && status === undefined) return await listEveryStatus(tx, projectId, lane, filter)
  const one = given([[subtasks.status, status]])
  const { where, orderBy } = along(isNarrow ? (lead === undefined ? [] : [lead]) : [...lane, ...one], subtasks.id, filter.beforeId)
  const others = isNarrow ? [...rest, ...lane, ...only, ...one] : []
  const chosen = and(eq(subtasks.projectId, projectId), ...where, ...others.map(([column, value]) => eq(column, value)))
  return await readPage(tx, sql`select * from ${subtasks} where ${chosen} order by ${sql.join(orderBy, COMMA)} limit ${filter.limit}`)
}

/** The beginning of a result that lives in `bodies`. */
export interface ResultBeginning {
  text: string
  /** Length of all of it, in UTF-8. */
  bytes: number
}

/** The beginnings of those results of some subtasks that live in `bodies`, each at least `pointsMax` code points long. */
export async function listResultBeginnings(tx: Tx, ids: readonly string[], pointsMax: number): Promise<Map<string, ResultBeginning>> {
  const rows = await tx.orm
    .select({
      id: subtasks.id,
      // Four bytes are the longest code point. PostgreSQL refuses to decode one that is cut, Buffer does not.
      beginning: sql<string>`encode(substring(${bodies.bytes} from 1 for ${pointsMax * 4}), 'base64')`,
      bytes: sql<number>`octet_length(${bodies.bytes})`,
    })
    .from(subtasks)
    .innerJoin(bodies, eq(bodies.id, subtasks.resultBodyId))
    .where(anyOf(subtasks.id, ids))
  return new Map(rows.map(({ id, beginning, bytes }) => [id, { text: Buffer.from(beginning, 'base64').toString('utf8'), bytes }]))
}

/** The newest of all statuses, at most filtered by agent: finds the newest ids of each status, and the newest of those are the page. */
async function listEveryStatus(tx: Tx, projectId: string, lane: readonly Filter[], { beforeId, limit }: SubtaskFilter): Promise<Subtask[]> {
  const newestOf = (status: SubtaskStatus) => {
    const { where, orderBy } = along([...lane, [subtasks.status, status]], subtasks.id, beforeId)
    const chosen = and(eq(subtasks.projectId, projectId), ...where)
    return sql`(select ${subtasks.id} from ${subtasks} where ${chosen} order by ${sql.join(orderBy, COMMA)} limit ${limit})`
  }
  const newest = sql`select id from (${sql.join(SUBTASK_STATUSES.map(newestOf), sql` union all `)}) as newest order by id desc limit ${limit}`
  return await readPage(tx, sql`select * from ${subtasks} where ${eq(subtasks.projectId, projectId)} and ${subtasks.id} = any(array(${newest}))`)
}

async function readPage(tx: Tx, page: SQL): Promise<Subtask[]> {
  const [, rows] = await pipeline([planForValues(tx), readShown(tx, page)])
  return rows.map(toSubtask)
}

const COMMA = sql`, `
/** Built once, because drizzle takes a millisecond to do so for each statement. */
const SHOWN_COLUMNS = sql.raw(read(SHOWN, 's'))

/** Reads rows as they are shown, newest first, with the evaluations of completed ones. */
async function readShown(tx: Tx, rows: SQL): Promise<ShownRow[]> {
  const found = await tx.orm.execute<AsText<ShownRow>>(sql`
    select ${SHOWN_COLUMNS}, (
      select jsonb_build_object('id', e.id, 'score', e.score, 'recommendation', e.recommendation) from evaluations e
      where e.project_id = s.project_id and e.subtask_id = s.id and s.status = 'completed' order by e.is_judged desc limit 1
    ) as evaluation
    from (${rows}) as s order by s.id desc`)
  return found.map((row) => fromText<ShownRow>(row))
}

/** What a change of a subtask needs. */
export type LockedSubtask = Pick<SubtaskRow, keyof typeof LOCKED>
const LOCKED = {
  id: subtasks.id,
  agentId: subtasks.agentId,
  status: subtasks.status,
  runner: subtasks.runner,
  hasPermit: subtasks.hasPermit,
  jobId: subtasks.jobId,
  attempt: subtasks.attempt,
  parentSessionId: subtasks.parentSessionId,
  task: subtasks.task,
  cancelRequestedAt: subtasks.cancelRequestedAt,
  waitingFor: subtasks.waitingFor,
  continuationBodyId: subtasks.continuationBodyId,
}

/** Locks a subtask's row until the end of the transaction. Row locks come before lane locks, always. */
export async function lockSubtask(tx: Tx, id: string): Promise<LockedSubtask | null> {
  const [row] = await tx.orm.select(LOCKED).from(subtasks).where(eq(subtasks.id, id)).for('update')
  return row ?? null
}

/** Ends a pending or waiting subtask as cancelled. Its row must be locked, and its job deleted in the same transaction. */
export async function cancelWithoutRun(tx: Tx, id: string): Promise<void> {
  const ended = { status: 'cancelled', finalOutcome: 'cancelled', hasPermit: false, permitAt: null, jobId: null } as const
  const waits = { waitingFor: null, waitingSince: null, waitedMs: WAITED_MS, continuationBodyId: null }
  await tx.orm
    .update(subtasks)
    .set({ ...ended, ...waits, cancelRequestedAt: CANCEL_REQUESTED_AT, completedAt: sql`muster_now()` })
    .where(eq(subtasks.id, id))
}

/** Ends a waiting subtask as failed. Its row must be locked. */
export async function failWithoutRun(tx: Tx, id: string, { finalOutcome, error }: { finalOutcome: FinalOutcome; error: string }): Promise<void> {
  const waits = { waitingFor: null, waitingSince: null, waitedMs: WAITED_MS, continuationBodyId: null }
  await tx.orm
    .update(subtasks)
    .set({ status: 'failed', finalOutcome, error, ...waits, completedAt: sql`muster_now()` })
    .where(eq(subtasks.id, id))
}

/** Adds to the budget of a locked subtask; null adds nothing. */
export async function raiseBudget(tx: Tx, id: string, { maxTokens, maxCostUsdMicros }: SubtaskBudget): Promise<void> {
  await tx.orm
    .update(subtasks)
    .set({
      budgetMaxTokens: sql`${subtasks.budgetMaxTokens} + ${maxTokens ?? 0}`,
      budgetMaxCostMicros: sql`${subtasks.budgetMaxCostMicros} + ${maxCostUsdMicros ?? 0}`,
    })
    .where(eq(subtasks.id, id))
}

/**
 * Returns a waiting subtask to pending, without a permit. Its rank becomes its creation time, so that it precedes all work that was created later. The
 * pending limit does not apply to it. Its row must be locked. Answers its new rank.
 */
export async function resumeWaiting(tx: Tx, id: string): Promise<Date> {
  const rankAt = sql`least(${subtasks.rankAt}, ${subtasks.createdAt})`
  const [row] = await tx.orm
    .update(subtasks)
    .set({ status: 'pending', rankAt, waitingFor: null, waitingSince: null, waitedMs: WAITED_MS })
    .where(eq(subtasks.id, id))
    .returning({ rankAt: subtasks.rankAt })
  return (row as { rankAt: Date }).rankAt
}

/** Asks the worker that runs a subtask to stop. The first request counts. */
export async function requestCancel(tx: Tx, id: string): Promise<void> {
  await tx.orm.update(subtasks).set({ cancelRequestedAt: CANCEL_REQUESTED_AT }).where(eq(subtasks.id, id))
}

const WAITED_MS = sql`${subtasks.waitedMs} + coalesce(round(extract(epoch from muster_now() - ${subtasks.waitingSince}) * 1000), 0)::bigint`
const CANCEL_REQUESTED_AT = sql`coalesce(${subtasks.cancelRequestedAt}, muster_now())`

/** When a subtask ended, null as long as it has not; null instead of the object if there is none. */
export async function findEnd(tx: Tx, id: string): Promise<{ completedAt: Date | null } | null> {
  const [row] = await tx.orm.select({ completedAt: subtasks.completedAt }).from(subtasks).where(eq(subtasks.id, id))
  return row ?? null
}

export async function subtaskExists(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.orm.select({ id: subtasks.id }).from(subtasks).where(eq(subtasks.id, id))
  return rows.length > 0
}

// SQL: the ends of a batch of runs are written by one statement of each kind. Joins also name the ids as a list, because a plan that was prepared
// while the tables were empty would read them whole ever after; with the list, every plan uses the primary key.
import type { Criterion, EvaluationSettings, NewEvent, TerminalStatus, UsageAdded } from '@muster/domain'
import type { Tx } from '../../client.ts'
import { type NewEvaluationRow, toEvaluationRecord } from '../evaluations/evaluations.ts'
import { type Notice, toEventRecord } from '../events/outbox.ts'
import { hasBudget } from './lanes.ts'
import { added, assigned, COPIED, cleared, ENDED, ENDING, HELD, names, RETURNED, read, type SubtaskRow, toRecord, types, USED, WAITING } from './row.ts'

/** A running attempt, locked, to decide its end. */
export type EndingRow = Pick<SubtaskRow, (typeof ENDING)[number]> & {
  jobId: string
  workerId: string
  cancelRequested: boolean
  /** Whether the reaper may take it: its lease has lapsed, or its attempt has timed out. */
  leaseLapsed: boolean
  /** Whether its project, or an agent of it, has a budget. */
  hasProjectBudget: boolean
}

export interface AttemptRef {
  subtaskId: string
  attempt: number
}

/** Whether the subtask `s` of a statement has a reservation in a budget of its project or agent. Without one, the project is not read. */
function ofProjectBudget({ sql }: Pick<Tx, 'sql'>) {
  return sql`(s.budget_max_tokens is not null or s.budget_max_cost_micros is not null)
        and (select ${hasBudget(sql)} from projects p where p.id = s.project_id) is true`
}

/** Whether the subtask `s` of a statement has an open question. */
function isAsking({ sql }: Pick<Tx, 'sql'>) {
  return sql`exists (select from questions q where q.project_id = s.project_id and q.status = 'open' and q.subtask_id = s.id)`
}

/** Whether a subtask of a project waits for a permit. */
function hasWaiting({ sql }: Pick<Tx, 'sql'>, projectId: string | ReturnType<Tx['sql']>) {
  return sql`exists (select from subtasks w where w.project_id = ${projectId} and w.status = 'pending' and not w.slot)`
}

/** Locks the rows of attempts that are still the current, running ones, in the order of their ids. Ignores others. */
export async function lockEnding(tx: Tx, attempts: readonly AttemptRef[]): Promise<EndingRow[]> {
  const ids = attempts.map((ref) => ref.subtaskId)
  const rows = await tx.sql<EndingRow[]>`
    select ${tx.sql.unsafe(read(ENDING, 's'))}, cancel_requested_at is not null as "cancelRequested", lease_expires_at < muster_now() as "leaseLapsed",
      ${ofProjectBudget(tx)} as "hasProjectBudget"
    from subtasks s
    where s.status = 'running' and s.id = any(${ids})
    order by s.id
    for update of s`
  const attemptOf = new Map(attempts.map((ref) => [ref.subtaskId, ref.attempt]))
  return rows.filter((row) => attemptOf.get(row.id) === row.attempt)
}

/** Locks a subtask that has completed, as its end saw it. Null if there is none. */
export async function lockCompleted(tx: Tx, id: string): Promise<EndingRow | null> {
  const [row] = await tx.sql<EndingRow[]>`
    select ${tx.sql.unsafe(read(ENDING, 's'))}, cancel_requested_at is not null as "cancelRequested", false as "leaseLapsed",
      ${ofProjectBudget(tx)} as "hasProjectBudget"
    from subtasks s where s.id = ${id} and s.status = 'completed' for update of s`
  return row ?? null
}

/** Which of these attempts have ended their subtask already, or made it wait: their settlement was stored and its answer lost. */
export async function findEnded(tx: Tx, attempts: readonly AttemptRef[]): Promise<string[]> {
  const ids = attempts.map((ref) => ref.subtaskId)
  const rows = await tx.sql<{ id: string }[]>`
    select s.id from subtasks s
    join unnest(${attempts.map((ref) => ref.subtaskId)}::uuid[], ${attempts.map((ref) => ref.attempt)}::int[]) as ref(id, attempt)
      on s.id = ref.id and s.attempt = ref.attempt
    where s.status in ('completed', 'failed', 'cancelled', 'waiting') and s.id = any(${ids})`
  return rows.map((row) => row.id)
}

/** What the ends of subtasks are decided by, besides their rows. */
export interface EndingContext {
  /** Of the project. */
  evaluation: EvaluationSettings
  /** Those with an open question. */
  asking: ReadonlySet<string>
  /** Whether a subtask of the project waits for a permit. */
  hasWaiting: boolean
}

/**
 * Reads it in a statement after the one that locks the subtasks: that one sees questions as they were before it waited, and would miss one that was asked
 * meanwhile.
 */
export async function readEndingContext(tx: Tx, projectId: string, subtaskIds: readonly string[]): Promise<EndingContext> {
  const [row] = await tx.sql<{ evaluation: EvaluationSettings | null; asking: string[]; has_waiting: boolean }[]>`
    select p.settings -> 'evaluation' as evaluation, array(
      select distinct q.subtask_id::text from questions q
      where q.project_id = ${projectId} and q.status = 'open' and q.subtask_id = any(${subtaskIds as string[]}::uuid[])
    ) as asking,
    ${hasWaiting(tx, projectId)} as has_waiting
    from projects p where p.id = ${projectId}`
  return { evaluation: row?.evaluation ?? {}, asking: new Set(row?.asking), hasWaiting: row?.has_waiting ?? true }
}

/** The tasks of some subtasks. */
export async function listTaskIds(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.sql<{ task_id: string }[]>`
    select distinct task_id from subtasks where id = any(${ids as string[]}::uuid[]) and task_id is not null`
  return rows.map((row) => row.task_id)
}

/** What the end of an attempt adds. */
interface EndedAttempt {
  id: string
  attempt: number
  /** See `attempts.lost_ms`. */
  lostMs: number
  usage: UsageAdded
}

export interface TerminalRow extends EndedAttempt, Pick<SubtaskRow, (typeof ENDED)[number]> {
  status: TerminalStatus
  /** Set if the parent session gets the result: not if a revision round follows. */
  inboxId: string | null
}

const ADDED = ['lostMs', ...USED] as const

/** What only the row of the attempt keeps. */
const OF_ATTEMPT = 'cached_input_tokens bigint, used_model text'
const CLOSED_ATTEMPT = 'cached_input_tokens = a.cached_input_tokens + e.cached_input_tokens, model = coalesce(e.used_model, a.model)'

function addedRecord({ id, attempt, lostMs, usage: { costUsdMicros: costMicros, cachedInputTokens, model, ...usage } }: EndedAttempt) {
  return { id, attempt, ...toRecord(ADDED, { lostMs, ...usage, costMicros }), cached_input_tokens: cachedInputTokens, used_model: model }
}

function terminalRecord(row: TerminalRow): Record<string, unknown> {
  return { ...addedRecord(row), ...toRecord(ENDED, row), inbox_id: row.inboxId }
}

/** A running attempt as it is now, not locked, with what its end is decided by. */
export interface LoneRow {
  row: EndingRow
  /** Of the row: another one once anything of it has changed. */
  version: string
  context: EndingContext
}

/** Reads it in one statement that sets its project itself, for `readOnce`. Null where the attempt is not the current, running one. */
export async function readAlone({ sql }: Pick<Tx, 'sql'>, projectId: string, { subtaskId, attempt }: AttemptRef): Promise<LoneRow | null> {
  const [found] = await sql<(EndingRow & { version: string; evaluation: EvaluationSettings | null; is_asking: boolean; has_waiting: boolean })[]>`
    select ${sql.unsafe(read(ENDING, 's'))}, s.cancel_requested_at is not null as "cancelRequested", s.lease_expires_at < muster_now() as "leaseLapsed",
      ${ofProjectBudget({ sql })} as "hasProjectBudget", s.xmin::text as version, (select p.settings -> 'evaluation' from projects p where p.id = s.project_id) as evaluation,
      ${isAsking({ sql })} as is_asking, ${hasWaiting({ sql }, sql`s.project_id`)} as has_waiting
    from (select set_config('muster.project_id', ${projectId}, true)::uuid as id offset 0) as scope
    cross join lateral (
      select t.*, t.xmin from subtasks t where t.id = ${subtaskId} and t.project_id = scope.id and t.status = 'running' and t.attempt = ${attempt} offset 0
    ) as s`
  if (found === undefined) return null
  const { version, evaluation, is_asking: isAskingNow, has_waiting: hasWaitingNow, ...row } = found
  return { row, version, context: { evaluation: evaluation ?? {}, asking: new Set(isAskingNow ? [subtaskId] : []), hasWaiting: hasWaitingNow } }
}

/** All that the end of a subtask writes, apart from permits. */
export interface LoneEnd {
  /** Of the row that the end was decided by. */
  version: string
  row: TerminalRow
  evaluation: NewEvaluationRow | null
  /** At least one. */
  events: readonly NewEvent[]
  agentId: string
  /** The queue of its job. */
  queue: string
  jobId: string
  /** Travels with the commit. */
  notice: Notice
}

/**
 * Stores the end of one attempt, with its evaluation and its events, and removes its job, in one statement that needs no transaction around it: what
 * `writeTerminal` and others do for a batch, in less time. It takes the locks of the row and the lane, and frees a permit that no subtask waits for.
 *
 * @returns false where the row has changed since it was read, the run has asked something, or a subtask of the project waits for a permit: nothing was stored
 */
export async function endAlone({ sql }: Pick<Tx, 'sql'>, projectId: string, end: LoneEnd): Promise<boolean> {
  const { version, row, evaluation, events, agentId, queue, jobId, notice } = end
  const [answer] = await sql<{ is_stored: boolean }[]>`
    select muster_end_alone(${projectId}::uuid, ${version}::text, ${JSON.stringify(terminalRecord(row))}::jsonb,
      ${evaluation === null ? null : JSON.stringify(toEvaluationRecord(evaluation))}::jsonb, ${JSON.stringify(events.map(toEventRecord))}::jsonb,
      ${agentId}::text, ${queue}::text, ${jobId}::uuid, ${notice.channel}::text, ${notice.text}::text) as is_stored`
  return answer?.is_stored === true
}

/** Stores the ends of locked attempts: rows, attempts and inbox items. */
export async function writeTerminal(tx: Tx, projectId: string, rows: readonly TerminalRow[]): Promise<void> {
  const ids = rows.map((row) => row.id)
  const data = rows.map(terminalRecord)
  const { sql } = tx
  await sql`
    with ended as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(data)}::jsonb) as e(
        id uuid, attempt int, ${sql.unsafe(types(ENDED))}, inbox_id uuid, ${sql.unsafe(types(ADDED))}, ${sql.unsafe(OF_ATTEMPT)})
    ),
    moment as materialized (select muster_now() as now),
    written as (
      update subtasks s set
        ${sql.unsafe(assigned(ENDED, 'e'))}, ${sql.unsafe(added(ADDED, 's', 'e'))}, slot = false, slot_at = null, job_id = null,
        ${sql.unsafe(cleared(HELD))}, feedback = null, continuation_body_id = null,
        completed_at = moment.now
      from ended e, moment where s.id = e.id and s.attempt = e.attempt and s.id = any(${ids})
      returning s.id, s.parent_session_id
    ),
    closed as (
      update attempts a set ended_at = moment.now, outcome = e.final_outcome, error = e.error, lost_ms = e.lost_ms,
        ${sql.unsafe(added(USED, 'a', 'e'))}, ${sql.unsafe(CLOSED_ATTEMPT)}
      from ended e, moment where a.subtask_id = e.id and a.attempt = e.attempt and a.subtask_id = any(${ids})
    )
    insert into inbox (project_id, id, session_id, subtask_id, created_at)
    select ${projectId}, e.inbox_id, w.parent_session_id, e.id, moment.now
    from ended e join written w on w.id = e.id cross join moment
    where e.inbox_id is not null and w.parent_session_id is not null
    on conflict (subtask_id) do nothing`
}

export interface ReturnRow extends EndedAttempt, Pick<SubtaskRow, (typeof RETURNED)[number]> {
  /** How the attempt ended, for its own row. */
  outcome: string
  error: string | null
}

/** Returns the subtasks of locked attempts to pending. They keep their permits, and get new jobs in the same transaction. */
export async function writeReturns(tx: Tx, rows: readonly ReturnRow[]): Promise<void> {
  const ids = rows.map((row) => row.id)
  const data = rows.map((row) => ({ ...addedRecord(row), ...toRecord(RETURNED, row), outcome: row.outcome, error: row.error }))
  const { sql } = tx
  await sql`
    with ended as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(data)}::jsonb) as e(
        id uuid, attempt int, ${sql.unsafe(types(RETURNED))}, outcome text, error text, ${sql.unsafe(types(ADDED))}, ${sql.unsafe(OF_ATTEMPT)})
    ),
    moment as materialized (select muster_now() as now),
    closed as (
      update attempts a set ended_at = moment.now, outcome = e.outcome, error = e.error, lost_ms = e.lost_ms,
        ${sql.unsafe(added(USED, 'a', 'e'))}, ${sql.unsafe(CLOSED_ATTEMPT)}
      from ended e, moment where a.subtask_id = e.id and a.attempt = e.attempt and a.subtask_id = any(${ids})
    )
    update subtasks s set
      status = 'pending', ${sql.unsafe(assigned(RETURNED, 'e'))}, slot_at = moment.now, ${sql.unsafe(added(ADDED, 's', 'e'))},
      ${sql.unsafe(cleared(HELD))}, worker_id = null, attempt_started_at = null
    from ended e, moment where s.id = e.id and s.attempt = e.attempt and s.id = any(${ids})`
}

export interface WaitRow extends EndedAttempt {
  waitingFor: string
  continuationBodyId: string | null
}

/** Lets the subtasks of locked attempts wait for the answers to their questions. They give up their permits. */
export async function writeWaits(tx: Tx, rows: readonly WaitRow[]): Promise<void> {
  const ids = rows.map((row) => row.id)
  const data = rows.map((row) => ({ ...addedRecord(row), ...toRecord(WAITING, row) }))
  const { sql } = tx
  await sql`
    with ended as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(data)}::jsonb) as e(id uuid, attempt int, ${sql.unsafe(types(WAITING))}, ${sql.unsafe(types(ADDED))}, ${sql.unsafe(OF_ATTEMPT)})
    ),
    moment as materialized (select muster_now() as now),
    closed as (
      update attempts a set ended_at = moment.now, outcome = 'waiting', lost_ms = e.lost_ms, ${sql.unsafe(added(USED, 'a', 'e'))}, ${sql.unsafe(CLOSED_ATTEMPT)}
      from ended e, moment where a.subtask_id = e.id and a.attempt = e.attempt and a.subtask_id = any(${ids})
    )
    update subtasks s set
      status = 'waiting', ${sql.unsafe(assigned(WAITING, 'e'))}, waiting_since = moment.now, slot = false, slot_at = null, job_id = null,
      ${sql.unsafe(added(ADDED, 's', 'e'))}, ${sql.unsafe(cleared(HELD))}, feedback = null, worker_id = null, attempt_started_at = null
    from ended e, moment where s.id = e.id and s.attempt = e.attempt and s.id = any(${ids})`
}

/** The revision of a task that was delivered to its run, with the criteria that its result is evaluated against. */
export interface DeliveredTask {
  subtaskId: string
  taskId: string
  revision: number
  criteria: Criterion[]
}

/** The revisions that were delivered last to the runs of these tasks. Ignores subtasks without a task. */
export async function listDeliveredTasks(tx: Tx, ids: readonly string[], taskIds: readonly string[]): Promise<DeliveredTask[]> {
  return await tx.sql<DeliveredTask[]>`
    select s.id as "subtaskId", r.task_id as "taskId", r.revision, r.criteria
    from subtasks s join task_revisions r on r.task_id = s.task_id and r.revision = s.task_revision
    where s.id = any(${ids as string[]}::uuid[]) and r.task_id = any(${taskIds as string[]}::uuid[])`
}

/** A revision round that follows the subtask that ends. */
export interface RevisionRound {
  id: string
  /** The subtask that ends. */
  revisionOf: string
  taskRevision: number
  /** Its rank is this many seconds behind the present. */
  rankSeconds: number
  budgetMaxTokens: number | null
  budgetMaxCostMicros: number | null
}

/**
 * Inserts revision rounds with what was requested of the subtasks before them. They have no permits yet: those of the ended subtasks are granted next,
 * under the locks of the lanes. The pending limit does not apply to them.
 */
export async function insertRevisionRounds(tx: Tx, revisionRounds: readonly RevisionRound[]): Promise<void> {
  const { sql } = tx
  const before = revisionRounds.map((each) => each.revisionOf)
  await sql`
    insert into subtasks (id, project_id, ${sql.unsafe(names(COPIED))}, task_revision, budget_max_tokens, budget_max_cost_micros, revision_of, revision_round,
      created_at, rank_at)
    select n.id, s.project_id, ${sql.unsafe(names(COPIED, 's'))}, n.task_revision, n.budget_max_tokens, n.budget_max_cost_micros, s.id, s.revision_round + 1,
      moment.now, moment.now + n.rank_seconds * interval '1 second'
    from unnest(
      ${revisionRounds.map((each) => each.id)}::uuid[], ${before}::uuid[], ${revisionRounds.map((each) => each.taskRevision)}::int[],
      ${revisionRounds.map((each) => each.rankSeconds)}::int[], ${revisionRounds.map((each) => each.budgetMaxTokens)}::bigint[],
      ${revisionRounds.map((each) => each.budgetMaxCostMicros)}::bigint[]
    ) as n(id, revision_of, task_revision, rank_seconds, budget_max_tokens, budget_max_cost_micros)
    join subtasks s on s.id = n.revision_of
    cross join (select muster_now() as now) as moment
    where s.id = any(${before}::uuid[])`
}

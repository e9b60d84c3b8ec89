// SQL: an injection comes before each model call of each agent, and is few round trips without a wait.
import { CRITERIA_FIELDS, type Criterion, type NewEvent, type TaskStatus } from '@muster/domain'
import type { Tx } from '../../client.ts'
import type { StoredInjection } from '../../schema/injection-claims.ts'
import type { Update } from '../subtasks/updates.ts'

const SESSION_LOCK_CLASS = 7302

/** What waits for a session, by kind, and the revision of its project's guides. */
export interface Waiting {
  taskUpdates: boolean
  tsgNotices: boolean
  results: boolean
  /** Whether the uses of tools by the session are watched, since one failed. */
  toolUses: boolean
  /** See `tsgNotices.readTsgRevision`. */
  tsgRevision: number
}

/**
 * Looks whether anything waits for a session, from indexes alone. Most requests end here. The statement needs no transaction, which would take longer
 * than the look: it sets the project itself. Every part reads the answer of that setting, so that none runs before it.
 */
export async function findWaiting(tx: Pick<Tx, 'sql'>, projectId: string, sessionId: string): Promise<Waiting> {
  const [row] = await tx.sql<{ task_updates: boolean; tsg_notices: boolean; results: boolean; tool_uses: boolean; tsg_revision: number | null }[]>`
    select
      exists (select from assignments where project_id = scope.id and session_id = ${sessionId} and has_news and ended_at is null) as task_updates,
      exists (select from tsg_notices where project_id = scope.id and session_id = ${sessionId} and delivered_at is null) as tsg_notices,
      exists (
        select from inbox where project_id = scope.id and session_id = ${sessionId} and delivered_at is null
          and (lease_expires_at is null or lease_expires_at < (select muster_now()))
      ) as results,
      exists (select from session_tool_uses where project_id = scope.id and session_id = ${sessionId}) as tool_uses,
      (select p.tsg_revision from projects p where p.id = scope.id) as tsg_revision
    from (select set_config('muster.project_id', ${projectId}, true)::uuid as id offset 0) as scope`
  return {
    taskUpdates: row?.task_updates === true,
    tsgNotices: row?.tsg_notices === true,
    results: row?.results === true,
    toolUses: row?.tool_uses === true,
    tsgRevision: row?.tsg_revision ?? 0,
  }
}

/**
 * Delivers the updates of its tasks to a session and records that, in one statement that needs no transaction around it: locks, reads, cursors, receipts, events and
 * the start of the work, as an injection in a transaction does it step by step. Returns what it has delivered; null where that takes a transaction, because a
 * manual injection is open, a whole brief waits, or very much does. Nothing has changed then.
 */
export async function deliverUpdates(
  tx: Pick<Tx, 'sql'>,
  projectId: string,
  sessionId: string,
  limits: DeliveryLimits,
  actor: NewEvent['actor'],
): Promise<UndeliveredRow[] | null> {
  const [row] = await tx.sql<{ delivered: RawQueuedRow[] | null }[]>`
    select muster_deliver_updates(${projectId}::uuid, ${sessionId}::text, ${actor.kind}::text, ${actor.id}::text, ${CRITERIA_FIELDS as string[]}::text[],
      ${limits.tasks}::int, ${limits.updates}::int) as delivered`
  return row?.delivered == null ? null : toUndeliveredRows(row.delivered)
}

/** The most tasks of one delivery, and the most updates. */
export interface DeliveryLimits {
  tasks: number
  updates: number
}

/**
 * Locks the deliveries to a session until the end of the transaction, so that of two concurrent requests one gets everything and the other what comes
 * later. Always a statement of its own, before the locks of tasks.
 */
export async function lockSession(tx: Tx, projectId: string, sessionId: string): Promise<void> {
  await tx.sql`select pg_advisory_xact_lock(${SESSION_LOCK_CLASS}, hashtext(${`${projectId}/${sessionId}`}))`
}

/**
 * Locks the tasks of a session with anything to deliver, in the order of their ids, as `tasks.lockTasks` does. Returns their ids. The session must be
 * locked.
 */
export async function lockTasksWithUndelivered(tx: Tx, projectId: string, sessionId: string, limit: number): Promise<string[]> {
  const rows = await tx.sql<{ id: string }[]>`
    select id from tasks
    where id = any(array(
      select task_id from assignments where project_id = ${projectId} and session_id = ${sessionId} and has_news and ended_at is null
      order by assigned_at, task_id limit ${limit}
    ))
    order by id for update`
  return rows.map((row) => row.id)
}

/** A task that a session holds, what of it was delivered, and what was not. */
export interface UndeliveredRow {
  taskId: string
  title: string
  /** Counts how often the session got the task. */
  assignmentGeneration: number
  status: TaskStatus
  revision: number
  /** Number of its last update. */
  updateSeq: number
  isBriefDelivered: boolean
  deliveredRevision: number | null
  /** The current ones if an update changes criteria; else null. */
  criteria: Criterion[] | null
  /** The queued updates by number; none if the whole brief is delivered. */
  queued: Update[]
}

/**
 * Tasks of a session with anything to deliver, in the order of assignment. One statement, so that tasks and updates are those of one moment. Right for
 * locked tasks only.
 *
 * Looks for updates behind the delivery cursor: none before it can be queued, because a delivery leaves none (`writeDelivery`).
 */
export async function listTasksWithUndelivered(
  tx: Tx,
  projectId: string,
  sessionId: string,
  limits: { tasks: number; updatesPerTask: number },
): Promise<UndeliveredRow[]> {
  const rows = await tx.sql<RawQueuedRow[]>`
    select a.task_id, a.turn as generation, t.title, t.status, t.revision as task_revision, t.update_seq, a.introduced_at is not null as is_brief_delivered, a.delivered_revision,
      case when u.fields && ${CRITERIA_FIELDS as string[]}::text[] then t.criteria end as criteria, u.*
    from (
      select task_id, turn, assigned_at, introduced_at, delivered_seq, delivered_revision from assignments
      where project_id = ${projectId} and session_id = ${sessionId} and has_news and ended_at is null
      order by assigned_at, task_id limit ${limits.tasks}
    ) as a
    cross join lateral (select title, status, revision, update_seq, criteria from tasks where id = a.task_id offset 0) as t
    left join lateral (
      select id, seq, update_type, fields, content, diff, revision, sender_kind, sender_id, sender_name, delivery, created_at from updates
      where project_id = ${projectId} and task_id = a.task_id and a.introduced_at is not null and seq > a.delivered_seq and status = 'queued'
      order by seq limit ${limits.updatesPerTask}
    ) as u on true
    order by a.assigned_at, a.task_id, u.seq`
  return toUndeliveredRows(rows)
}

type RawQueuedRow = RawUndeliveredRow & (RawQueuedUpdate | { id: null })

/** From a row for each update; one for a task without. */
function toUndeliveredRows(rows: readonly RawQueuedRow[]): UndeliveredRow[] {
  const undelivered = new Map<string, UndeliveredRow>()
  for (const row of rows) {
    const ofTask = undelivered.get(row.task_id) ?? toUndeliveredRow(row)
    undelivered.set(row.task_id, ofTask)
    ofTask.criteria ??= row.criteria
    if (row.id !== null) ofTask.queued.push(toQueuedUpdate(row))
  }
  return [...undelivered.values()]
}

interface RawUndeliveredRow {
  task_id: string
  title: string
  generation: number
  status: TaskStatus
  task_revision: number
  update_seq: number
  is_brief_delivered: boolean
  delivered_revision: number | null
  criteria: Criterion[] | null
}

function toUndeliveredRow(row: RawUndeliveredRow): UndeliveredRow {
  return {
    taskId: row.task_id,
    title: row.title,
    assignmentGeneration: row.generation,
    status: row.status,
    revision: row.task_revision,
    updateSeq: row.update_seq,
    isBriefDelivered: row.is_brief_delivered,
    deliveredRevision: row.delivered_revision,
    criteria: row.criteria,
    queued: [],
  }
}

interface RawQueuedUpdate {
  id: string
  seq: number
  update_type: string
  fields: string[]
  content: string
  diff: unknown
  revision: number | null
  sender_kind: string
  sender_id: string
  sender_name: string | null
  delivery: Update['delivery']
  created_at: string
}

function toQueuedUpdate(row: RawUndeliveredRow & RawQueuedUpdate): Update {
  return {
    updateId: row.id,
    subtaskId: null,
    taskId: row.task_id,
    seq: row.seq,
    updateType: row.update_type,
    fields: row.fields,
    content: row.content,
    diff: row.diff,
    revision: row.revision,
    sender: { kind: row.sender_kind, id: row.sender_id, name: row.sender_name },
    delivery: row.delivery,
    status: 'queued',
    deliveredTo: null,
    createdAt: new Date(row.created_at),
    deliveredAt: null,
    acknowledgedAt: null,
  }
}

/** Whether updates of its task wait for the session of a subtask. */
export async function taskHasUpdates(tx: Tx, taskId: string, sessionId: string): Promise<boolean> {
  const rows = await tx.sql`select from assignments where task_id = ${taskId} and session_id = ${sessionId} and has_news and ended_at is null`
  return rows.length > 0
}

/** How far a delivery of a task goes: updates up to `seq`, which make up `revision`. */
export interface Delivery {
  taskId: string
  seq: number
  revision: number
  /** Whether it is the prompt of an attempt, which contains all of that. */
  isBrief?: boolean
}

/**
 * Moves the delivery cursor of a session to `seq`, stores the receipts and the events of the updates on the way, and turns a task that waited for its
 * assignee to in progress. Returns how many updates it delivered; null if the session no longer holds the task. The task must be locked. One statement,
 * because every request that delivers updates waits for it.
 *
 * @param announcement the event of each of those updates, whose id is added to the data
 */
export async function writeDelivery(tx: Tx, projectId: string, sessionId: string, delivery: Delivery, announcement: NewEvent): Promise<number | null> {
  const { taskId, seq, revision, isBrief = false } = delivery
  const { type, subject, data, actor } = announcement
  const [row] = await tx.sql<{ delivered: number }[]>`
    with held as (
      select delivered_seq from assignments where task_id = ${taskId} and session_id = ${sessionId} and ended_at is null
    ),
    moved as (
      update assignments a set introduced_at = coalesce(introduced_at, muster_now()), delivered_seq = greatest(delivered_seq, ${seq}),
        delivered_revision = greatest(delivered_revision, ${revision}), briefed_seq = case when ${isBrief} then ${seq} else briefed_seq end,
        has_news = t.update_seq > greatest(delivered_seq, ${seq})
      from tasks t
      where a.task_id = ${taskId} and a.session_id = ${sessionId} and a.ended_at is null and t.id = ${taskId}
    ),
    begun as (
      update tasks set status = 'in_progress', updated_at = muster_now()
      where id = ${taskId} and status in ('assigned', 'revision_requested') and exists (select from held)
    ),
    delivered as (
      update updates set status = 'delivered', delivered_at = (select muster_now()), delivered_to = ${sessionId}
      where project_id = ${projectId} and task_id = ${taskId} and seq > (select delivered_seq from held) and seq <= ${seq} and status = 'queued'
      returning id, seq
    ),
    announced as (
      insert into outbox (project_id, batch, size)
      select ${projectId}, array_agg(row(${type}::text, ${subject.kind}::text, ${subject.id}::uuid, null,
          ${JSON.stringify(data)}::jsonb || jsonb_build_object('update_id', id), ${actor.kind}::text, ${actor.id}::text)::muster_event order by seq), count(*)
      from delivered having count(*) > 0
    )
    select (select count(*) from delivered) as delivered from held`
  return row?.delivered ?? null
}

/** What an injection with manual acknowledgement has delivered, with the generation of each assignment. */
export interface HeldInjection extends Omit<StoredInjection, 'tasks'> {
  tasks: { taskId: string; seq: number; revision: number; assignmentGeneration: number }[]
}

export interface InjectionClaim {
  id: string
  held: HeldInjection
  isLapsed: boolean
  isAcknowledged: boolean
  isReplaced: boolean
}

/** The manual claim of a session that waits for its acknowledgement, or null. The session must be locked. */
export async function findOpenClaim(tx: Tx, projectId: string, sessionId: string): Promise<InjectionClaim | null> {
  const rows = await tx.sql<RawClaim[]>`
    select id, held, lease_expires_at < muster_now() as is_lapsed, false as is_acknowledged, false as is_replaced
    from injection_claims where project_id = ${projectId} and session_id = ${sessionId} and acknowledged_at is null and replaced_at is null`
  return rows[0] === undefined ? null : toClaim(rows[0])
}

/** A claim of a session by its id, or null. The session must be locked. */
export async function findClaim(tx: Tx, projectId: string, sessionId: string, id: string): Promise<InjectionClaim | null> {
  const rows = await tx.sql<RawClaim[]>`
    select id, held, lease_expires_at < muster_now() as is_lapsed,
      acknowledged_at is not null as is_acknowledged, replaced_at is not null as is_replaced
    from injection_claims where id = ${id} and project_id = ${projectId} and session_id = ${sessionId}`
  return rows[0] === undefined ? null : toClaim(rows[0])
}

interface RawClaim {
  id: string
  held: StoredInjection
  is_lapsed: boolean
  is_acknowledged: boolean
  is_replaced: boolean
}

function toClaim(row: RawClaim): InjectionClaim {
  return {
    id: row.id,
    held: { ...row.held, tasks: row.held.tasks.map(({ turn = 1, ...task }) => ({ ...task, assignmentGeneration: turn })) },
    isLapsed: row.is_lapsed,
    isAcknowledged: row.is_acknowledged,
    isReplaced: row.is_replaced,
  }
}

/** Opens a claim. Returns when it lapses. The session must be locked and have none open. */
export async function insertClaim(
  tx: Tx,
  projectId: string,
  claim: { id: string; sessionId: string; held: HeldInjection; leaseSeconds: number },
): Promise<Date> {
  const held: StoredInjection = { ...claim.held, tasks: claim.held.tasks.map(({ assignmentGeneration: turn, ...task }) => ({ ...task, turn })) }
  const [row] = await tx.sql<{ lease_expires_at: string }[]>`
    insert into injection_claims (project_id, id, session_id, held, lease_expires_at)
    values (${projectId}, ${claim.id}, ${claim.sessionId}, ${JSON.stringify(held)}::jsonb, muster_now() + ${claim.leaseSeconds} * interval '1 second')
    returning lease_expires_at`
  return new Date(row?.lease_expires_at as string)
}

/**
 * The tasks of a claim that its session has held ever since. A task that was unassigned and assigned again meanwhile is delivered from the start, so the
 * claim does not count for it. The tasks must be locked.
 */
export async function listTasksHeldSince(tx: Tx, projectId: string, sessionId: string, held: HeldInjection['tasks']): Promise<string[]> {
  const rows = await tx.sql<{ task_id: string }[]>`
    select a.task_id from jsonb_to_recordset(${JSON.stringify(held)}::jsonb) as h("taskId" uuid, "assignmentGeneration" int)
    join assignments a on a.task_id = h."taskId" and a.turn = h."assignmentGeneration"
    where a.project_id = ${projectId} and a.session_id = ${sessionId} and a.ended_at is null`
  return rows.map((row) => row.task_id)
}

/** Closes a claim whose lease has lapsed: what it held is delivered again. */
export async function replaceClaim(tx: Tx, id: string): Promise<void> {
  await tx.sql`update injection_claims set replaced_at = muster_now() where id = ${id}`
}

export async function acknowledgeClaim(tx: Tx, id: string): Promise<void> {
  await tx.sql`update injection_claims set acknowledged_at = muster_now() where id = ${id}`
}

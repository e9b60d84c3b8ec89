// SQL: one statement takes a reservation and skips those that another transaction takes.
import type { SubagentDefinition } from '@muster/domain'
import type { Tx } from '../../client.ts'

/** A reservation that no sub-agent took for this long is void: the call of the Agent tool was refused or broken off. */
const RESERVATION_LASTS_SECONDS = 3_600
/** A taken reservation is kept this long, for inspection. Each new one deletes some old ones, so that there are never many. */
const RESERVATION_KEPT_SECONDS = 86_400
const REMOVED_MAX = 100

/** Reserves a task for the next sub-agent of a type that a session starts. */
export async function insertReservation(
  tx: Tx,
  projectId: string,
  reservation: { id: string; sessionId: string; subagentType: string; taskId: string },
): Promise<void> {
  const { id, sessionId, subagentType, taskId } = reservation
  // Ids begin with the time in milliseconds, so that old ones are a range of the index.
  await tx.sql`
    delete from hook_reservations where id in (
      select id from hook_reservations
      where project_id = ${projectId} and id < (
        lpad(to_hex((extract(epoch from muster_now() - ${RESERVATION_KEPT_SECONDS} * interval '1 second') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
      order by id limit ${REMOVED_MAX} for update skip locked)`
  await tx.sql`
    insert into hook_reservations (project_id, id, session_id, subagent_type, task_id) values (${projectId}, ${id}, ${sessionId}, ${subagentType}, ${taskId})`
}

/**
 * Takes the oldest reservation for a sub-agent of a type, for its session. Returns the task; null if none waits. Two sub-agents that start at once take
 * different ones.
 */
export async function takeReservation(
  tx: Tx,
  projectId: string,
  { sessionId, subagentType, boundSessionId }: { sessionId: string; subagentType: string; boundSessionId: string },
): Promise<string | null> {
  const [row] = await tx.sql<{ task_id: string }[]>`
    update hook_reservations set bound_session_id = ${boundSessionId}, bound_at = muster_now()
    where id = (
      select id from hook_reservations
      where project_id = ${projectId} and session_id = ${sessionId} and subagent_type = ${subagentType} and bound_session_id is null
        and created_at > muster_now() - ${RESERVATION_LASTS_SECONDS} * interval '1 second'
      order by id limit 1 for update skip locked
    )
    returning task_id`
  return row?.task_id ?? null
}

/** Deletes the reservations of a session that were not taken. */
export async function deleteWaitingReservations(tx: Tx, projectId: string, sessionId: string): Promise<void> {
  await tx.sql`delete from hook_reservations where project_id = ${projectId} and session_id = ${sessionId} and bound_session_id is null`
}

/** The definition of a subtask's sub-agent, and whether it runs in the background; null for a subtask without a sub-agent. */
export async function findDefinitionOfSubtask(tx: Tx, subtaskId: string): Promise<{ definition: SubagentDefinition; background: boolean } | null> {
  const [row] = await tx.sql<{ definition: SubagentDefinition; background: boolean }[]>`
    select v.definition, s.background from subtasks s
    join subagent_versions v on v.project_id = s.project_id and v.name = s.subagent_name and v.version = s.subagent_version
    where s.id = ${subtaskId}`
  return row ?? null
}

/** The one task that a session holds; null if it holds none, or several. */
export async function findOnlyTaskOfSession(tx: Tx, projectId: string, sessionId: string): Promise<string | null> {
  const rows = await tx.sql<{ task_id: string }[]>`
    select task_id from assignments where project_id = ${projectId} and session_id = ${sessionId} and ended_at is null
    order by assigned_at, task_id limit 2`
  return rows.length === 1 ? (rows[0]?.task_id ?? null) : null
}

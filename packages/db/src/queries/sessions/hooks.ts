// SQL: a call is bound in one statement that only one of two events can win.
import type { SubagentDefinition } from '@muster/domain'
import type { Tx } from '../../client.ts'

/** A call of the Agent tool that has not ended after this long is void: it was refused or broken off without an event. */
const CALL_LASTS_SECONDS = 3_600
/** The event of its end may still be handled when the turn of the session ends: Claude Code does not wait for a slow answer. */
const CALL_ENDS_SECONDS = 10
/** A call is kept this long, for inspection. Each new one deletes some old ones, so that there are never many. */
const CALL_KEPT_SECONDS = 86_400
const REMOVED_MAX = 100

export interface NewAgentCall {
  id: string
  sessionId: string
  subagentType: string
  toolUseId: string | null
  /** Null for a call without a task. */
  taskId: string | null
}

/** A call of the Agent tool with a task whose sub-agent is not certain yet. */
export interface OpenAgentCall {
  id: string
  taskId: string
  /** Of the brief in its prompt; null if it is not known to have arrived there. */
  seq: number | null
  revision: number | null
}

/** Stores a call of the Agent tool. A call that is reported twice is stored once. */
export async function insertAgentCall(tx: Tx, projectId: string, call: NewAgentCall): Promise<void> {
  const { id, sessionId, subagentType, toolUseId, taskId } = call
  // Ids begin with the time in milliseconds, so that old ones are a range of the index.
  await tx.sql`
    delete from hook_reservations where id in (
      select id from hook_reservations
      where project_id = ${projectId} and id < (
        lpad(to_hex((extract(epoch from muster_now() - ${CALL_KEPT_SECONDS} * interval '1 second') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
      order by id limit ${REMOVED_MAX} for update skip locked)`
  await tx.sql`
    insert into hook_reservations (project_id, id, session_id, subagent_type, tool_use_id, task_id)
    select ${projectId}, ${id}, ${sessionId}, ${subagentType}, ${toolUseId}, ${taskId}
    where not exists (select from hook_reservations where project_id = ${projectId} and session_id = ${sessionId} and bound_session_id is null and tool_use_id = ${toolUseId})`
}

/** Records that the prompt of an open call contains the brief of its task. */
export async function confirmBrief(tx: Tx, id: string, { seq, revision }: { seq: number; revision: number }): Promise<void> {
  await tx.sql`update hook_reservations set briefed_seq = ${seq}, briefed_revision = ${revision} where id = ${id} and bound_session_id is null`
}

/** What is known of the sub-agent that makes an event: one of these, by its certainty. */
export type AgentCallEvidence = { toolUseId: string } | { taskIds: readonly string[] } | { subagentType: string }

/**
 * Binds a call of the Agent tool to the session of its sub-agent, if it is certain which call that is: the one that has ended with the sub-agent's name,
 * the one whose task the sub-agent names, or the only one of its type. Returns the call; null if none is certain or that session has one already.
 */
export async function bindAgentCall(
  tx: Tx,
  projectId: string,
  sessionId: string,
  boundSessionId: string,
  evidence: AgentCallEvidence,
): Promise<OpenAgentCall | null> {
  const { sql } = tx
  const matches =
    'toolUseId' in evidence
      ? sql`tool_use_id = ${evidence.toolUseId}`
      : 'taskIds' in evidence
        ? sql`task_id = any(${evidence.taskIds as string[]}::uuid[])`
        : sql`subagent_type = ${evidence.subagentType}`
  const [row] = await sql<OpenAgentCall[]>`
    with open as materialized (
      select id, task_id from hook_reservations
      where project_id = ${projectId} and session_id = ${sessionId} and bound_session_id is null and ${matches}
        and created_at > muster_now() - ${CALL_LASTS_SECONDS} * interval '1 second'
    )
    update hook_reservations r set bound_session_id = ${boundSessionId}, bound_at = muster_now()
    from open
    where r.id = open.id and r.bound_session_id is null and r.id = (select id from open order by id limit 1) and open.task_id is not null
      and (select count(${'taskIds' in evidence ? sql`distinct task_id` : sql`*`}) from open) = 1
      and not exists (select from hook_reservations where project_id = ${projectId} and bound_session_id = ${boundSessionId})
    returning r.id, r.task_id as "taskId", r.briefed_seq as seq, r.briefed_revision as revision`
  return row ?? null
}

/** Whether a session of Claude Code has calls with a task whose sub-agent is not certain. */
export async function hasOpenAgentCalls(tx: Tx, projectId: string, sessionId: string): Promise<boolean> {
  const rows = await tx.sql`
    select from hook_reservations where project_id = ${projectId} and session_id = ${sessionId} and bound_session_id is null and task_id is not null limit 1`
  return rows.length > 0
}

/** Forgets a call of a session that was not bound, or, without a tool use, all whose end is not still being handled. */
export async function deleteOpenAgentCalls(tx: Tx, projectId: string, sessionId: string, toolUseId: string | null): Promise<void> {
  const { sql } = tx
  const ended = toolUseId === null ? sql`created_at < muster_now() - ${CALL_ENDS_SECONDS} * interval '1 second'` : sql`tool_use_id = ${toolUseId}`
  await sql`delete from hook_reservations where project_id = ${projectId} and session_id = ${sessionId} and bound_session_id is null and ${ended}`
}

/** The definition of a subtask's sub-agent, and whether it runs in the background; null for a subtask without a sub-agent. */
export async function findDefinitionOfSubtask(tx: Tx, subtaskId: string): Promise<{ definition: SubagentDefinition; background: boolean } | null> {
  const [row] = await tx.sql<{ definition: SubagentDefinition; background: boolean }[]>`
    select v.definition, s.background from subtasks s
    join subagent_versions v on v.project_id = s.project_id and v.name = s.subagent_name and v.version = s.subagent_version
    where s.id = ${subtaskId}`
  return row ?? null
}

/** The tasks that a session holds, at most a hundred, in the order of assignment. */
export async function listTasksOfSession(tx: Tx, projectId: string, sessionId: string): Promise<string[]> {
  const rows = await tx.sql<{ task_id: string }[]>`
    select task_id from assignments where project_id = ${projectId} and session_id = ${sessionId} and ended_at is null
    order by assigned_at, task_id limit 100`
  return rows.map((row) => row.task_id)
}

// SQL: the uses of a session are watched by a statement that asks for its assignment at the same time.
import type { LoopSettings } from '@muster/domain'
import type { Tx } from '../../client.ts'
import type { StoredToolUse } from '../../schema/session-tool-uses.ts'

/** A session that was silent for so long has ended, or does something else. Each new one removes some old ones, so that there are never many. */
const KEPT_SECONDS = 86_400
const REMOVED_MAX = 100

/** Begins to watch the uses of tools by a session that holds a task. Returns false where it holds none. */
export async function watchSession(tx: Tx, projectId: string, sessionId: string): Promise<boolean> {
  const rows = await tx.sql`
    insert into session_tool_uses (project_id, session_id, uses)
    select ${projectId}, ${sessionId}, '[]'::jsonb
    where exists (select from assignments where project_id = ${projectId} and session_id = ${sessionId} and ended_at is null)
    on conflict do nothing
    returning session_id`
  if (rows.length === 0) return (await tx.sql`select from session_tool_uses where project_id = ${projectId} and session_id = ${sessionId}`).length > 0
  await tx.sql`
    delete from session_tool_uses where project_id = ${projectId} and session_id in (
      select session_id from session_tool_uses
      where project_id = ${projectId} and updated_at < muster_now() - ${KEPT_SECONDS} * interval '1 second'
      order by updated_at limit ${REMOVED_MAX} for update skip locked)`
  return true
}

/** Locks and reads the uses of a watched session, with the loop rules of its project, if it has its own; null where it is not watched. */
export async function lockToolUses(tx: Tx, projectId: string, sessionId: string): Promise<{ uses: StoredToolUse[]; loops: LoopSettings | null } | null> {
  const [row] = await tx.sql<{ uses: StoredToolUse[]; loops: LoopSettings | null }[]>`
    select u.uses, p.settings -> 'loops' as loops from session_tool_uses u join projects p on p.id = u.project_id
    where u.project_id = ${projectId} and u.session_id = ${sessionId} for update of u`
  return row ?? null
}

/** Replaces the uses of a watched session. */
export async function writeToolUses(tx: Tx, projectId: string, sessionId: string, uses: readonly StoredToolUse[]): Promise<void> {
  await tx.sql`
    update session_tool_uses set uses = ${JSON.stringify(uses)}::jsonb, updated_at = muster_now() where project_id = ${projectId} and session_id = ${sessionId}`
}

/** Stops watching a session. */
export async function forgetToolUses(tx: Tx, projectId: string, sessionId: string): Promise<void> {
  await tx.sql`delete from session_tool_uses where project_id = ${projectId} and session_id = ${sessionId}`
}

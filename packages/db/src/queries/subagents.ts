// SQL: spawns find and lock definitions with these statements, and each decides what counts in one step.
import type { BackgroundMcpPolicy, SubagentDefinition, SubagentSource } from '@muster/domain'
import type { Tx } from '../client.ts'

/** The newest stored version of a sub-agent. */
export interface StoredSubagent {
  version: number
  /** The source of that version. */
  source: SubagentSource
  contentHash: Buffer
  /** The definition that the API stored and did not delete, which counts. Null for a version that was only run. */
  put: SubagentDefinition | null
}

interface StoredRow {
  version: number | null
  source: SubagentSource
  content_hash: Buffer
  put: SubagentDefinition | null
}

/** What is stored under a name, and the project's policy: all that a spawn needs, in one statement and without a lock. */
export async function findSubagent(tx: Tx, projectId: string, name: string): Promise<{ stored: StoredSubagent | null; policy: BackgroundMcpPolicy | null }> {
  const [row] = await tx.sql<(StoredRow & { policy: BackgroundMcpPolicy | null })[]>`
    select p.settings ->> 'background_mcp' as policy, s.version, v.source, v.content_hash,
      case when s.source = 'api' and s.deleted_at is null then v.definition end as put
    from projects p
    left join subagents s on s.project_id = p.id and s.name = ${name}
    left join subagent_versions v on v.project_id = s.project_id and v.name = s.name and v.version = s.version
    where p.id = ${projectId}`
  return { stored: toStored(row), policy: row?.policy ?? null }
}

/**
 * The same under the lock of its row, which is inserted if it is missing, so that only one of several transactions makes the next version. Such locks
 * come after those of tasks, subtasks and schedules, and before those of lanes.
 */
export async function lockSubagent(tx: Tx, projectId: string, name: string, source: SubagentSource): Promise<StoredSubagent | null> {
  await tx.sql`insert into subagents (project_id, name, version, source) values (${projectId}, ${name}, 0, ${source}) on conflict do nothing`
  return await lockKnownSubagent(tx, projectId, name)
}

/**
 * The same for an existing one; null if there is none. The lock is a statement of its own: a statement that waited for it would join the current row
 * with versions from before.
 */
export async function lockKnownSubagent(tx: Tx, projectId: string, name: string): Promise<StoredSubagent | null> {
  await tx.sql`select from subagents where project_id = ${projectId} and name = ${name} for update`
  const [row] = await tx.sql<StoredRow[]>`
    select s.version, v.source, v.content_hash, case when s.source = 'api' and s.deleted_at is null then v.definition end as put
    from subagents s
    left join subagent_versions v on v.project_id = s.project_id and v.name = s.name and v.version = s.version
    where s.project_id = ${projectId} and s.name = ${name}`
  return toStored(row)
}

/** Stores the next version of a locked sub-agent, with the number that the definition has. */
export async function insertSubagentVersion(tx: Tx, projectId: string, definition: SubagentDefinition, contentHash: Buffer): Promise<void> {
  const { name, version, source } = definition
  await tx.sql`
    insert into subagent_versions (project_id, name, version, source, definition, content_hash)
    values (${projectId}, ${name}, ${version}, ${source}, ${JSON.stringify(definition)}::text::jsonb, ${contentHash})`
  await tx.sql`
    update subagents set version = ${version}, source = ${source}, deleted_at = null, updated_at = muster_now()
    where project_id = ${projectId} and name = ${name}`
}

/** Deletes a locked sub-agent that the API stored. Its versions stay, because runs name them. */
export async function deleteSubagent(tx: Tx, projectId: string, name: string): Promise<void> {
  await tx.sql`update subagents set deleted_at = muster_now(), updated_at = muster_now() where project_id = ${projectId} and name = ${name}`
}

/** The definition of one version. */
export async function findSubagentVersion(tx: Tx, projectId: string, name: string, version: number): Promise<SubagentDefinition | null> {
  const [row] = await tx.sql<{ definition: SubagentDefinition }[]>`
    select definition from subagent_versions where project_id = ${projectId} and name = ${name} and version = ${version}`
  return row?.definition ?? null
}

/** A definition in lists. */
export type SubagentSummary = Omit<SubagentDefinition, 'instructions' | 'unknownValues'>

/** Sub-agents that the API stored, by name, after the given one. */
export async function listPutSubagents(tx: Tx, projectId: string, afterName: string, limit: number): Promise<SubagentSummary[]> {
  const rows = await tx.sql<{ summary: SubagentSummary }[]>`
    select v.definition - array['instructions', 'unknownValues'] as summary
    from subagents s
    join subagent_versions v on v.project_id = s.project_id and v.name = s.name and v.version = s.version
    where s.project_id = ${projectId} and s.source = 'api' and s.deleted_at is null and s.name collate "C" > ${afterName}
    order by s.name collate "C" limit ${limit}`
  return rows.map((row) => row.summary)
}

/** The newest stored version of each of some names, without its definition. */
export async function listNewestVersions(
  tx: Tx,
  projectId: string,
  names: readonly string[],
): Promise<Map<string, Omit<StoredSubagent, 'put'> & { isPut: boolean }>> {
  if (names.length === 0) return new Map()
  const rows = await tx.sql<{ name: string; version: number; source: SubagentSource; content_hash: Buffer; is_put: boolean }[]>`
    select s.name, s.version, v.source, v.content_hash, s.source = 'api' and s.deleted_at is null as is_put
    from subagents s
    join subagent_versions v on v.project_id = s.project_id and v.name = s.name and v.version = s.version
    where s.project_id = ${projectId} and s.name = any(${names as string[]})`
  return new Map(rows.map((row) => [row.name, { version: row.version, source: row.source, contentHash: row.content_hash, isPut: row.is_put }]))
}

/** How long runs of sub-agents with a target have taken so far, and their targets. */
export async function findTargets(tx: Tx, ids: readonly string[]): Promise<Map<string, { targetMs: number; tookMs: number }>> {
  const rows = await tx.sql<{ id: string; target_ms: number; took_ms: number }[]>`
    select s.id, (v.definition ->> 'targetLatencyMs')::int as target_ms, round(extract(epoch from muster_now() - s.started_at) * 1000 - s.lost_ms - s.waited_ms)::int as took_ms
    from subtasks s
    join subagent_versions v on v.project_id = s.project_id and v.name = s.subagent_name and v.version = s.subagent_version
    where s.id = any(${ids as string[]}::uuid[]) and v.definition ->> 'targetLatencyMs' is not null`
  return new Map(rows.map((row) => [row.id, { targetMs: row.target_ms, tookMs: row.took_ms }]))
}

function toStored(row: StoredRow | undefined): StoredSubagent | null {
  // A row that this transaction inserted to lock it has the number 0.
  if (row === undefined || row.version === null || row.version === 0) return null
  return { version: row.version, source: row.source, contentHash: row.content_hash, put: row.put }
}

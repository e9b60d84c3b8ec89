// SQL: spawns write here, many in one statement.
import type { AuditDoor, AuditEntry, Origin } from '@muster/domain'
import type { Tx } from '../client.ts'

/** A write as it is recorded. */
export interface NewAuditEntry extends Pick<AuditEntry, 'actor' | 'origin'> {
  /** Written only if this subtask is there: of a write whose outcome is not known when its entry is sent. */
  onlyWithSubtaskId?: string | null
}

/** Columns by their names, for JSON that a statement takes apart. */
export function toAuditRecord({ actor, origin, onlyWithSubtaskId }: NewAuditEntry): Record<string, unknown> {
  return {
    subtask_id: onlyWithSubtaskId ?? null,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    door: origin.door,
    address: origin.address,
    operation: origin.operation,
    request_id: origin.requestId,
    ids: origin.ids,
    fields: origin.fields,
  }
}

/** Records writes in the transaction that makes them. Needs no answer, so it may travel with the COMMIT. */
export async function insertAuditEntries({ sql }: Tx, projectId: string, entries: readonly NewAuditEntry[]): Promise<void> {
  const rows = entries.map(toAuditRecord)
  const subtaskIds = entries.flatMap(({ onlyWithSubtaskId }) => onlyWithSubtaskId ?? [])
  await sql`
    with moment as materialized (select muster_now() as now)
    insert into audit_log (project_id, at, actor_kind, actor_id, actor_name, door, address, operation, request_id, ids, fields)
    select ${projectId}, moment.now, e.actor_kind, e.actor_id, e.actor_name, e.door, e.address, e.operation, e.request_id, e.ids, e.fields
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as e(subtask_id uuid, actor_kind text, actor_id text, actor_name text, door text, address text, operation text, request_id text, ids jsonb, fields text[])
      cross join moment
    where e.subtask_id is null or e.subtask_id = any(array(select id from subtasks where id = any(${subtaskIds}::uuid[])))`
}

export interface AuditFilter {
  actorId?: string | undefined
  operation?: string | undefined
  /** An id that a write names or has made. */
  subject?: string | undefined
  door?: AuditDoor | undefined
  since?: Date | undefined
  until?: Date | undefined
}

interface Row {
  seq: number
  at: string
  actor_kind: string
  actor_id: string
  actor_name: string | null
  door: AuditDoor
  address: string | null
  operation: string
  request_id: string | null
  ids: string | Origin['ids']
  fields: string[]
}

/** Entries of the project beyond a place, in one direction or the other. */
export async function listAuditEntries(
  { sql }: Tx,
  projectId: string,
  filter: AuditFilter,
  { beyond, order, limit }: { beyond: number | undefined; order: 'newest_first' | 'oldest_first'; limit: number },
): Promise<AuditEntry[]> {
  const place = beyond ?? null
  const isDown = order === 'newest_first'
  const rows = await sql<Row[]>`
    select seq, at, actor_kind, actor_id, actor_name, door, address, operation, request_id, ids, fields from audit_log
    where project_id = ${projectId}
      and (${place}::bigint is null or ${isDown ? sql`seq < ${place}` : sql`seq > ${place}`})
      and (${filter.actorId ?? null}::text is null or actor_id = ${filter.actorId ?? null})
      and (${filter.operation ?? null}::text is null or operation = ${filter.operation ?? null})
      and (${filter.door ?? null}::text is null or door = ${filter.door ?? null})
      and (${filter.since?.toISOString() ?? null}::timestamptz is null or at >= ${filter.since?.toISOString() ?? null}::timestamptz)
      and (${filter.until?.toISOString() ?? null}::timestamptz is null or at < ${filter.until?.toISOString() ?? null}::timestamptz)
      and (${filter.subject ?? null}::text is null or exists (select from jsonb_each_text(ids) as named where named.value = ${filter.subject ?? null}))
    order by ${isDown ? sql`seq desc` : sql`seq`} limit ${limit}`
  return rows.map((row) => ({
    seq: row.seq,
    at: new Date(row.at),
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    origin: {
      door: row.door,
      address: row.address,
      operation: row.operation,
      requestId: row.request_id,
      ids: typeof row.ids === 'string' ? (JSON.parse(row.ids) as Origin['ids']) : row.ids,
      fields: row.fields,
    },
  }))
}

/** Deletes entries that are older than so many days, across projects, and says how many. The function itself refuses fewer than 30. */
export async function deleteOldAuditEntries({ sql }: Pick<Tx, 'sql'>, days: number, limit: number): Promise<number> {
  const [row] = await sql<{ deleted: number }[]>`select muster_delete_audit(${days}, ${limit}) as deleted`
  return row?.deleted ?? 0
}

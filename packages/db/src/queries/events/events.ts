import { createHash } from 'node:crypto'
import { isUuid, type LoggedEvent } from '@muster/domain'
import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { events } from '../../schema/events.ts'

export interface EventFilter {
  /** Of one project, or of all where the pool may see them. */
  projectId?: string | undefined
  afterSeq: number
  types?: readonly string[] | undefined
  /** Ids, or names of subjects that have one instead. */
  subjectIds?: readonly string[] | undefined
  limit: number
}

/** Events in the order of the log. */
export async function readEvents(tx: Tx, filter: EventFilter): Promise<LoggedEvent[]> {
  const conditions = [
    gt(events.seq, filter.afterSeq),
    filter.projectId === undefined ? undefined : eq(events.projectId, filter.projectId),
    filter.types === undefined ? undefined : inArray(events.type, [...filter.types]),
    filter.subjectIds === undefined ? undefined : inArray(events.subjectId, filter.subjectIds.map(subjectKey)),
  ].filter((condition) => condition !== undefined)
  const rows = await tx.orm
    .select()
    .from(events)
    .where(and(...conditions))
    .orderBy(asc(events.seq))
    .limit(filter.limit)
  return rows.map((row) => ({
    id: row.seq,
    type: row.type,
    at: row.at,
    projectId: row.projectId,
    subject: { kind: row.subjectKind as LoggedEvent['subject']['kind'], id: row.subjectName ?? row.subjectId },
    data: row.data,
    actor: { kind: row.actorKind, id: row.actorId },
  }))
}

/** The lowest and highest places of the log that are kept; both 0 while it is empty. */
export async function logBounds(tx: Tx): Promise<{ oldestSeq: number; latestSeq: number }> {
  const [row] = await tx.orm.execute<{ oldest: number; latest: number }>(sql`
    select coalesce((select seq from events order by seq limit 1), 0) as oldest, coalesce((select seq from events order by seq desc limit 1), 0) as latest`)
  return { oldestSeq: row?.oldest ?? 0, latestSeq: row?.latest ?? 0 }
}

/**
 * The key of a subject in the index of the log: its id, or an id made from its name if it has no id, as guides do. The name cannot be read back
 * from it, so it is stored as well.
 */
export function subjectKey(idOrName: string): string {
  if (isUuid(idOrName)) return idOrName
  const hex = createHash('sha256').update(idOrName).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The name of a subject that has no id. */
export function subjectName(idOrName: string): string | null {
  return isUuid(idOrName) ? null : idOrName
}

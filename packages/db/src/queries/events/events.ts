import { createHash } from 'node:crypto'
import { isUuid, type LoggedEvent } from '@muster/domain'
import { and, asc, eq, gt, inArray, lte, sql } from 'drizzle-orm'
import { pipeline, type Tx } from '../../client.ts'
import { events } from '../../schema/events.ts'
import { planForValues } from '../core/lists.ts'

export interface EventFilter {
  /** Of one project, or of all where the pool may see them. */
  projectId?: string | undefined
  afterSeq: number
  /** The last place to read: a statement locks the partitions between the two. */
  throughSeq: number
  types?: readonly string[] | undefined
  /** Ids, or names of subjects that have one instead. */
  subjectIds?: readonly string[] | undefined
  limit: number
}

/** Events in the order of the log. */
export async function readEvents(tx: Tx, filter: EventFilter): Promise<LoggedEvent[]> {
  const conditions = [
    gt(events.seq, filter.afterSeq),
    lte(events.seq, filter.throughSeq),
    filter.projectId === undefined ? undefined : eq(events.projectId, filter.projectId),
    filter.types === undefined ? undefined : inArray(events.type, [...filter.types]),
    filter.subjectIds === undefined ? undefined : inArray(events.subjectId, filter.subjectIds.map(subjectKey)),
  ].filter((condition) => condition !== undefined)
  const [, rows] = await pipeline([
    planForValues(tx),
    tx.orm
      .select()
      .from(events)
      .where(and(...conditions))
      .orderBy(asc(events.seq))
      .limit(filter.limit),
  ])
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

export interface LogReach {
  /** The last place; 0 while the log is empty. */
  latestSeq: number
  /** The place behind each partition from the one after `afterSeq` to that of the last event, in their order. */
  partitionEnds: number[]
}

/** Up to where the log of a project has been dropped; 0 if nothing was. */
export async function prunedThrough(tx: Pick<Tx, 'orm'>, projectId: string): Promise<number> {
  const [row] = await tx.orm.execute<{ through: number }>(sql`select through_seq as through from muster_system.pruned_events where project_id = ${projectId}`)
  return row?.through ?? 0
}

/** What there is to read after a place of the log. Everything up to `latestSeq` is committed, so no event appears there later. */
export async function logReach(tx: Pick<Tx, 'orm'>, afterSeq: number): Promise<LogReach> {
  const [row] = await tx.orm.execute<{ latest: number; ends: number[] }>(sql`select latest, ends from muster_log_ends(${afterSeq})`)
  return { latestSeq: row?.latest ?? 0, partitionEnds: (row?.ends ?? []).map(Number) }
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

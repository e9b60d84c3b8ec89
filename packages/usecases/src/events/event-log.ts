import { events, transaction } from '@muster/db'
import { DomainError, type LoggedEvent, notFound, ownSubjectId, requireScope } from '@muster/domain'
import { type Ctx, type Deps, reading, readingMany } from '../core/ctx.ts'

export interface EventQuery {
  afterSeq: number
  types?: readonly string[] | undefined
  subjectId?: string | undefined
  limit: number
}

/**
 * Events of the actor's project in the order of the log. A sub-agent's own credential sees only events about its own work.
 *
 * @throws DomainError `cursor_pruned` when events after the cursor have been dropped
 */
export async function readEvents(ctx: Ctx, query: EventQuery): Promise<LoggedEvent[]> {
  requireScope(ctx.actor, 'events:read')
  const own = ownSubjectId(ctx.actor)
  if (own !== undefined && query.subjectId !== undefined && query.subjectId !== own) throw notFound('subtask')
  const subjectId = own ?? query.subjectId
  const { projectId } = ctx.actor
  const reach = await reachOf(ctx, query.afterSeq)
  const subjectIds = subjectId === undefined ? undefined : [subjectId]
  const found = await readParts(query, reach, (part) => readingMany(ctx, (tx) => events.readEvents(tx, { ...part, projectId, types: query.types, subjectIds })))
  // Afterwards, so that what was dropped meanwhile counts as well.
  const pruned = query.afterSeq === 0 ? 0 : await reading(ctx, (tx) => events.prunedThrough(tx, projectId))
  if (query.afterSeq < pruned) {
    throw new DomainError('cursor_pruned', `Events up to ${pruned} are no longer kept. Start again with after=0, the oldest that is kept.`, {
      oldest: pruned + 1,
    })
  }
  return found
}

/** The last place of the log, over all projects. */
export async function latestEventSeq(deps: Pick<Deps, 'dispatchDb'>): Promise<number> {
  return (await reachOf(deps, Number.MAX_SAFE_INTEGER - 1)).latestSeq
}

/** For the one tailer of a process, which hands events on to readers of their projects only. */
export async function readEventsAcrossProjects(deps: Pick<Deps, 'dispatchDb'>, afterSeq: number, limit: number): Promise<LoggedEvent[]> {
  const reach = await reachOf(deps, afterSeq)
  return await readParts({ afterSeq, limit }, reach, (part) => transaction(deps.dispatchDb, null, (tx) => events.readEvents(tx, part)))
}

function reachOf(deps: Pick<Deps, 'dispatchDb'>, afterSeq: number): Promise<events.LogReach> {
  return transaction(deps.dispatchDb, null, (tx) => events.logReach(tx, afterSeq))
}

/** The most partitions that one statement reads. It locks each of them, with its indexes. */
const PARTITIONS_AT_ONCE = 16

/**
 * Reads the log a few partitions at a time, each time in a transaction of its own, because locks are held until its end. More at a time if there is little to
 * find. What was logged after `reach` was read is left to the next page: it might be in a partition that has been read already.
 */
async function readParts(
  { afterSeq, limit }: Pick<EventQuery, 'afterSeq' | 'limit'>,
  { latestSeq, partitionEnds }: events.LogReach,
  read: (part: { afterSeq: number; throughSeq: number; limit: number }) => Promise<LoggedEvent[]>,
): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = []
  let after = afterSeq
  for (let place = 0, count = 1; after < latestSeq && place < partitionEnds.length && found.length < limit; count = Math.min(count * 2, PARTITIONS_AT_ONCE)) {
    place += count
    const end = partitionEnds[Math.min(place, partitionEnds.length) - 1] as number
    const throughSeq = Math.min(end - 1, latestSeq)
    found.push(...(await read({ afterSeq: after, throughSeq, limit: limit - found.length })))
    after = throughSeq
  }
  return found
}

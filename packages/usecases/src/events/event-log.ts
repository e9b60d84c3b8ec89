import { events, outbox, transaction } from '@muster/db'
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

const BATCH = 1_000

/** The relay runs this often in any case, in milliseconds, and finds the events of a process that died before it moved them. */
const RELAY_EVERY_MS = 1_000
/**
 * Each move waits for the disk and wakes the followers of the log, so under load the events of these milliseconds travel together. While the log has
 * followers, a few moves may come without a rest, as long as there are no more of them on average: the events of a lone subtask need not wait for others.
 */
const PACES = { followed: { restMs: 25, inAdvance: 3 }, otherwise: { restMs: 500, inAdvance: 0 } }
/** A process with followers says so every second: after this many milliseconds without a word, there are none. */
const FOLLOWED_MS = 3_000
export const SAY_FOLLOWED_EVERY_MS = 1_000

/** The pace of the relay, which every process has. A process that writes events wakes its own relay. */
export interface RelayPace {
  everyMs: number
  /** How long the next move has to wait, in milliseconds. Asked once before each. */
  restMs(): number
  /** The log has followers now, in this process or another. */
  followed(): void
}

export function createRelayPace(): RelayPace {
  let untilMs = 0
  /** The rests of the moves so far that have not passed yet. */
  let owedMs = 0
  let askedMs = 0
  return {
    everyMs: RELAY_EVERY_MS,
    restMs() {
      const nowMs = performance.now()
      const { restMs, inAdvance } = nowMs < untilMs ? PACES.followed : PACES.otherwise
      owedMs = Math.min(Math.max(0, owedMs - (nowMs - askedMs)), restMs * (inAdvance + 1))
      askedMs = nowMs
      const waitMs = Math.max(0, owedMs - restMs * inAdvance)
      owedMs += restMs
      return waitMs
    },
    followed() {
      untilMs = performance.now() + FOLLOWED_MS
    },
  }
}

/**
 * Moves waiting events into the log. Returns whether there may be more, also while another process relays, because that may have begun
 * before the events of this process existed.
 */
export async function relayOutbox(deps: Deps): Promise<boolean> {
  const moved = await outbox.moveOutbox(deps.dispatchDb.sql, BATCH)
  if (moved !== null && moved > 0) deps.notifier.notify('logged')
  return moved === null || moved >= BATCH
}

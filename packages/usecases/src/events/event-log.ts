import { events, outbox, transaction } from '@muster/db'
import { DomainError, type LoggedEvent, notFound, ownSubjectId, requireScope } from '@muster/domain'
import { type Ctx, type Deps, reading } from '../core/ctx.ts'

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
  if (query.afterSeq > 0) {
    // The log is pruned as a whole: its first event, not that of the project, tells what is gone.
    const { oldestSeq } = await transaction(ctx.dispatchDb, null, (tx) => events.logBounds(tx))
    if (query.afterSeq < oldestSeq - 1) {
      throw new DomainError('cursor_pruned', `Events up to ${oldestSeq - 1} are no longer kept. Start again with after=0, the oldest that is kept.`, {
        oldest: oldestSeq,
      })
    }
  }
  return await reading(ctx, (tx) =>
    events.readEvents(tx, {
      projectId: ctx.actor.projectId,
      afterSeq: query.afterSeq,
      types: query.types,
      subjectIds: subjectId === undefined ? undefined : [subjectId],
      limit: query.limit,
    }),
  )
}

/** The last place of the log, over all projects. */
export async function latestEventSeq(deps: Deps): Promise<number> {
  return (await transaction(deps.dispatchDb, null, (tx) => events.logBounds(tx))).latestSeq
}

/** For the one tailer of a process, which hands events on to readers of their projects only. */
export async function readEventsAcrossProjects(deps: Deps, afterSeq: number, limit: number): Promise<LoggedEvent[]> {
  return await transaction(deps.dispatchDb, null, (tx) => events.readEvents(tx, { afterSeq, limit }))
}

const BATCH = 1_000

/** The relay runs this often in any case, in milliseconds, and finds the events of a process that died before it moved them. */
const RELAY_EVERY_MS = 1_000
/**
 * Each move waits for the disk and wakes the followers of the log, so under load the events of these milliseconds travel together. While the log has
 * followers, a few moves may come without a rest, as long as there are no more of them on average: the events of a lone subtask need not wait for others.
 */
const PACES = { followed: { restMs: 25, inAdvance: 3 }, otherwise: { restMs: 250, inAdvance: 0 } }
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
  return moved === null || moved === BATCH
}

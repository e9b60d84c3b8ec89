import { scheduleSlots, schedules } from '@muster/db'
import { nextFiring, notFound, requireFound, requireScope, SCHEDULE_STATES, type Schedule, type ScheduleRun, type ScheduleState } from '@muster/domain'
import { type Ctx, reading, readingMany } from '../core/ctx.ts'
import { idInCursor, type Page, page } from '../core/page.ts'

/** @throws DomainError `not_found` */
export async function getSchedule(ctx: Ctx, id: string): Promise<Schedule> {
  requireScope(ctx.actor, 'schedules:read')
  return requireFound(await reading(ctx, (tx) => schedules.findSchedule(tx, id)), 'schedule')
}

/** So many firings are computed without a pause: each takes a moment where a time zone has to be asked. */
const AT_ONCE = 25

export interface Firings {
  /** In order. */
  firings: Date[]
  /** Whether more would come until then. */
  isCut: boolean
}

/**
 * The times at which a schedule fires next, as it is now. None if it is not active.
 *
 * @param until the last time that counts; absent: as far as the limit goes
 * @param limit how many at most
 * @throws DomainError `not_found`
 */
export async function listFirings(ctx: Ctx, id: string, { until, limit }: { until?: Date | undefined; limit: number }): Promise<Firings> {
  const { state, timing, timezone, nextFireAt, maxFires, fireCount } = await getSchedule(ctx, id)
  const left = maxFires === null ? Number.POSITIVE_INFINITY : maxFires - fireCount
  const firings: Date[] = []
  for (let next = state === 'active' ? nextFireAt : null; next !== null && (until === undefined || next <= until); next = nextFiring(timing, timezone, next)) {
    if (firings.length === Math.min(limit, left)) return { firings, isCut: left > limit }
    firings.push(next)
    if (firings.length % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return { firings, isCut: false }
}

export interface ScheduleQuery {
  /** Only those that fire, or only those that do not; absent: all of them. */
  active?: boolean | undefined
  agentId?: string | undefined
  limit: number
  cursor?: string | undefined
}

const INACTIVE: ScheduleState[] = SCHEDULE_STATES.filter((state) => state !== 'active')

/** Newest first. */
export async function listSchedules(ctx: Ctx, query: ScheduleQuery): Promise<Page<Schedule>> {
  requireScope(ctx.actor, 'schedules:read')
  const beforeId = idInCursor(query.cursor)
  const states = query.active === undefined ? undefined : query.active ? (['active'] as const) : INACTIVE
  const agentId = ctx.actor.agentId ?? query.agentId
  const items = await readingMany(ctx, (tx) => schedules.listSchedules(tx, ctx.actor.projectId, { states, agentId, beforeId, limit: query.limit + 1 }))
  return page(items, query.limit, (last) => last.id)
}

/**
 * What became of the slots of a schedule, and its triggered runs; newest first.
 *
 * @throws DomainError `not_found`
 */
export async function listScheduleRuns(ctx: Ctx, id: string, query: { limit: number; cursor?: string | undefined }): Promise<Page<ScheduleRun>> {
  requireScope(ctx.actor, 'schedules:read')
  const beforeId = idInCursor(query.cursor)
  const items = await readingMany(ctx, async (tx) => {
    if ((await schedules.findSchedule(tx, id)) === null) throw notFound('schedule')
    return await scheduleSlots.listRuns(tx, ctx.actor.projectId, id, { beforeId, limit: query.limit + 1 })
  })
  return page(items, query.limit, (last) => last.id)
}

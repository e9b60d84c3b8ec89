import { outbox, transaction } from '@muster/db'
import type { LoggedEvent, NewEvent } from '@muster/domain'
import { drain, drainOutbox, type Harness, invariants, spawnMany, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createFailureReport, latestEventSeq, readEvents, readEventsAcrossProjects, relayOutbox, startRelay } from '../index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness({ settings: { SUBTASK_MAX_PENDING: '1000' } })
})

afterAll(() => harness.close())

describe('the log', () => {
  it('shows a follower everything, in the order of each subject, whoever publishes and relays', async () => {
    const publishers = 8
    const rounds = 60
    const subjects = Array.from({ length: 4 }, () => harness.deps.newId())
    const counts = new Map<string, number>()
    const projectId = harness.ctx.actor.projectId
    let isPublished = false

    const publish = async (publisher: number) => {
      for (let round = 0; round < rounds; round += 1) {
        const subject = subjects[(publisher + round) % subjects.length] as string
        await transaction(harness.deps.db, projectId, async (tx) => {
          // As every use-case does: the subject's lock first, then the event. Some transactions take their time after that.
          await tx.sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 5))`
          const nth = (counts.get(subject) ?? 0) + 1
          counts.set(subject, nth)
          const event: NewEvent = {
            type: 'subtask.progress',
            subject: { kind: 'subtask', id: subject },
            data: { nth },
            actor: { kind: 'system', id: `p${publisher}` },
          }
          await outbox.publish(tx, projectId, [event, { ...event, type: 'update.queued' }])
          for (let more = 0; more < (publisher + round) % 4; more += 1) await tx.sql`select 1`
        })
      }
    }
    const relay = async () => {
      while (!isPublished) await relayOutbox(harness.deps)
    }
    const seen: LoggedEvent[] = []
    let isRelayed = false
    const follow = async () => {
      for (;;) {
        const wasRelayed = isRelayed
        const page = await readEventsAcrossProjects(harness.deps, seen.at(-1)?.id ?? 0, 37)
        seen.push(...page)
        if (wasRelayed && page.length === 0) return
      }
    }
    const following = follow()
    const relaying = [relay(), relay(), relay()]
    await Promise.all(Array.from({ length: publishers }, (_, place) => publish(place)))
    isPublished = true
    await Promise.all(relaying)
    await drainOutbox(harness.deps)
    isRelayed = true
    await following

    expect(seen).toHaveLength(publishers * rounds * 2)
    expect(seen.every((event, place) => place === 0 || event.id > (seen[place - 1]?.id ?? 0))).toBe(true)
    for (const subject of subjects) {
      const own = seen.filter((event) => event.subject.id === subject)
      const expected = Array.from({ length: counts.get(subject) ?? 0 }, (_, place) => [`subtask.progress ${place + 1}`, `update.queued ${place + 1}`]).flat()
      expect(own.map((event) => `${event.type} ${event.data.nth}`)).toEqual(expected)
    }
    expect(await latestEventSeq(harness.deps)).toBe(seen.at(-1)?.id)
  })

  it('is written by one relay at a time, and another one goes away empty-handed', async () => {
    await spawnMany(harness.ctx, 3, { agentId: 'one-relay' })
    await transaction(harness.deps.dispatchDb, null, async (tx) => {
      expect(await outbox.moveOutbox(tx.sql, 100)).toBe(3)
      expect(await relayOutbox(harness.deps)).toBe(true)
      expect(await harness.admin`select from outbox`).toHaveLength(3)
    })
    expect(await harness.admin`select from outbox`).toHaveLength(0)
    await drain(harness.ctx)
  })

  it('takes the events of a statement as a whole, in their order, beside lone ones, and stops at the number it was given', async () => {
    const { projectId } = harness.ctx.actor
    const subject = harness.ctx.newId()
    const event = (nth: number) => ({
      type: 'subtask.progress' as const,
      subject: { kind: 'subtask' as const, id: subject },
      data: { nth },
      actor: { kind: 'system' as const, id: 'test' },
    })
    await drainOutbox(harness.deps)
    await transaction(harness.deps.db, projectId, (tx) => outbox.publish(tx, projectId, [event(1), event(2), event(3)]))
    // As a process of an earlier version writes it.
    await harness.admin`
      insert into outbox (project_id, type, subject_kind, subject_id, data, actor_kind, actor_id)
      values (${projectId}, 'subtask.progress', 'subtask', ${subject}, ${harness.admin.json({ nth: 4 })}, 'system', 'test')`
    await transaction(harness.deps.db, projectId, (tx) => outbox.publish(tx, projectId, [event(5), event(6)]))
    expect(await harness.admin`select (data ->> 'nth')::int as nth from muster_system.waiting_events order by id, place`).toEqual(
      [1, 2, 3, 4, 5, 6].map((nth) => ({ nth })),
    )
    expect(await outbox.moveOutbox(harness.deps.dispatchDb.sql, 4)).toBe(4)
    expect(await outbox.moveOutbox(harness.deps.dispatchDb.sql, 1)).toBe(2)
    expect(await outbox.moveOutbox(harness.deps.dispatchDb.sql, 1)).toBe(0)
    const logged = await readEvents(harness.ctx, { afterSeq: 0, subjectId: subject, limit: 100 })
    expect(logged.map(({ data }) => data.nth)).toEqual([1, 2, 3, 4, 5, 6])
    expect(logged.map(({ id }) => id - (logged[0]?.id ?? 0))).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('takes very many events of a statement as several rows, in their order', async () => {
    const { projectId } = harness.ctx.actor
    const subject = harness.ctx.newId()
    await drainOutbox(harness.deps)
    const event = (nth: number) => ({
      type: 'subtask.progress' as const,
      subject: { kind: 'subtask' as const, id: subject },
      data: { nth },
      actor: { kind: 'system' as const, id: 'test' },
    })
    const all = Array.from({ length: 2_500 }, (_, nth) => event(nth))
    await transaction(harness.deps.db, projectId, (tx) => outbox.publish(tx, projectId, all))
    expect(await harness.admin`select size from outbox order by id`).toEqual([{ size: 1_000 }, { size: 1_000 }, { size: 500 }])
    await drainOutbox(harness.deps)
    const logged = await harness.admin<{ nth: number }[]>`select (data ->> 'nth')::int as nth from events where subject_id = ${subject} order by seq`
    expect(logged.map(({ nth }) => nth)).toEqual(all.map(({ data }) => data.nth))
  })

  it.each([
    "batch, size) select id, array[row(null, 'subtask', id, null, '{}', 'system', 'test')::muster_event], 1",
    "type, subject_kind, subject_id, data, actor_kind) select id, 'subtask.progress', 'subtask', id, '{}', 'system'",
  ])('is not blocked by an incomplete event, because the outbox takes none: %s', async (row) => {
    await expect(harness.admin.unsafe(`insert into outbox (project_id, ${row} from projects limit 1`)).rejects.toThrow(/not-null|outbox_batch|null values/)
  })

  it('keeps everything in the outbox when a relay dies half-way', async () => {
    await spawnMany(harness.ctx, 2, { agentId: 'dying-relay' })
    const before = await latestEventSeq(harness.deps)
    await transaction(harness.deps.dispatchDb, null, async (tx) => {
      await outbox.moveOutbox(tx.sql, 100)
      throw new Error('died')
    }).catch(() => {})
    expect(await latestEventSeq(harness.deps)).toBe(before)
    await drain(harness.ctx)
    await drainOutbox(harness.deps)
    expect(await harness.admin`select from events where type = 'subtask.created' and data ->> 'agent_id' = 'dying-relay'`).toHaveLength(2)
  })

  it('wakes its readers with the commit that they can read', async () => {
    const notified = Promise.withResolvers<string[]>()
    const unlisten = await harness.deps.notifier.listen('events', (payloads) => payloads.length > 0 && notified.resolve(payloads))
    await spawnMany(harness.ctx, 1, { agentId: 'bell' })
    await drainOutbox(harness.deps)
    expect(Number((await notified.promise)[0])).toBe(await latestEventSeq(harness.deps))
    await unlisten()
    await drain(harness.ctx)
  })
})

describe('reading events', () => {
  it('shows a project its own, filtered by subject and type, in pages without gaps', async () => {
    const other = await harness.projectCtx()
    const [mine] = await spawnMany(harness.ctx, 1, { agentId: 'reader' })
    const [theirs] = await spawnMany(other, 1, { agentId: 'reader' })
    await drain(harness.ctx, other)
    await drainOutbox(harness.deps)
    const all = await readEvents(other, { afterSeq: 0, limit: 100 })
    const evaluated = await harness.admin<{ id: string }[]>`select id from evaluations where subtask_id = ${theirs?.id as string}`
    expect(all.map((event) => event.subject.id)).toEqual([theirs?.id, theirs?.id, evaluated[0]?.id, theirs?.id])
    expect(await readEvents(other, { afterSeq: 0, subjectId: mine?.id, limit: 100 })).toEqual([])
    expect((await readEvents(harness.ctx, { afterSeq: 0, subjectId: mine?.id, types: ['subtask.completed'], limit: 100 })).map((event) => event.type)).toEqual([
      'subtask.completed',
    ])

    const paged: LoggedEvent[] = []
    for (let page: LoggedEvent[] | undefined; page?.length !== 0; paged.push(...page))
      page = await readEvents(other, { afterSeq: paged.at(-1)?.id ?? 0, limit: 1 })
    expect(paged).toEqual(all)
  })

  it('lets a project that has no events yet go on from the end of the log', async () => {
    const newcomer = await harness.projectCtx()
    const end = await latestEventSeq(harness.deps)
    await spawnMany(harness.ctx, 2, { agentId: 'in-between' })
    const [first] = await spawnMany(newcomer, 1)
    await drainOutbox(harness.deps)
    expect((await readEvents(newcomer, { afterSeq: end, limit: 10 })).map((event) => event.subject.id)).toEqual([first?.id])
    await drain(harness.ctx, newcomer)
    await drainOutbox(harness.deps)
  })

  it('says so when what comes after a cursor has been dropped, and only to the project that lost something', async () => {
    const other = await harness.projectCtx()
    const [oldest] = await harness.admin<{ seq: number }[]>`select min(seq) as seq from events`
    const through = (oldest?.seq ?? 0) + 4
    await harness.admin`delete from events where seq <= ${through}`
    await harness.admin`insert into muster_system.pruned_events values (${harness.ctx.actor.projectId}, ${through})`
    await expect(readEvents(harness.ctx, { afterSeq: through - 1, limit: 10 })).rejects.toMatchObject({ code: 'cursor_pruned' })
    expect((await readEvents(harness.ctx, { afterSeq: through, limit: 10 })).length).toBe(10)
    expect((await readEvents(harness.ctx, { afterSeq: 0, limit: 10 })).length).toBe(10)
    expect(await readEvents(other, { afterSeq: through - 1, limit: 10 })).toEqual([])
  })
})

describe('everything', () => {
  it('went into the log once', async () => {
    const missing = (await invariants(harness.admin)).filter((problem) => problem.startsWith('no two events'))
    expect(missing).toEqual([])
  })

  it('takes up the events of a process that died before it moved them', async () => {
    const relay = startRelay(harness.deps, createFailureReport(harness.deps.log))
    try {
      await vi.waitFor(async () => expect(await harness.admin`select from outbox`).toEqual([]))
      const event: NewEvent = {
        type: 'subtask.progress',
        subject: { kind: 'subtask', id: harness.deps.newId() },
        data: {},
        actor: { kind: 'system', id: 'gone' },
      }
      for (let time = 0; time < 2; time += 1) {
        const before = await latestEventSeq(harness.deps)
        // Without a notification, which a process that was killed has not sent.
        await transaction(harness.deps.db, harness.ctx.actor.projectId, (tx) => outbox.publish(tx, harness.ctx.actor.projectId, [event]))
        await vi.waitFor(async () => expect(await latestEventSeq(harness.deps)).toBe(before + 1), 3_000)
      }
    } finally {
      await relay.stop()
    }
  })
})

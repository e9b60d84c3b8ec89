import { connect } from 'node:net'
import { testDatabase } from '@muster/testing'
import { cancelSubtask } from '@muster/usecases'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drainEvents, spawnExternal, startApi, type TestApi } from '../../testing/api.ts'

/** What a stream has sent: each event's id and type. */
interface Seen {
  id: number
  type: string
  data: { id: number; type: string; subject: { id: string } }
}

describe('event streams', () => {
  let place = 2e9
  let api: TestApi
  let address: string
  let key: string
  let adminUrl: string

  beforeAll(async () => {
    const database = await testDatabase()
    adminUrl = database.adminUrl
    api = await startApi(database, { SUBTASK_MAX_PENDING: '1000' })
    address = await api.app.listen({ port: 0, host: '127.0.0.1' })
    key = await api.key(['events:read', 'subtasks:read', 'subtasks:claim'])
  })
  afterAll(() => api.close())

  const open = (path: string, headers: Record<string, string> = {}, token = key) =>
    fetch(`${address}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } })

  /** Reads a stream until it has sent enough, or has ended. */
  const read = async (response: Response, isEnough: (seen: Seen[]) => boolean = () => false): Promise<Seen[]> => {
    let text = ''
    let seen: Seen[] = []
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      seen = [...text.matchAll(/^id: (\d+)\nevent: (.+)\ndata: (.+)\n\n/gm)].map(([, id, type, data]) => ({
        id: Number(id),
        type: type ?? '',
        data: JSON.parse(data ?? ''),
      }))
      if (isEnough(seen)) break
    }
    return seen
  }

  describe('GET /subtasks/{id}/events', () => {
    it('replays from the first event, follows, and closes after the last', async () => {
      const { id } = await spawnExternal(api.ctx)
      await drainEvents(api)
      const response = await open(`/subtasks/${id}/events`)
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      await cancelSubtask(api.ctx, id)
      const seen = await read(response)
      expect(seen.map(({ type }) => type)).toEqual(['subtask.created', 'subtask.cancelled'])
      expect(seen.every(({ id: place, data }) => place === data.id && data.subject.id === id)).toBe(true)
    })

    it('replays and closes when it has ended already', async () => {
      const { id } = await spawnExternal(api.ctx)
      await cancelSubtask(api.ctx, id)
      expect((await read(await open(`/subtasks/${id}/events`))).map(({ type }) => type)).toEqual(['subtask.created', 'subtask.cancelled'])
    })

    it('goes on after Last-Event-ID, and tells a reader that has all of it not to come again', async () => {
      const { id } = await spawnExternal(api.ctx)
      await cancelSubtask(api.ctx, id)
      const [created, cancelled] = await read(await open(`/subtasks/${id}/events`))
      const rest = await read(await open(`/subtasks/${id}/events?after=0`, { 'last-event-id': String(created?.id) }))
      expect(rest).toEqual([cancelled])
      expect((await open(`/subtasks/${id}/events`, { 'last-event-id': String(cancelled?.id) })).status).toBe(204)
    })

    it('hides the subtasks of others', async () => {
      const { id } = await spawnExternal(api.ctx)
      const strange = await api.key(['admin'], await api.stranger())
      expect((await open(`/subtasks/${id}/events`, {}, strange)).status).toBe(404)
    })
  })

  describe('GET /events', () => {
    it('begins now, and hands on what happens in this project alone', async () => {
      const response = await open('/events')
      const { id } = await spawnExternal(api.ctx)
      const stranger = await api.stranger()
      const theirs = await open('/events?after=0', {}, await api.key(['events:read'], stranger))
      await cancelSubtask(api.ctx, id)
      const seen = await read(response, (events) => events.length >= 2)
      expect(seen.slice(-2).map(({ type, data }) => [type, data.subject.id])).toEqual([
        ['subtask.created', id],
        ['subtask.cancelled', id],
      ])
      api.deps.feed.publish({
        id: 1e9,
        type: 'subtask.created',
        subject: { kind: 'subtask', id },
        data: {},
        actor: { kind: 'key', id: 'k' },
        at: new Date(0),
        projectId: stranger.projectId,
      })
      expect(await read(theirs, (events) => events.length > 0)).toMatchObject([{ id: 1e9 }])
    })

    it('misses nothing and repeats nothing while much happens', async () => {
      const before = await read(await open('/events?after=0'), (events) => events.length > 0)
      const spawning = Promise.all(Array.from({ length: 60 }, (_, place) => spawnExternal(api.ctx, { agentId: `busy-${place % 7}` })))
      const stream = await open(`/events?type=subtask.created`, { 'last-event-id': String(before.at(-1)?.id ?? 0) })
      const wanted = new Set((await spawning).map(({ id }) => id))
      const seen = await read(stream, (events) => events.filter(({ data }) => wanted.has(data.subject.id)).length === wanted.size)
      const ids = seen.map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids).toEqual([...ids].sort((left, right) => left - right))
    })

    it('shows a subtask’s own credential its own subtask alone', async () => {
      const { id } = await spawnExternal(api.ctx, { agentId: 'own', priority: 'urgent' })
      const other = await spawnExternal(api.ctx, { agentId: 'other' })
      const claims = api.key(['subtasks:claim'])
      let credential: string | undefined
      while (credential === undefined) {
        const claim = await api.call('POST', '/subtasks/claim', { key: await claims, body: { worker_id: 'w' } })
        if (claim.body.subtask.id === id) credential = claim.body.credential
      }
      expect((await open(`/events?subject=${other.id}`, {}, credential)).status).toBe(404)
      const seen = await read(await open('/events?after=0', {}, credential), (events) => events.length >= 2)
      expect(seen.every(({ data }) => data.subject.id === id)).toBe(true)
    })

    it('disconnects a reader that takes nothing in, so that it costs no memory', async () => {
      const reader = connect(Number(new URL(address).port), '127.0.0.1')
      const gone = new Promise((resolve) => reader.on('close', resolve))
      reader.on('error', () => {})
      reader.pause()
      // The readers of other tests are gone first.
      await expect.poll(() => api.deps.feed.size()).toBe(0)
      reader.write(`GET /events?after=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`)
      await expect.poll(() => api.deps.feed.size()).toBe(1)
      const big = {
        type: 'subtask.progress',
        subject: { kind: 'subtask', id: 's' },
        data: { text: 'x'.repeat(500_000) },
        actor: { kind: 'key', id: 'k' },
      } as const
      // What the kernel takes for it comes on top of what the server keeps.
      await expect
        .poll(
          () => {
            place += 1
            api.deps.feed.publish({ ...big, id: place, at: new Date(0), projectId: api.ctx.actor.projectId })
            return api.deps.feed.size()
          },
          { interval: 5, timeout: 15_000 },
        )
        .toBe(0)
      reader.resume()
      await gone
    })

    it('ends with the server', async () => {
      const other = await startApi(await testDatabase(), { AUTH: 'open' })
      const response = await fetch(`${await other.app.listen({ port: 0, host: '127.0.0.1' })}/events`)
      await other.close()
      expect(await read(response)).toEqual([])
    })

    it.each([
      ['a place that is none', { 'last-event-id': 'x' }, ''],
      ['a place above the log', { 'last-event-id': '999999999' }, ''],
    ])('400 cursor_invalid: %s', async (_, headers, query) => {
      const response = await open(`/events${query}`, headers)
      expect(await response.json()).toMatchObject({ status: 400, code: 'cursor_invalid' })
    })

    it('410 cursor_pruned: what comes after the cursor is no longer kept; from 0 on, the stream begins with what is', async () => {
      const { id } = await spawnExternal(api.ctx)
      await cancelSubtask(api.ctx, id)
      await drainEvents(api)
      const [first, second] = await read(await open(`/subtasks/${id}/events`))
      const admin = postgres(adminUrl, { max: 1 })
      await admin`delete from events where seq <= ${first?.id ?? 0}`
      await admin`insert into muster_system.pruned_events values (${api.ctx.actor.projectId}, ${first?.id ?? 0})`
      await admin.end()
      for (const [path, headers] of [
        ['/events', { 'last-event-id': '1' }],
        ['/events?after=1', {}],
        [`/subtasks/${id}/events?after=1`, {}],
      ] as const) {
        const response = await open(path, headers)
        expect(response.headers.get('content-type')).toContain('application/problem+json')
        expect(await response.json()).toMatchObject({ status: 410, code: 'cursor_pruned', oldest: expect.any(Number) })
      }
      expect(await read(await open(`/subtasks/${id}/events?after=0`))).toMatchObject([{ id: second?.id, type: 'subtask.cancelled' }])
    })

    it('400: refuses a type that there is not', async () => {
      expect((await open('/events?type=subtask.exploded')).status).toBe(400)
    })
  })
})

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from './harness/client.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { ClaimedSubtask, Problem, Subtask } from './harness/wire.ts'

let system: System

beforeAll(async () => {
  system = await startSystem({ apis: 2, workers: 0, env: { SUBTASK_MAX_PENDING: '1000', DEFAULT_RUNNER: 'external' } })
})
afterAll(() => system.close())

const count = async (): Promise<number> => (await system.admin`select from subtasks`).length
const withKey = (key: string) => ({ 'idempotency-key': key })
const spawn = (key: string, task = 'Count.', client = system.client) => client.call<Subtask>('POST', '/subtasks', { body: { task }, headers: withKey(key) })

describe('a POST with an Idempotency-Key', () => {
  it('that is repeated gets the first answer again, from every API process, and has one effect', async () => {
    const key = randomUUID()
    const before = await count()
    const first = await spawn(key)
    const answers = [await spawn(key), await spawn(key, 'Count.', system.apis[1]?.client)]

    expect(first.status).toBe(202)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    for (const answer of answers) {
      expect(answer.status).toBe(202)
      expect(answer.body).toEqual(first.body)
      expect(answer.headers.get('idempotent-replayed')).toBe('true')
      expect(answer.headers.get('location')).toBe(first.headers.get('location'))
    }
    expect(await count()).toBe(before + 1)
  })

  it('is refused for another body, with nothing changed', async () => {
    const key = randomUUID()
    await spawn(key)
    const before = await count()
    const { status, body } = (await spawn(key, 'Count again.')) as Answer<unknown> as Answer<Problem>

    expect([status, body.code]).toEqual([422, 'idempotency_mismatch'])
    expect(await count()).toBe(before)
  })

  it('belongs to whoever sent it: another key may use the same', async () => {
    const key = randomUUID()
    const mine = await spawn(key)
    const other = await system.mintKey(['subtasks:write'])
    const theirs = await spawn(key, 'Count.', system.client.as(other.key))

    expect(theirs.status).toBe(202)
    expect(theirs.body.id).not.toBe(mine.body.id)
  })

  it('is 409 request_in_progress with Retry-After while the first is being answered, and replayed afterwards', async () => {
    const key = randomUUID()
    const lane = 'an agent whose lane is held'
    const send = () => system.client.call<Subtask | Problem>('POST', '/subtasks', { body: { task: 'Count.', agent_id: lane }, headers: withKey(key) })
    const holding = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const projectId = system.ctx.actor.projectId
    const holder = system.admin.begin(async (sql) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${`${projectId}/${lane}`}, 0))`
      held.resolve()
      await holding.promise
    })
    await held.promise
    const first = send()
    await until(
      'the first request waits for the lane',
      async () => (await system.admin`select from pg_locks where locktype = 'advisory' and not granted`).length > 0,
    )
    const second = await send()
    holding.resolve()
    await holder

    expect([second.status, (second.body as Problem).code, second.headers.get('retry-after')]).toEqual([409, 'request_in_progress', '1'])
    const answer = await first
    expect(answer.status).toBe(202)
    const third = await send()
    expect([third.status, third.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
    expect(third.body).toEqual(answer.body)
  })

  it('is not used up by a refusal', async () => {
    const key = randomUUID()
    const refused = await system.client.call('POST', '/subtasks', { body: { task: '' }, headers: withKey(key) })
    expect(refused.status).toBe(400)
    const accepted = await spawn(key)
    expect([accepted.status, accepted.headers.get('idempotent-replayed')]).toEqual([202, null])
  })

  it('hands a claim out once: the same subtask, with new secrets, and without them in the database', async () => {
    const agent = randomUUID()
    await system.client.spawn({ task: 'Claim me.', agent_id: agent })
    const key = randomUUID()
    const claim = () => system.client.ok<ClaimedSubtask>('POST', '/subtasks/claim', { body: { worker_id: 'outside' }, headers: withKey(key) })
    const [first, second] = [await claim(), await claim()]

    expect(second.subtask.id).toBe(first.subtask.id)
    expect(second.lease.attempt).toBe(first.lease.attempt)
    expect(second.lease.token).not.toBe(first.lease.token)
    expect((await system.client.release(first)).status).toBe(412)
    const stored = JSON.stringify(await system.admin`select to_jsonb(i) from idempotency_keys i where key = ${key}`)
    for (const secret of [first.lease.token, second.lease.token, first.credential, second.credential]) expect(stored).not.toContain(secret)
    expect((await system.client.complete(second)).status).toBe(200)
  })

  it.each(['', ' ', 'x'.repeat(256), 'with a\ttab'])('%j is refused as a key that is none', async (key) => {
    const { status, body } = (await spawn(key)) as Answer<unknown> as Answer<Problem>
    expect([status, body.code]).toEqual([400, 'validation_failed'])
  })
})

describe('an API that is restarted or killed', () => {
  it('repeats what it answered before', async () => {
    const key = randomUUID()
    const api = await system.startApi()
    const first = await spawn(key, 'Count.', api.client)
    await api.child.end('SIGTERM')
    const back = await system.startApi({ PORT: new URL(api.address).port })
    const again = await spawn(key, 'Count.', back.client)

    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body).toEqual(first.body)
  })

  it('has accepted each request once after it was killed in the middle, however often clients ask again', async () => {
    const before = await count()
    const victim = await system.startApi()
    const keys = Array.from({ length: 40 }, () => randomUUID())
    let answered = 0
    const first = keys.map((key) =>
      spawn(key, 'Count.', victim.client).then(
        (answer) => {
          answered += 1
          if (answered === 5) victim.child.kill('SIGKILL')
          return answer.body.id
        },
        () => null,
      ),
    )
    const ids = await Promise.all(first)
    await victim.child.exited

    const repeated = await Promise.all(
      keys.map((key) =>
        // What the killed process left open ends with its connection, which the database notices in a moment.
        until('the request is answered', async () => {
          const answer = await spawn(key)
          return answer.status === 409 ? null : answer
        }),
      ),
    )
    expect(repeated.map(({ status }) => status)).toEqual(keys.map(() => 202))
    expect(ids.filter((id) => id !== null).length).toBeGreaterThanOrEqual(5)
    for (const [place, id] of ids.entries()) if (id !== null) expect(repeated[place]?.body.id).toBe(id)
    expect(new Set(repeated.map(({ body }) => body.id)).size).toBe(keys.length)
    expect(await count()).toBe(before + keys.length)
  })
})

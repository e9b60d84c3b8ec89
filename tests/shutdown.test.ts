import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { EventStream } from './harness/event-stream.ts'
import { startSystem } from './harness/system.ts'
import { isAlive, until, within } from './harness/until.ts'
import type { Subtask } from './harness/wire.ts'

const GRACE_SECONDS = 10

describe('a worker that is told to stop', () => {
  it('gives its running subtasks back within seconds, takes none any more, and exits with 0; others run them elsewhere', async () => {
    const system = await startSystem({ env: { SUBTASK_WORKERS: '2', SUBTASK_MAX_CONCURRENT: '4', SHUTDOWN_GRACE_SECONDS: String(GRACE_SECONDS) } })
    const { client, ledger } = system
    const [first] = system.workers
    const held = await Promise.all([1, 2].map((nth) => client.spawn({ task: `Hold ${nth}.`, runner: 'hold', parent_session_id: 'parent' })))
    const programs = await Promise.all(held.map(({ id }) => ledger.written(id, 'start', 1)))
    const waiting = await client.spawn({ task: 'Wait for a place.', runner: 'hold' })

    const startedAt = performance.now()
    expect(await first?.child.end('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(performance.now() - startedAt).toBeLessThan(GRACE_SECONDS * 1_000)
    expect(programs.filter(({ pid }) => isAlive(pid))).toEqual([])
    for (const { id } of held) expect(await client.get(id)).toMatchObject({ status: 'pending', attempt: 1, failures: 0, worker_id: null })
    expect(await client.get(waiting.id)).toMatchObject({ status: 'pending', attempt: 0 })
    expect(await system.invariants()).toEqual([])

    await system.startWorker({ SUBTASK_WORKERS: '3' })
    ledger.releaseAll()
    for (const { id } of held) {
      expect(await client.ended(id)).toMatchObject({ status: 'completed', attempt: 2, failures: 0, result: 'Held in attempt 2. Told: nothing' })
    }
    expect(await client.ended(waiting.id)).toMatchObject({ status: 'completed', attempt: 1 })
    const stream = await EventStream.open(client, `/subtasks/${held[0]?.id}/events`)
    await stream.ended()
    expect(stream.types.filter((type) => type !== 'subtask.progress')).toEqual([
      'subtask.created',
      'subtask.started',
      'subtask.released',
      'subtask.started',
      'subtask.completed',
    ])
    expect((await client.inbox('parent')).map((item) => item.subtask_id).sort()).toEqual(held.map(({ id }) => id).sort())
    await system.close()
  })

  it('passes what it runs on to a worker that is already there, without counting it as a failure', async () => {
    const system = await startSystem({ workers: 2, env: { SUBTASK_WORKERS: '1' } })
    const { id } = await system.client.spawn({ task: 'Hold.', runner: 'hold', max_attempts: 1 })
    await system.ledger.written(id, 'start', 1)
    const { worker_id } = await system.client.get(id)
    expect((await system.workerOf(worker_id).child.end('SIGTERM')).code).toBe(0)

    await system.ledger.written(id, 'start', 2)
    system.ledger.release(id)
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', attempt: 2, failures: 0 })
    await system.close()
  })
})

describe('an API that is told to stop', () => {
  it('ends its streams, answers its long polls, takes no more requests, and exits with 0, in time', async () => {
    const system = await startSystem({ env: { SHUTDOWN_GRACE_SECONDS: String(GRACE_SECONDS) } })
    const { child, client, address } = system.api
    const { id } = await client.spawn({ task: 'Hold.', runner: 'hold' })
    await system.ledger.written(id, 'start')
    const streams = await Promise.all(['/events?after=0', `/subtasks/${id}/events`].map((path) => EventStream.open(client, path)))
    await Promise.all(streams.map((stream) => stream.event('subtask.progress')))
    const claim = client.call('POST', '/subtasks/claim', { body: { worker_id: 'outside', wait_seconds: 60 } })
    const poll = client.call<Subtask>('GET', `/subtasks/${id}?wait_seconds=60`)
    const answered = Promise.all([claim, poll])
    // Looked at below; until then an early failure is not an accident.
    answered.catch(() => {})
    // Keep-alive connections that nobody uses must not hold it open either.
    const idle = connect(Number(new URL(address).port), '127.0.0.1')
    await new Promise((resolve) => idle.once('connect', resolve))
    const isWaiting = async () => (await client.ok<string>('GET', '/metrics')).includes('muster_event_subscriptions 3\n')
    await until('streams and long poll wait on the server', isWaiting)

    const startedAt = performance.now()
    child.kill('SIGTERM')
    await Promise.all(streams.map((stream) => stream.ended(GRACE_SECONDS * 1_000)))
    const [claimed, polled] = await within('The answers of claim and long poll', GRACE_SECONDS * 1_000, answered)
    expect(claimed.status).toBe(204)
    expect(polled).toMatchObject({ status: 200, body: { status: 'running' } })
    expect(await within('The end', GRACE_SECONDS * 1_000, child.exited)).toEqual({ code: 0, signal: null })
    expect(performance.now() - startedAt).toBeLessThan(GRACE_SECONDS * 1_000)
    idle.destroy()
    await expect(fetch(new URL('/healthz', address))).rejects.toThrow()

    // The work went on without it.
    const back = await system.startApi()
    system.ledger.release(id)
    expect(await back.client.ended(id)).toMatchObject({ status: 'completed', attempt: 1 })
    await system.close()
  })
})

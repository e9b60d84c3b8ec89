import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EventStream } from './harness/event-stream.ts'
import { type System, startSystem } from './harness/system.ts'
import { isAlive, until, within } from './harness/until.ts'
import type { ClaimedSubtask, Problem, Subtask } from './harness/wire.ts'

const LEASE_SECONDS = 2
const TERMINAL = ['subtask.completed', 'subtask.failed', 'subtask.cancelled']

let system: System

beforeAll(async () => {
  system = await startSystem({ workers: 2, env: { SUBTASK_WORKERS: '2', SUBTASK_MAX_CONCURRENT: '8', SUBTASK_LEASE_SECONDS: String(LEASE_SECONDS) } })
})
afterAll(() => system.close())

async function spawnHeld(parent: string): Promise<Subtask> {
  const { id } = await system.client.spawn({ task: 'Hold until you are told to go on.', runner: 'hold', parent_session_id: parent })
  await system.ledger.written(id, 'start', 1)
  return await system.client.get(id)
}

/** What has to be true of a subtask that ended, whatever happened on the way. */
async function expectOneEnd(id: string, parent: string): Promise<string[]> {
  const stream = await EventStream.open(system.client, `/subtasks/${id}/events`)
  await stream.ended()
  expect(stream.types.filter((type) => TERMINAL.includes(type))).toHaveLength(1)
  expect((await system.client.inbox(parent)).map((item) => item.subtask_id)).toEqual([id])
  expect(await system.client.inbox(parent)).toEqual([])
  return stream.types.filter((type) => type !== 'subtask.progress')
}

describe('a worker that is killed half-way', () => {
  it('loses its subtask to another one, which finishes it: one terminal event, one inbox item, and its program is gone', async () => {
    const held = await spawnHeld('killed')
    const program = await system.ledger.written(held.id, 'start', 1)
    await system.workerOf(held.worker_id).child.end('SIGKILL')

    const second = await system.ledger.written(held.id, 'start', 2)
    expect((await system.client.get(held.id)).worker_id).not.toBe(held.worker_id)
    await until('the program of the killed worker is gone', () => !isAlive(program.pid), 2_000)
    expect(isAlive(second.pid)).toBe(true)
    system.ledger.release(held.id)

    expect(await system.client.ended(held.id)).toMatchObject({
      status: 'completed',
      attempt: 2,
      failures: 1,
      result: 'Held in attempt 2. Told: nothing',
    })
    expect(await expectOneEnd(held.id, 'killed')).toEqual(['subtask.created', 'subtask.started', 'subtask.retrying', 'subtask.started', 'subtask.completed'])
    await system.startWorker()
  })

  it('fails a task that kills every worker, after max_attempts', async () => {
    // One more than it may kill.
    await system.startWorker()
    const before = system.workers.filter(({ child }) => !child.hasExited)
    expect(before).toHaveLength(3)
    const { id } = await system.client.spawn({ task: 'Bring the house down.', runner: 'kill-worker', parent_session_id: 'murder' })
    const ended = await system.client.ended(id)

    expect(ended).toMatchObject({ status: 'failed', final_outcome: 'worker_lost', attempt: 2, failures: 2, result: null })
    expect(ended.error).toContain('2 times')
    const dead = [system.ledger.find(id, 'start', 1)?.worker_pid, system.ledger.find(id, 'start', 2)?.worker_pid]
    const survivors = before.filter(({ child }) => !dead.includes(child.pid))
    expect(survivors.map(({ child }) => child.hasExited)).toEqual([false])
    expect(await expectOneEnd(id, 'murder')).toEqual(['subtask.created', 'subtask.started', 'subtask.retrying', 'subtask.started', 'subtask.failed'])
    await system.startWorker()
  })
})

describe('a worker that is killed while it runs a brief', () => {
  it('loses it to another one, which gets the brief as it is by then, and completes it', async () => {
    const task = await system.client.createTask({ title: 'Hold on', instructions: 'Hold until you are told to go on, the first time.' })
    const { id } = await system.client.ok<Subtask>('POST', `/tasks/${task.id}/dispatch`, { body: { runner: 'hold', parent_session_id: 'brief' } })
    expect((await system.ledger.written(id, 'start', 1)).text).toContain('the first time')
    // One change reaches the first run; it dies before another does.
    await system.client.revise(task.id, 1, { instructions: 'Hold until you are told to go on, the second time.' })
    await system.ledger.written(id, 'update', 1)
    const first = system.workerOf((await system.client.get(id)).worker_id).child
    first.kill('SIGSTOP')
    await system.client.revise(task.id, 2, { instructions: 'Hold until you are told to go on, the third time.' })
    await first.end('SIGKILL')

    const second = await system.ledger.written(id, 'start', 2)
    expect(second.text).toContain('the third time')
    expect(second.text).toContain('Revision: 3')
    system.ledger.release(id)
    // All of it was in the brief of the second run, and none of it came again.
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', attempt: 2, task_revision: 3, result: 'Held in attempt 2. Told: nothing' })
    expect(await system.client.task(task.id)).toMatchObject({ status: 'completed', revision: 3, subagent_session_id: `subtask-${id}` })
    await expectOneEnd(id, 'brief')
    const stream = await EventStream.open(system.client, '/events?after=0')
    await stream.event((event) => event.type === 'task.completed' && event.subject.id === task.id)
    stream.close()
    expect(stream.events.filter(({ type, subject }) => subject.id === task.id && type.startsWith('task.')).map(({ type }) => type)).toEqual([
      'task.created',
      'task.assigned',
      'task.revised',
      'task.revised',
      'task.completed',
    ])
    await system.startWorker()
  })
})

describe('a worker that is stopped beyond its lease and wakes up', () => {
  it('changes nothing any more: its results are too late, and what it still runs is stopped', async () => {
    const [stopped] = system.workers.filter(({ child }) => !child.hasExited)
    const finishing = await spawnOn(stopped?.id ?? '', 'finishing')
    const running = await spawnOn(stopped?.id ?? '', 'running')
    const { pid } = await system.ledger.written(running.id, 'start', 1)
    // What it said so far is collected for a moment before it is stored, and would be too late after the stop.
    await until('the first step is stored', async () => (await steps(finishing.id)).length > 0)
    const child = system.workerOf(stopped?.id ?? '').child
    const from = child.lines.length
    child.kill('SIGSTOP')
    // Its program goes on without it, and has delivered long before the worker can pass that on.
    system.ledger.release(finishing.id, 1)
    await system.ledger.written(finishing.id, 'end', 1)

    await Promise.all([system.ledger.written(finishing.id, 'start', 2), system.ledger.written(running.id, 'start', 2)])
    child.kill('SIGCONT')
    await until('the program of the woken worker is gone', () => !isAlive(pid), 5_000)
    for (const { id } of [finishing, running]) {
      await child.line(({ fields }) => fields.subtask_id === id && /taken over|run ended/.test(String(fields.msg)), { from })
    }
    for (const { id } of [finishing, running]) expect(await system.client.get(id)).toMatchObject({ status: 'running', attempt: 2, result: null })

    for (const { id } of [finishing, running]) system.ledger.release(id)
    for (const { id } of [finishing, running]) {
      expect(await system.client.ended(id)).toMatchObject({ status: 'completed', attempt: 2, failures: 1, result: 'Held in attempt 2. Told: nothing' })
    }
    await expectOneEnd(finishing.id, 'finishing')
    await expectOneEnd(running.id, 'running')
    expect((await steps(finishing.id)).filter((content) => String(content).includes('attempt 1'))).toHaveLength(1)
  })

  /** Spawns until the subtask has landed on a certain worker; what lands elsewhere is let go. */
  async function spawnOn(workerId: string, parent: string): Promise<Subtask> {
    return await until(`a subtask runs on ${workerId}`, async () => {
      const held = await spawnHeld(parent)
      if (held.worker_id === workerId) return held
      system.ledger.release(held.id)
      await system.client.ended(held.id)
      await system.client.inbox(parent)
      return null
    })
  }

  async function steps(id: string): Promise<unknown[]> {
    const { items } = await system.client.ok<{ items: { content: unknown }[] }>('GET', `/subtasks/${id}/steps`)
    return items.map(({ content }) => content)
  }
})

describe('an outside worker whose lease has lapsed', () => {
  it('is told so at every call, and changes nothing', async () => {
    const { id } = await system.client.spawn({ task: 'Work outside.', runner: 'external', agent_id: 'outside', parent_session_id: 'lapsed' })
    const late = (await system.client.claim('late', { lease_seconds: 1 })) as ClaimedSubtask
    const next = await until('the subtask is there again', () => system.client.claim('next', { wait_seconds: 5 }))
    expect([next.subtask.id, next.lease.attempt, next.subtask.failures]).toEqual([id, 2, 1])
    const stored = () => system.admin`select to_jsonb(s) from subtasks s where id = ${id}`
    const before = await stored()

    const token = { lease_token: late.lease.token }
    const calls = { heartbeat: { steps: [{ kind: 'message', content: 'Still here.' }] }, complete: { result: 'Late.' }, fail: { error: 'Late.' }, release: {} }
    for (const [verb, body] of Object.entries(calls)) {
      const answer = await system.client.call<Problem>('POST', `/subtasks/${id}/${verb}`, { body: { ...token, ...body } })
      expect([verb, answer.status, answer.body.code]).toEqual([verb, 412, 'lease_lost'])
    }
    expect((await system.client.as(late.credential).call('GET', `/subtasks/${id}`)).status).toBe(401)
    expect(await stored()).toEqual(before)
    await system.client.complete(next, 'In time.')
    expect(await system.client.get(id)).toMatchObject({ status: 'completed', result: 'In time.', attempt: 2 })
    await expectOneEnd(id, 'lapsed')
  })
})

describe('an API that is killed', () => {
  it('takes no event with it: a reader that comes back with Last-Event-ID misses nothing, and a long poll asks again', async () => {
    const [first] = system.apis
    const address = new URL(first?.address ?? '')
    const held = await spawnHeld('api killed')
    const all = await EventStream.open(system.client, '/events?after=0')
    const own = await EventStream.open(system.client, `/subtasks/${held.id}/events`)
    await own.event('subtask.progress')
    const poll = system.client.ended(held.id).then(
      () => 'answered',
      () => 'broken off',
    )
    await first?.child.end('SIGKILL')
    expect(await within('The end of the long poll', 5_000, poll)).toBe('broken off')
    await Promise.all([all.closed, own.closed])

    // Meanwhile things go on: nobody needs the API for that.
    system.ledger.release(held.id)
    await until('the subtask has ended', async () => (await system.admin`select from subtasks where id = ${held.id} and status = 'completed'`).length === 1)
    await system.startApi({ PORT: address.port })

    const resumedAll = await EventStream.open(system.client, '/events', { lastEventId: all.lastId })
    const resumedOwn = await EventStream.open(system.client, `/subtasks/${held.id}/events`, { lastEventId: own.lastId })
    await resumedOwn.ended()
    await resumedAll.event((event) => event.type === 'subtask.completed' && event.subject.id === held.id)
    resumedAll.close()
    const whole = await EventStream.open(system.client, `/subtasks/${held.id}/events`)
    await whole.ended()
    expect([...own.events, ...resumedOwn.events]).toEqual(whole.events)
    const logged = await system.admin<{ seq: string }[]>`select seq from events order by seq`
    const read = [...all.events, ...resumedAll.events].map((event) => event.id)
    expect(read).toEqual(logged.slice(0, read.length).map(({ seq }) => Number(seq)))
    expect(await system.client.ended(held.id)).toMatchObject({ status: 'completed' })

    const again = await EventStream.open(system.client, `/subtasks/${held.id}/events`, { lastEventId: whole.lastId })
    expect(again.status).toBe(204)
  })
})

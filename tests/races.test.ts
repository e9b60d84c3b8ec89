import { describe, expect, it } from 'vitest'
import type { Answer, Client } from './harness/client.ts'
import { type Api, type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { Problem, Subtask } from './harness/wire.ts'

/** Runs `work` for each item, at most `width` at once. */
async function inParallel<Item>(width: number, items: readonly Item[], work: (item: Item, place: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    for (let place = next++; place < items.length; place = next++) await work(items[place] as Item, place)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

const times = (count: number): number[] => Array.from({ length: count }, (_, place) => place)

/** Spreads calls over the APIs. */
function clientOf(system: System, place: number): Client {
  return (system.apis[place % system.apis.length] as Api).client
}

async function spawnMany(system: System, count: number, runner: string): Promise<string[]> {
  const ids: string[] = []
  await inParallel(16, times(count), async (place) => {
    const { id } = await clientOf(system, place).spawn({ task: `Task ${place}.`, runner, agent_id: `agent-${place % 20}`, parent_session_id: 'everybody' })
    ids.push(id)
  })
  return ids
}

const MANY = { SUBTASK_MAX_PENDING: '1000', SUBTASK_MAX_CONCURRENT: '1000' }
const COUNT = 500

describe('500 subtasks', () => {
  it('run once each when five worker processes of two places race for them', async () => {
    const system = await startSystem({ workers: 0, env: { ...MANY, SUBTASK_WORKERS: '2' } })
    const ids = await spawnMany(system, COUNT, 'append')
    await Promise.all(times(5).map(() => system.startWorker()))
    const isDone = async () => (await system.admin`select from subtasks where status not in ('completed', 'failed', 'cancelled') limit 1`).length === 0
    await until('all have ended', isDone, 45_000)

    const runs = system.ledger.entries()
    expect(runs.map((run) => run.subtask_id).sort()).toEqual(ids.sort())
    expect(new Set(runs.map((run) => run.attempt))).toEqual(new Set([1]))
    const workers = await system.admin<{ worker_id: string }[]>`select distinct worker_id from attempts`
    expect(workers.map((row) => row.worker_id).sort()).toEqual(system.workers.map(({ id }) => id).sort())
    await system.close()
  })

  it('are claimed once each when ten outside workers race for them over two APIs', async () => {
    const system = await startSystem({ apis: 2, workers: 0, env: MANY })
    const ids = await spawnMany(system, COUNT, 'external')
    const claimed: string[] = []
    await inParallel(10, times(10), async (place) => {
      const client = clientOf(system, place)
      for (let claim = await client.claim(`outside-${place}`); claim !== null; claim = await client.claim(`outside-${place}`)) {
        claimed.push(claim.subtask.id)
        expect(claim.lease.attempt).toBe(1)
        expect((await client.complete(claim)).status).toBe(200)
      }
    })

    expect(claimed.sort()).toEqual(ids.sort())
    const inbox = await system.client.ok<{ items: { subtask_id: string }[] }>('POST', '/sessions/everybody/inbox/claim', { body: { limit: 200 } })
    expect(inbox.items).toHaveLength(200)
    await system.close()
  })
})

describe('50 spawns at once against a pending limit of 5', () => {
  it.each([
    ['one API', 1],
    ['two APIs', 2],
  ])('are 5 × 202 and 45 × 429 with Retry-After, over %s', async (_, apis) => {
    const system = await startSystem({ apis, workers: 0, env: { SUBTASK_MAX_PENDING: '5' } })
    const answers = await Promise.all(
      times(50).map((place) => clientOf(system, place).call<Subtask | Problem>('POST', '/subtasks', { body: { task: `Task ${place}.`, runner: 'external' } })),
    )
    const accepted = answers.filter(({ status }) => status === 202)
    const refused = answers.filter(({ status }) => status === 429) as Answer<Problem>[]

    expect([accepted.length, refused.length]).toEqual([5, 45])
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['pending_limit_reached']))
    expect(refused.every(({ headers, body }) => Number(headers.get('retry-after')) >= 1 && body.retryable)).toBe(true)
    expect(await system.admin`select from subtasks`).toHaveLength(5)
    await system.close()
  })
})

describe('a lane under everything at once', () => {
  const RUNNING_MAX = 3

  it('never exceeds its running limit, and strands nothing', async () => {
    const system = await startSystem({
      apis: 2,
      workers: 1,
      env: { SUBTASK_MAX_CONCURRENT: String(RUNNING_MAX), SUBTASK_MAX_PENDING: '40', SUBTASK_WORKERS: '2' },
    })
    const spawned: string[] = []
    let isSpawning = true
    let exceeded = 0
    let samples = 0

    const sampling = (async () => {
      while (isSpawning) {
        const lanes = await system.admin<{ running: number; slots: number }[]>`
          select count(*) filter (where status = 'running')::int as running, count(*) filter (where slot)::int as slots from subtasks group by agent_id`
        samples += 1
        exceeded += lanes.filter(({ running, slots }) => running > RUNNING_MAX || slots > RUNNING_MAX).length
      }
    })()
    const claiming = times(16).map(async (place) => {
      const client = clientOf(system, place)
      for (let round = 0; isSpawning; round += 1) {
        const claim = await client.claim(`outside-${place}`, { wait_seconds: 1 })
        if (claim === null) continue
        // Every third is given back; some of the others were cancelled meanwhile, which their end then says.
        const answer = round % 3 === 2 ? await client.release(claim) : await client.complete(claim)
        expect([200, 412]).toContain(answer.status)
      }
    })
    const spawning = times(12).map(async (place) => {
      for (let round = 0; round < 12; round += 1) {
        const runner = round % 4 === 3 ? 'append' : 'external'
        const body = { task: `Task ${place}/${round}.`, runner, agent_id: `agent-${place % 3}`, priority: ['urgent', 'normal', 'low'][round % 3] }
        const { status, body: subtask } = await clientOf(system, place).call<Subtask>('POST', '/subtasks', { body })
        expect([202, 429]).toContain(status)
        if (status !== 202) continue
        spawned.push(subtask.id)
        if (round % 5 === 4) expect([200, 202, 409]).toContain((await clientOf(system, place + 1).cancel(subtask.id)).status)
      }
    })
    await Promise.all(spawning)
    await until('nothing is left', async () => (await system.admin`select from subtasks where completed_at is null limit 1`).length === 0, 30_000)
    isSpawning = false
    await Promise.all([sampling, ...claiming])

    expect(samples).toBeGreaterThan(20)
    expect(exceeded).toBe(0)
    expect(spawned.length).toBeGreaterThan(60)
    expect(await system.admin`select from subtasks where status in ('completed', 'cancelled')`).toHaveLength(spawned.length)
    await system.close()
  })
})

import { advanceClock } from '@muster/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { startOwnPostgres } from './harness/own-postgres.ts'
import { type System, startSystem } from './harness/system.ts'

let system: System | undefined

afterEach(async () => {
  await system?.close()
  system = undefined
})

describe('an outage longer than the timeout of what runs', () => {
  it('costs the attempt its worker, never the subtask its life: everything killed and started again, it completes in attempt 2', async () => {
    const postgres = await startOwnPostgres()
    system = await startSystem({ database: postgres.database, env: { SUBTASK_LEASE_SECONDS: '2' } })
    const { id } = await system.client.spawn({
      task: 'Hold over an outage.',
      runner: 'hold',
      timeout_seconds: 20,
      max_attempts: 2,
      parent_session_id: 'outage',
    })
    await system.ledger.written(id, 'start', 1)

    await Promise.all([...system.apis, ...system.workers].map(({ child }) => child.end('SIGKILL')))
    await postgres.server.stop('immediate')
    await postgres.server.restart('immediate')
    await advanceClock(system.admin, '60 seconds')
    await system.startApi()
    await system.startWorker()

    await system.ledger.written(id, 'start', 2)
    system.ledger.release(id)
    const ended = await system.client.ended(id)
    expect(ended).toMatchObject({ status: 'completed', attempt: 2, failures: 1, result: 'Held in attempt 2. Told: nothing' })
    // The minute is no part of what it took.
    expect(ended.lost_ms).toBeGreaterThan(50_000)
    expect(ended.duration_ms).toBeLessThan(50_000)
    const [lost] = await system.admin`
      select outcome, error, lost_ms > 50000 as was_lost, extract(epoch from ended_at - started_at) * 1000 - lost_ms < 50000 as ran_shortly
      from attempts where subtask_id = ${id} and attempt = 1`
    expect(lost).toEqual({ outcome: 'lost', error: expect.stringContaining('The worker was lost'), was_lost: true, ran_shortly: true })
    expect(await system.client.inbox('outage')).toMatchObject([{ subtask_id: id, final_outcome: 'completed' }])
  })
})

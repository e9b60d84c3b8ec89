import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { claimAll, completed, testDatabase } from '@muster/testing'
import { settleRuns } from '@muster/usecases'
import { expect, it } from 'vitest'
import { drainEvents, startApi, type TestApi } from './testing/api.ts'

const ROUNDS = 4
const REQUESTS_PER_ROUND = 600
/** Less than what a kept request, row or answer would take: about 3 KiB for each of a round. */
const GROWTH_BYTES_MAX = 2_000_000

async function round(api: TestApi, key: string, number: number): Promise<void> {
  for (let request = 0; request < REQUESTS_PER_ROUND; request += 10) {
    const spawn = (place: number) =>
      api.call('POST', '/subtasks', {
        key,
        body: { task: `Round ${number}, request ${request + place}.`, runner: 'external', agent_id: `agent-${request + place}`, parent_session_id: 'parent' },
      })
    await Promise.all(Array.from({ length: 10 }, (_, place) => spawn(place)))
    const runs = await claimAll(api.ctx, { runners: ['external'], limit: 50 })
    const ends = runs.map((run) => ({ subtaskId: run.id, attempt: run.attempt, end: completed() }))
    await settleRuns(api.deps, api.ctx.actor.projectId, ends)
    await api.call('POST', '/sessions/parent/injections', { key })
  }
  await drainEvents(api)
}

it('the heap of the API holds on to nothing of what it has answered', { timeout: 120_000 }, async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const api = await startApi(await testDatabase())
  const key = await api.key(['admin'])
  const sizes: number[] = []
  for (let number = 1; number <= ROUNDS; number += 1) {
    await round(api, key, number)
    collect()
    sizes.push(process.memoryUsage().heapUsed)
  }
  await api.close()
  // The first round fills caches and compiles.
  expect((sizes.at(-1) as number) - (sizes[1] as number)).toBeLessThan(GROWTH_BYTES_MAX)
})

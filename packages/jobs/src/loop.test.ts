import { describe, expect, it } from 'vitest'
import { startLoop } from './index.ts'
import { untilTick } from './loop.ts'

const HOUR_MS = 3_600_000

/** Work whose every run waits to be let go on. */
function gatedWork() {
  const runs: PromiseWithResolvers<boolean | number | undefined>[] = []
  let started = Promise.withResolvers<void>()
  let mostAtOnce = 0
  let atOnce = 0
  return {
    runs,
    mostAtOnce: () => mostAtOnce,
    async nextRun() {
      await started.promise
      started = Promise.withResolvers()
      return runs.at(-1) as PromiseWithResolvers<boolean | number | undefined>
    },
    async work() {
      const run = Promise.withResolvers<boolean | number | undefined>()
      runs.push(run)
      atOnce += 1
      mostAtOnce = Math.max(mostAtOnce, atOnce)
      started.resolve()
      try {
        return await run.promise
      } finally {
        atOnce -= 1
      }
    },
  }
}

describe('a loop', () => {
  it('runs at once, and once more when it was woken meanwhile, however often', async () => {
    const gated = gatedWork()
    const loop = startLoop(gated.work, { everyMs: HOUR_MS, onError: () => {} })
    const first = await gated.nextRun()
    for (let time = 0; time < 5; time += 1) loop.wake()
    first.resolve(undefined)
    ;(await gated.nextRun()).resolve(undefined)
    await loop.stop()
    expect(gated.runs).toHaveLength(2)
    expect(gated.mostAtOnce()).toBe(1)
  })

  it('goes on at once while there is more to do', async () => {
    const gated = gatedWork()
    const loop = startLoop(gated.work, { everyMs: HOUR_MS, onError: () => {} })
    for (let time = 0; time < 4; time += 1) (await gated.nextRun()).resolve(true)
    ;(await gated.nextRun()).resolve(undefined)
    await loop.stop()
    expect(gated.runs).toHaveLength(5)
  })

  it('runs without being woken', async () => {
    const gated = gatedWork()
    const loop = startLoop(gated.work, { everyMs: 1, onError: () => {} })
    for (let time = 0; time < 3; time += 1) (await gated.nextRun()).resolve(undefined)
    await gated.nextRun().then((run) => run.resolve(undefined))
    await loop.stop()
  })

  it('sleeps as long as its work says, and no longer than it may', async () => {
    const gated = gatedWork()
    const soon = startLoop(gated.work, { everyMs: HOUR_MS, onError: () => {} })
    for (let time = 0; time < 3; time += 1) (await gated.nextRun()).resolve(0.2)
    ;(await gated.nextRun()).resolve(undefined)
    await soon.stop()
    const late = startLoop(gated.work, { everyMs: 1, onError: () => {} })
    for (let time = 0; time < 3; time += 1) (await gated.nextRun()).resolve(HOUR_MS)
    ;(await gated.nextRun()).resolve(undefined)
    await late.stop()
    expect(gated.runs).toHaveLength(8)
  })

  it('rests between two runs, and does together what came meanwhile', async () => {
    const ends: number[] = []
    const starts: number[] = []
    const loop = startLoop(
      async () => {
        starts.push(performance.now())
        ends.push(performance.now())
        return starts.length < 4
      },
      { everyMs: HOUR_MS, restMs: 20, onError: () => {} },
    )
    loop.wake()
    await expect.poll(() => starts.length).toBe(4)
    await loop.stop()
    // Timers may come a moment early.
    for (let run = 1; run < 4; run += 1) expect((starts[run] as number) - (ends[run - 1] as number)).toBeGreaterThan(18)
  })

  it('reports what goes wrong and goes on', async () => {
    const gated = gatedWork()
    const errors: unknown[] = []
    const loop = startLoop(gated.work, { everyMs: 1, onError: (error) => errors.push(error) })
    ;(await gated.nextRun()).reject(new Error('gone'))
    ;(await gated.nextRun()).resolve(undefined)
    await loop.stop()
    expect(errors).toEqual([new Error('gone')])
  })

  it('stops after the run that is under way', async () => {
    const gated = gatedWork()
    const loop = startLoop(gated.work, { everyMs: HOUR_MS, onError: () => {} })
    const run = await gated.nextRun()
    let isStopped = false
    const stopping = loop.stop().then(() => {
      isStopped = true
    })
    expect(isStopped).toBe(false)
    run.resolve(true)
    await stopping
    loop.wake()
    expect(gated.runs).toHaveLength(1)
  })
})

describe('the sleep of a loop', () => {
  it('ends with those of the others, so that an idle process wakes up once for all of them', () => {
    expect([10_001, 10_003.4, 10_249].map((nowMs) => nowMs + untilTick(500, nowMs))).toEqual([10_500, 10_500.4, 10_500])
    expect(10_003 + untilTick(2_000, 10_003)).toBe(12_000)
  })

  it('is never longer than asked for, and never shorter than half of it', () => {
    for (let nowMs = 10_000; nowMs < 11_000; nowMs += 0.7) {
      for (const sleepMs of [500, 1_000, 10_000]) {
        expect(untilTick(sleepMs, nowMs)).toBeLessThanOrEqual(sleepMs)
        expect(untilTick(sleepMs, nowMs)).toBeGreaterThanOrEqual(sleepMs / 2)
      }
    }
  })

  it('is as long as asked for where it is short, or no multiple of a tick', () => {
    expect([0, 25, 250, 900].map((sleepMs) => untilTick(sleepMs, 10_003))).toEqual([0, 25, 250, 900])
  })
})

import type { Judge, JudgeAnswer } from '@muster/domain'
import { type Harness, scriptedJudge, startHarness } from '@muster/testing'
import { createEvaluation } from '@muster/usecases'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Judging, startJudging } from './judging.ts'

let harness: Harness
let judging: Judging | undefined

beforeAll(async () => {
  harness = await startHarness({ settings: { JUDGE_CONCURRENCY: '2' } })
})
afterEach(async () => {
  await judging?.stop()
})
afterAll(() => harness.close())

const DONE: JudgeAnswer = { kind: 'judged', verdicts: [], model: 'openai:m', usage: { inputTokens: 1, outputTokens: 1, costUsdMicros: 0 } }

/** A judge that answers when it is let to, and counts how many it is asked at once. */
function heldJudge() {
  const gate = Promise.withResolvers<void>()
  const counts = { now: 0, most: 0 }
  const judge = scriptedJudge(async (_, signal) => {
    counts.now += 1
    counts.most = Math.max(counts.most, counts.now)
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([gate.promise, aborted])
    counts.now -= 1
    return signal.aborted ? { kind: 'aborted' } : DONE
  })
  return { judge, counts, letGo: () => gate.resolve() }
}

async function ask(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await createEvaluation(harness.ctx, { output: 'Done.', acceptanceCriteria: ['It is done.'], judge: true })
}

function start(judge: Judge | null, restores = { isHeldNow: async () => false }): Judging {
  judging = startJudging({ ...harness.deps, judge }, (what) => (error) => harness.log.error({ err: error }, what), restores)
  return judging
}

const statesOf = async () => {
  const rows = await harness.admin<{ state: string; count: number }[]>`select state, count(*)::int as count from pgboss.job where name = 'judge' group by state`
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

describe('a worker with a judge', () => {
  it('judges all outputs, at most JUDGE_CONCURRENCY at once', async () => {
    await ask(5)
    const { judge, counts, letGo } = heldJudge()
    const { wake } = start(judge)
    await vi.waitFor(() => expect(counts.now).toBe(2))
    wake()
    expect(await statesOf()).toEqual({ active: 2, created: 3 })
    letGo()
    await vi.waitFor(async () => expect(await statesOf()).toEqual({}), { timeout: 10_000 })
    expect(counts.most).toBe(2)
    expect(await harness.admin`select from evaluations where is_judged`).toHaveLength(5)
  })

  it('aborts its requests when it stops, releases their jobs, and takes nothing more', async () => {
    await ask(3)
    const { judge, counts } = heldJudge()
    const { stop } = start(judge)
    await vi.waitFor(() => expect(counts.now).toBe(2))
    await stop()
    expect(counts.now).toBe(0)
    expect(await statesOf()).toEqual({ created: 3 })
  })

  it('takes nothing before an operator has decided about a restore', async () => {
    const restores = { isHeldNow: vi.fn(async () => true) }
    const { wake, stop } = start(heldJudge().judge, restores)
    wake()
    await vi.waitFor(() => expect(restores.isHeldNow).toHaveBeenCalled())
    await stop()
    expect(await statesOf()).toEqual({ created: 3 })
  })

  it('leaves everything to other workers without a judge', async () => {
    const { wake, stop } = start(null)
    wake()
    await stop()
    expect(await statesOf()).toEqual({ created: 3 })
  })
})

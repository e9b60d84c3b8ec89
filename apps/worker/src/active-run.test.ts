import type { Runner } from '@muster/runners'
import { claimOne, type Harness, makeTask, startHarness } from '@muster/testing'
import { dispatchTask, steerSubtask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ActiveRun } from './active-run.ts'
import type { WorkerDeps } from './deps.ts'
import { Settler } from './settler.ts'

describe('a note that arrives between the claim and the prompt', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness()
  })
  afterAll(() => harness.close())

  it('is delivered once, in the prompt', async () => {
    const { ctx } = harness
    const task = await makeTask(ctx)
    const { id } = await dispatchTask(ctx, task.id, () => ({ runner: 'own' }))
    const claimed = await claimOne(ctx)
    await steerSubtask(ctx, id, { content: 'Mind the gap.', delivery: 'next_step', steerable: () => true })
    const delivered: string[] = []
    const runner: Pick<Runner, 'steerable' | 'usesWorkspace' | 'followsDefinitions' | 'run'> = {
      steerable: true,
      usesWorkspace: false,
      followsDefinitions: true,
      async run({ brief, updates }) {
        delivered.push(brief.text)
        const [first] = await Promise.race([
          (async () => {
            for await (const update of updates) return [update.text]
            return []
          })(),
          new Promise<string[]>((resolve) => setTimeout(() => resolve([]), 500)),
        ])
        if (first !== undefined) delivered.push(first)
        return { kind: 'completed', result: 'Done.' }
      },
    }
    const deps = { ...harness.deps, workerId: 'worker' } as unknown as WorkerDeps
    const run = new ActiveRun(deps, claimed, runner as Runner, () => {})
    run.applySignal({ subtaskId: id, attempt: claimed.attempt, cancelRequested: false, updateSeq: 1, taskHasUpdates: false })
    // Long enough for a checkpoint that fetched it.
    await new Promise((resolve) => setTimeout(resolve, 300))
    await run.complete(new Settler(deps, new AbortController().signal))
    expect(delivered.filter((text) => text.includes('Mind the gap.'))).toEqual([delivered[0]])
  })
})

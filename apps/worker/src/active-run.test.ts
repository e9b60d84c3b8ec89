import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Runner } from '@muster/runners'
import { claimOne, type Harness, makeTask, readSubtaskRow, spawn, startHarness } from '@muster/testing'
import { dispatchTask, KEPT, steerSubtask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ActiveRun } from './active-run.ts'
import type { WorkerDeps } from './deps.ts'
import { Settler } from './settler.ts'

describe('a run that goes in circles', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness()
  })
  afterAll(() => harness.close())

  it('is told so, stopped, and ends as blocked with the evidence and what it had so far', async () => {
    const { ctx } = harness
    const { id } = await spawn(ctx)
    const claimed = await claimOne(ctx)
    const told: string[] = []
    const runner: Runner = {
      ...{ name: 'own', steerable: true, usesWorkspace: false, followsDefinitions: true },
      async run({ step, signal, updates, fetchUpdates }) {
        const listening = (async () => {
          for await (const update of updates) told.push(update.text)
        })()
        for (let use = 0; !signal.aborted && use < 50; use += 1) {
          step({ kind: 'tool_call', content: { id: `use-${use}`, name: 'Bash', input: { command: 'make' } } })
          step({ kind: 'tool_result', content: { id: `use-${use}`, name: 'Bash', output: 'no rule to make target', is_error: true } })
          await fetchUpdates()
        }
        void listening
        return { kind: 'stopped', partialResult: 'half of it' }
      },
    }
    const deps = { ...harness.deps, workerId: 'worker' } as unknown as WorkerDeps
    await new ActiveRun(deps, claimed, runner, () => {}).complete(new Settler(deps, new AbortController().signal))
    expect(told).toEqual([expect.stringContaining('Bash with the same arguments failed 3 times')])
    expect(await readSubtaskRow(harness.admin, id)).toMatchObject({
      status: 'failed',
      final_outcome: 'incomplete_blocked',
      error: expect.stringContaining('Bash with the same arguments failed 6 times in the same way (steps 2 to'),
      result: 'half of it',
    })
  })

  it('is told so after a long silence, and ends as blocked after another', async () => {
    const { ctx } = harness
    const { id } = await spawn(ctx)
    const claimed = await claimOne(ctx)
    let hasBegun: () => void = () => {}
    const begun = new Promise<void>((resolve) => {
      hasBegun = resolve
    })
    const runner: Runner = {
      ...{ name: 'own', steerable: true, usesWorkspace: false, followsDefinitions: true },
      async run({ step, signal }) {
        step({ kind: 'message', content: 'I wait.' })
        hasBegun()
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        return { kind: 'stopped' }
      },
    }
    const deps = { ...harness.deps, workerId: 'worker' } as unknown as WorkerDeps
    const run = new ActiveRun(deps, claimed, runner, () => {})
    const ended = run.complete(new Settler(deps, new AbortController().signal))
    await begun
    const began = performance.now()
    for (const seconds of [59, 601, 615, 1_205]) await run.lookForSilence(began + seconds * 1_000)
    await ended
    expect(await readSubtaskRow(harness.admin, id)).toMatchObject({
      final_outcome: 'incomplete_blocked',
      error: expect.stringMatching(/^It made no step for 120\d seconds after step [01]\./),
    })
    expect((await harness.admin`select count(*)::int as count from updates where subtask_id = ${id} and sender_id = 'loops'`)[0]).toEqual({ count: 1 })
  })
})

describe('a run whose folder grows', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness({ settings: { RUN_FOLDER_BYTES_MAX: '100000' } })
  })
  afterAll(() => harness.close())

  it.each([
    ['its workspace', false],
    ['what its runner made beside it', true],
  ])('goes on up to the limit of the worker, and ends as blocked beyond it: %s', async (_, isBeside) => {
    const { id } = await spawn(harness.ctx)
    const claimed = await claimOne(harness.ctx)
    const writes = [90_000, 20_000]
    const deps = { ...harness.deps, workerId: 'worker' } as unknown as WorkerDeps
    const beside = await mkdtemp(join(tmpdir(), 'muster-beside-'))
    const runner: Runner = {
      ...{ name: 'own', steerable: false, usesWorkspace: true, followsDefinitions: true },
      async run({ signal, workspace, alsoUses }) {
        alsoUses(beside)
        const folder = isBeside ? beside : workspace
        for (const [place, bytes] of writes.entries()) {
          if (signal.aborted) break
          await writeFile(join(folder, `${place}.txt`), Buffer.alloc(bytes, 'x'))
          await run.lookAtFolder(performance.now() + place * 3_600_000)
        }
        expect((await readdir(folder)).length).toBe(2)
        return { kind: 'stopped' }
      },
    }
    const run = new ActiveRun(deps, claimed, runner, () => {})
    await run.complete(new Settler(deps, new AbortController().signal))
    await rm(beside, { recursive: true })
    expect(await readSubtaskRow(harness.admin, id)).toMatchObject({
      final_outcome: 'incomplete_blocked',
      error: expect.stringMatching(/^Its folders take up \d{6} bytes or more, and may take up 100000 /),
    })
  })
})

describe('a run that waits', () => {
  let harness: Harness
  beforeAll(async () => {
    harness = await startHarness()
  })
  afterAll(() => harness.close())

  it.each([
    { what: 'for an answer keeps its folder', isBudget: false, isLost: false, left: [`-${KEPT}`] },
    { what: 'for a higher budget keeps its folder', isBudget: true, isLost: false, left: [`-${KEPT}`] },
    { what: 'leaves no folder behind when it has lost its lease', isBudget: false, isLost: true, left: [] },
  ])('$what', async ({ isBudget, isLost, left }) => {
    const { id } = await spawn(harness.ctx)
    const claimed = await claimOne(harness.ctx)
    const runner: Runner = {
      ...{ name: 'own', steerable: false, usesWorkspace: true, followsDefinitions: true },
      async run({ workspace }) {
        await writeFile(join(workspace, 'half.txt'), 'half of it')
        if (isLost) run.applySignal(null)
        return isBudget ? { kind: 'budget_exceeded', error: 'It has no tokens left.' } : { kind: 'waiting', questionId: harness.deps.newId() }
      },
    }
    const deps = { ...harness.deps, workerId: 'worker' } as unknown as WorkerDeps
    const run = new ActiveRun(deps, claimed, runner, () => {})
    await run.complete(new Settler(deps, new AbortController().signal))
    const names = await readdir(join(harness.deps.settings.DATA_DIR, 'workspaces'))
    expect(names.filter((name) => name.startsWith(id))).toEqual(left.map((end) => `${id}${end}`))
  })
})

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

import { claimOne, type Harness, makeTask, startHarness } from '@muster/testing'
import { dispatchTask, getSubtask, getTask } from '@muster/usecases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { WorkerDeps } from './deps.ts'
import { Settler } from './settler.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

it('gives the task back of a run whose end cannot be stored, also where nobody told which task it was', async () => {
  const task = await makeTask(harness.ctx)
  const { id } = await dispatchTask(harness.ctx, task.id, () => ({ runner: 'own' }))
  const run = await claimOne(harness.ctx)
  // To give a run back takes a new job.
  const insert = () => Promise.reject(new Error('no more jobs'))
  const deps = { ...harness.deps, runJobs: { ...harness.deps.runJobs, insert } } as unknown as WorkerDeps
  const settler = new Settler(deps, new AbortController().signal)
  expect(await settler.settle(run.projectId, { subtaskId: id, attempt: run.attempt, end: { kind: 'released' } })).toBe('settled')
  expect(await getSubtask(harness.ctx, id)).toMatchObject({ status: 'failed', error: 'The result could not be stored: no more jobs' })
  expect(await getTask(harness.ctx, task.id)).toMatchObject({ status: 'pending', lastError: 'The result could not be stored: no more jobs' })
  expect(harness.log.takeErrors().map(({ message }) => message)).toEqual(['a result could not be stored'])
})

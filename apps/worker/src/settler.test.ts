import { claimOne, completed, type Harness, holdRow, makeTask, spawn, startHarness } from '@muster/testing'
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
  const runJobs: WorkerDeps['runJobs'] = { ...harness.deps.runJobs, insertForRows: () => Promise.reject(new Error('no more jobs')) }
  const deps = { ...harness.deps, runJobs } as unknown as WorkerDeps
  const settler = new Settler(deps, new AbortController().signal)
  expect(await settler.settle(run.projectId, { subtaskId: id, attempt: run.attempt, end: { kind: 'released' } })).toBe('settled')
  expect(await getSubtask(harness.ctx, id)).toMatchObject({ status: 'failed', error: 'The result could not be stored. The log of the worker has the cause.' })
  expect(await getTask(harness.ctx, task.id)).toMatchObject({
    status: 'pending',
    lastError: 'The result could not be stored. The log of the worker has the cause.',
  })
  expect(harness.log.takeErrors().map(({ message }) => message)).toEqual(['failed to store a result'])
})

const settlerOf = (harness: Harness) => new Settler(harness.deps as unknown as WorkerDeps, new AbortController().signal)

it('stores what comes later although a batch before it waits for somebody', async () => {
  const runs: Awaited<ReturnType<typeof claimOne>>[] = []
  for (let index = 0; index < 4; index += 1) {
    await spawn(harness.ctx, { agentId: `later-${index}` })
    runs.push(await claimOne(harness.ctx))
  }
  const settler = settlerOf(harness)
  const settle = (run: (typeof runs)[number]) => settler.settle(run.projectId, { subtaskId: run.id, attempt: run.attempt, end: completed('Done.') })
  const [held, ...others] = runs as [(typeof runs)[number], ...typeof runs]
  const letGo = await holdRow(harness.admin, held.id)
  let isHeldStored = false
  const first = settle(held).then((settlement) => {
    isHeldStored = true
    return settlement
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await Promise.all(others.map(settle))).toEqual(['settled', 'settled', 'settled'])
  expect(isHeldStored).toBe(false)
  await letGo()
  expect(await first).toBe('settled')
})

it.each(['40P01', '57014', '53100', '58030', '25006'])('keeps a result whose last statements fail with what passes: %s', async (code) => {
  const { admin } = harness
  await spawn(harness.ctx, { agentId: `passing-${code}` })
  const run = await claimOne(harness.ctx)
  await admin.unsafe(`create function boom() returns trigger language plpgsql as $$ begin raise exception 'boom' using errcode = '${code}'; end $$`)
  await admin.unsafe(`create trigger boom before update on subtasks for each row when (new.status in ('completed', 'failed')) execute function boom()`)
  const delivered = settlerOf(harness).settle(run.projectId, { subtaskId: run.id, attempt: run.attempt, end: completed('Done.') })
  await new Promise((resolve) => setTimeout(resolve, 100))
  await admin.unsafe('drop trigger boom on subtasks')
  await admin.unsafe('drop function boom')
  expect(await delivered).toBe('settled')
  expect(await getSubtask(harness.ctx, run.id)).toMatchObject({ status: 'completed', result: 'Done.' })
  expect(harness.log.takeErrors()).toEqual([])
})

it('keeps the others of a batch apart from one that cannot be stored, and an outage meanwhile is no failure of theirs', async () => {
  const { admin } = harness
  const runs: Awaited<ReturnType<typeof claimOne>>[] = []
  for (let index = 0; index < 5; index += 1) {
    await spawn(harness.ctx, { agentId: `isolated-${index}` })
    runs.push(await claimOne(harness.ctx))
  }
  const [poisoned, ...others] = runs as [(typeof runs)[number], ...typeof runs]
  // The first batch finds the one that cannot be stored; whatever is stored alone after that finds the disk full, until there is room.
  await admin.unsafe(`
    create sequence tries;
    create function boom() returns trigger language plpgsql security definer as $$ begin
      if new.id = '${poisoned.id}' and new.status = 'completed' then raise exception 'secret of the table' using errcode = '22023'; end if;
      if nextval('tries') < 6 then raise exception 'could not extend file "base/16384/24601"' using errcode = '53100'; end if;
      return new;
    end $$`)
  await admin.unsafe(`create trigger boom before update on subtasks for each row when (new.status in ('completed', 'failed')) execute function boom()`)
  const settler = settlerOf(harness)
  const delivered = runs.map((run) => settler.settle(run.projectId, { subtaskId: run.id, attempt: run.attempt, end: completed('Done.') }))
  expect(await Promise.all(delivered)).toEqual(runs.map(() => 'settled'))
  await admin.unsafe('drop trigger boom on subtasks; drop function boom; drop sequence tries')
  for (const { id } of others) expect(await getSubtask(harness.ctx, id)).toMatchObject({ status: 'completed', result: 'Done.', failures: 0 })
  expect(await getSubtask(harness.ctx, poisoned.id)).toMatchObject({
    status: 'failed',
    error: 'The result could not be stored. The log of the worker has the cause.',
  })
  expect(harness.log.takeErrors().map(({ message }) => message)).toEqual(['failed to store a result'])
})

it('gives up during an outage when it is told to, also the rest of a batch that is stored one by one', async () => {
  const { admin } = harness
  const runs: Awaited<ReturnType<typeof claimOne>>[] = []
  for (let index = 0; index < 3; index += 1) {
    await spawn(harness.ctx, { agentId: `given-up-${index}` })
    runs.push(await claimOne(harness.ctx))
  }
  // The batch fails with what is not an outage, and each end alone with a full disk.
  await admin.unsafe(`
    create sequence tries;
    create function boom() returns trigger language plpgsql security definer as $$ begin
      if nextval('tries') = 1 then raise exception 'boom' using errcode = '22023'; end if;
      raise exception 'no space left on device' using errcode = '53100';
    end $$`)
  await admin.unsafe(`create trigger boom before update on subtasks for each row when (new.status in ('completed', 'failed')) execute function boom()`)
  const giveUp = new AbortController()
  const settler = new Settler(harness.deps as unknown as WorkerDeps, giveUp.signal)
  const delivered = runs.map((run) => settler.settle(run.projectId, { subtaskId: run.id, attempt: run.attempt, end: completed('Done.') }))
  const tries = async () => Number((await admin`select last_value from tries`)[0]?.last_value)
  await expect.poll(tries).toBeGreaterThan(2)
  giveUp.abort()
  expect(await Promise.all(delivered)).toEqual(['fenced', 'fenced', 'fenced'])
  const triesAtEnd = await tries()
  await admin.unsafe('drop trigger boom on subtasks; drop function boom; drop sequence tries')
  // One for the batch, and a few for the first end: the others were not tried.
  expect(triesAtEnd).toBeLessThan(8)
  for (const { id } of runs) expect(await getSubtask(harness.ctx, id)).toMatchObject({ status: 'running' })
  expect(harness.log.takeErrors()).toEqual([])
})

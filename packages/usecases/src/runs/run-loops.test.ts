import { steps as stepQueries } from '@muster/db'
import { advanceClock, claimOne, drain, type Harness, readSubtaskRow, spawn, startHarness } from '@muster/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ClaimedRun, checkpointRun, claimSubtask, createTsg, heartbeat, judgeSilence, settleRuns, updateProject } from '../index.ts'

let harness: Harness
let agents = 0
beforeAll(async () => {
  harness = await startHarness()
  // Steps are moved back by up to twenty minutes, and yesterday has no partition.
  await advanceClock(harness.admin, '1 hour')
})
beforeEach(async () => {
  await drain(harness.ctx)
})
afterAll(() => harness.close())

const setLoops = (loops: object) => updateProject(harness.ctx, harness.ctx.actor.projectId, { settings: { loops } })

async function running(): Promise<ClaimedRun> {
  agents += 1
  await spawn(harness.ctx, { agentId: `looping-${agents}` })
  return await claimOne(harness.ctx)
}

let uses = 0
/** A call of a tool and its result. */
function use(input: object, failure: string | null, name = 'Bash') {
  uses += 1
  const id = `use-${uses}`
  return [
    { kind: 'tool_call' as const, content: { id, name, input } },
    { kind: 'tool_result' as const, content: { id, name, output: failure ?? 'ok', is_error: failure !== null } },
  ]
}
const failing = (command = 'npm test') => use({ command }, 'exit 1: cannot find module left-pad')

function checkpoint(run: ClaimedRun, steps: ReturnType<typeof use>, more: Partial<Parameters<typeof checkpointRun>[2]> = {}) {
  return checkpointRun(harness.deps, run.projectId, {
    ...run,
    subtaskId: run.id,
    workerId: 'worker-1',
    steps,
    usage: {},
    acknowledgedIds: [],
    takesUpdates: true,
    afterStepSeq: null,
    renewsLease: false,
    repeatUnacknowledged: false,
    ...more,
  })
}
const texts = (answer: Awaited<ReturnType<typeof checkpoint>>) => answer?.updates.map(({ content }) => content)
const countNotes = async (id: string) => Number((await harness.admin`select count(*) from updates where subtask_id = ${id}`)[0]?.count)

describe('a run that goes in circles', () => {
  it('is told so at the third failure, with the guides that match it, and ends as blocked at the sixth', async () => {
    await createTsg(harness.ctx, { tsgId: 'left-pad', title: 'Missing module', content: 'x', patterns: ['cannot find module'] })
    const run = await running()
    expect(await checkpoint(run, [...failing(), ...failing()])).toMatchObject({ updates: [], blocked: null })
    const told = await checkpoint(run, failing())
    expect(told?.blocked).toBeNull()
    expect(texts(told)).toEqual([
      expect.stringContaining('You are going in circles: Bash with the same arguments failed 3 times in the same way (steps 2 to 6).'),
    ])
    expect(texts(told)?.[0]).toContain('Use read_tsg("left-pad") for resolution steps.')
    expect(told?.updates[0]?.text).toContain('Sender: Muster (loops)')
    // Its session is not told of the guide again by a hook.
    expect(await harness.admin`select delivered_at is not null as is_delivered from tsg_notices where session_id = ${`subtask-${run.id}`}`).toEqual([
      { is_delivered: true },
    ])
    expect(await checkpoint(run, [...failing(), ...failing()])).toMatchObject({ updates: [], blocked: null })
    const ended = await checkpoint(run, failing())
    expect(ended).toMatchObject({
      updates: [],
      blocked: expect.stringContaining('failed 6 times in the same way (steps 2 to 12).\nArguments: {"command": "npm test"}\nFailure: exit 1'),
    })
    await settleRuns(harness.deps, run.projectId, [
      { subtaskId: run.id, attempt: run.attempt, end: { kind: 'blocked', reason: ended?.blocked ?? '', partialResult: 'half' } },
    ])
    expect(await readSubtaskRow(harness.admin, run.id)).toMatchObject({
      status: 'failed',
      final_outcome: 'incomplete_blocked',
      error: ended?.blocked,
      result: 'half',
    })
  })

  it('is told once of a loop when a checkpoint is repeated, whose answer says again that the run is blocked', async () => {
    const run = await running()
    for (let time = 0; time < 2; time += 1) {
      expect(await checkpoint(run, [...failing(), ...failing(), ...failing()], { afterStepSeq: 0, takesUpdates: false })).toMatchObject({
        stepSeq: 6,
        blocked: null,
      })
    }
    expect(await countNotes(run.id)).toBe(1)
    const rest = [...failing(), ...failing(), ...failing()]
    for (let time = 0; time < 2; time += 1) {
      expect(await checkpoint(run, rest, { afterStepSeq: 6 })).toMatchObject({ stepSeq: 12, blocked: expect.stringContaining('6 times') })
    }
    expect(await countNotes(run.id)).toBe(1)
  })

  it('begins anew with the next attempt, with a success, and with other arguments', async () => {
    const run = await running()
    await checkpoint(run, [...failing(), ...failing()])
    expect(await checkpoint(run, [...use({ file_path: 'a' }, null, 'Edit'), ...failing(), ...failing('npm run build'), ...failing()])).toMatchObject({
      updates: [],
    })
    await settleRuns(harness.deps, run.projectId, [{ subtaskId: run.id, attempt: run.attempt, end: { kind: 'released' } }])
    const next = await claimOne(harness.ctx)
    expect([next.id, next.attempt]).toEqual([run.id, run.attempt + 1])
    expect(await checkpoint(next, [...failing(), ...failing()])).toMatchObject({ updates: [] })
  })

  it('is judged by the settings of its project', async () => {
    await setLoops({ repeats: 2, action: 'notice' })
    const run = await running()
    expect(texts(await checkpoint(run, [...failing(), ...failing()]))).toHaveLength(1)
    expect(await checkpoint(run, [...failing(), ...failing()])).toMatchObject({ updates: [], blocked: null })
    await setLoops({ action: 'off' })
    expect(await checkpoint(await running(), Array.from({ length: 8 }, () => failing()).flat())).toMatchObject({ updates: [], blocked: null })
    await setLoops({})
  })

  it('costs a checkpoint without a failure no statement', async () => {
    const read = vi.spyOn(stepQueries, 'listToolSteps')
    const run = await running()
    const statements = async (steps: ReturnType<typeof use>) => {
      read.mockClear()
      await checkpoint(run, steps)
      return read.mock.calls.length
    }
    expect(await statements(use({ command: 'true' }, null))).toBe(0)
    expect(await statements(failing())).toBe(1)
    read.mockRestore()
  })

  it('ends as blocked also where an outside worker runs it, whose heartbeat is answered with a stop', async () => {
    await spawn(harness.ctx, { agentId: 'outside', runner: 'external' })
    const claimed = await claimSubtask(harness.ctx, { runner: 'external', workerId: 'outside-1', leaseSeconds: 60 })
    if (claimed === null) throw new Error('nothing was claimed')
    const beat = (steps: ReturnType<typeof use>) =>
      heartbeat(harness.ctx, claimed.subtask.id, { leaseToken: claimed.lease.token, ackUpdateIds: [], steps, usage: {} })
    expect((await beat([...failing(), ...failing(), ...failing()])).updates).toHaveLength(1)
    expect(await beat([...failing(), ...failing(), ...failing()])).toMatchObject({ cancelRequested: true })
    expect(await readSubtaskRow(harness.admin, claimed.subtask.id)).toMatchObject({ status: 'failed', final_outcome: 'incomplete_blocked' })
    await expect(beat([])).rejects.toMatchObject({ code: 'lease_lost' })
  })
})

describe('a run of an outside worker that makes no step', () => {
  it('gets a notice with a heartbeat, once, and its lease ends after as long again', async () => {
    await spawn(harness.ctx, { agentId: 'outside-silent', runner: 'external' })
    const claimed = await claimSubtask(harness.ctx, { runner: 'external', workerId: 'outside-2', leaseSeconds: 60 })
    if (claimed === null) throw new Error('nothing was claimed')
    const { id } = claimed.subtask
    const beat = (steps: ReturnType<typeof use> = []) => heartbeat(harness.ctx, id, { leaseToken: claimed.lease.token, ackUpdateIds: [], steps, usage: {} })
    const age = (seconds: number) => harness.admin`update steps set at = muster_now() - ${seconds} * interval '1 second' where subtask_id = ${id}`
    await beat()
    expect(await countNotes(id)).toBe(0)
    await beat(use({ command: 'sleep' }, null))
    await age(599)
    await beat()
    expect(await countNotes(id)).toBe(0)
    await age(700)
    await Promise.all([beat(), beat()])
    await beat()
    expect(await countNotes(id)).toBe(1)
    await age(1_200)
    expect(await beat()).toMatchObject({ cancelRequested: true })
    expect(await readSubtaskRow(harness.admin, id)).toMatchObject({
      final_outcome: 'incomplete_blocked',
      error: expect.stringMatching(/^It made no step for 12\d\d seconds after step 2\.$/),
    })
    await expect(beat()).rejects.toMatchObject({ code: 'lease_lost' })
  })
})

describe('a run that makes no step', () => {
  const silent = (run: ClaimedRun, quietSeconds: number, noticeId: string) =>
    judgeSilence(harness.deps, { projectId: run.projectId, subtaskId: run.id, attempt: run.attempt, quietSeconds, noticeId })

  it('is told so once, and ends as blocked after as long again', async () => {
    const run = await running()
    await checkpoint(run, use({ command: 'sleep' }, null))
    const id = harness.deps.newId()
    expect(await silent(run, 599, id)).toEqual({ kind: 'nothing' })
    expect(await silent(run, 600, id)).toEqual({ kind: 'notice' })
    expect(await silent(run, 1_100, id)).toEqual({ kind: 'notice' })
    expect(await countNotes(run.id)).toBe(1)
    expect(texts(await checkpoint(run, []))).toEqual([expect.stringContaining('There has been no step for 600 seconds.')])
    expect(await silent(run, 1_200, id)).toEqual({ kind: 'blocked', reason: 'It made no step for 1200 seconds after step 2.' })
  })

  it('is not blocked without a notice, by the settings of its project, or once it is another worker’s', async () => {
    const run = await running()
    expect(await silent(run, 5_000, harness.deps.newId())).toEqual({ kind: 'notice' })
    await setLoops({ quiet_seconds: 0 })
    expect(await silent(run, 5_000, harness.deps.newId())).toEqual({ kind: 'nothing' })
    await setLoops({ quiet_seconds: 60, action: 'notice' })
    const id = harness.deps.newId()
    for (const seconds of [60, 500]) expect(await silent(run, seconds, id)).toEqual({ kind: 'notice' })
    await setLoops({})
    expect(await silent({ ...run, attempt: run.attempt + 1 }, 5_000, harness.deps.newId())).toEqual({ kind: 'nothing' })
  })
})

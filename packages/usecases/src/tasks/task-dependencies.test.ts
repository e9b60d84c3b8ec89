import { DomainError, type Task } from '@muster/domain'
import { allEvents, drainOutbox, type Harness, holdRow, invariants, makeTask, startHarness, waitUntilBlocked } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { assignTask, cancelTask, completeTask, failTask, getTask, reviseTask } from '../index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness({ connectionsMax: 40 })
})

afterEach(async () => {
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  const outcome = await work.catch((error: unknown) => error)
  if (outcome instanceof DomainError) return outcome
  throw new Error('was not refused', { cause: outcome })
}

const make = (...dependsOn: Task[]): Promise<Task> => makeTask(harness.ctx, { depends_on: dependsOn.map((task) => task.id) })
const waitFor = (task: Task, ...others: Task[]) => reviseTask(harness.ctx, task.id, { depends_on: others.map((other) => other.id) }, 'any')
const complete = (task: Task) => completeTask(harness.ctx, task.id, { outputs: {} })
const statusOf = async (task: Task) => (await getTask(harness.ctx, task.id)).status

async function eventsOf(task: Task): Promise<string[]> {
  await drainOutbox(harness.deps)
  return (await allEvents(harness.ctx, task.id)).map((event) => event.type)
}

describe('a task that waits for others', () => {
  it('is released in the commit that completes the last of them', async () => {
    const [one, two] = [await make(), await make()]
    const waiting = await make(one, two)
    expect(waiting).toMatchObject({ status: 'blocked', blockedBy: [one.id, two.id] })
    await complete(one)
    expect(await getTask(harness.ctx, waiting.id)).toMatchObject({ status: 'blocked', dependsOn: [one.id, two.id], blockedBy: [two.id] })
    await complete(two)
    expect(await getTask(harness.ctx, waiting.id)).toMatchObject({ status: 'pending', blockedBy: [] })
    expect(await eventsOf(waiting)).toEqual(['task.created', 'task.blocked', 'task.unblocked'])
  })

  it('is neither assigned nor completed meanwhile', async () => {
    const one = await make()
    const waiting = await make(one)
    expect(await refusalOf(assignTask(harness.ctx, waiting.id, 's'))).toMatchObject({ code: 'invalid_transition', details: { blocked_by: [one.id] } })
    expect(await refusalOf(complete(waiting))).toMatchObject({ code: 'invalid_transition', details: { status_now: 'blocked' } })
  })

  it('goes on waiting for one that has failed or was cancelled, until its brief says otherwise', async () => {
    const [one, two] = [await make(), await make()]
    const waiting = await make(one, two)
    await failTask(harness.ctx, one.id, 'x')
    await cancelTask(harness.ctx, two.id, 'x')
    expect(await getTask(harness.ctx, waiting.id)).toMatchObject({ status: 'blocked', blockedBy: [one.id, two.id] })
    expect((await waitFor(waiting)).task).toMatchObject({ status: 'pending', dependsOn: [] })
    expect(await eventsOf(waiting)).toEqual(['task.created', 'task.blocked', 'task.unblocked', 'task.revised'])
  })

  it('begins to wait by a change of its brief, as long as nobody has it', async () => {
    const [one, two, done] = [await make(), await make(), await make()]
    await complete(done)
    expect((await waitFor(two, one)).task).toMatchObject({ status: 'blocked', blockedBy: [one.id] })
    const held = (await assignTask(harness.ctx, (await make()).id, 's')).task
    expect(await refusalOf(waitFor(held, one))).toMatchObject({ code: 'invalid_transition', details: { blocked_by: [one.id] } })
    expect((await waitFor(held, done)).task).toMatchObject({ status: 'assigned', dependsOn: [done.id], blockedBy: [] })
  })

  it('has no effect on one that waits for a completed one', async () => {
    const done = await make()
    await complete(done)
    expect(await make(done)).toMatchObject({ status: 'pending', dependsOn: [done.id], blockedBy: [] })
  })
})

describe('a circle', () => {
  it('is refused with the path', async () => {
    const one = await make()
    const two = await make(one)
    const three = await make(two)
    expect(await refusalOf(waitFor(one, three))).toMatchObject({ code: 'dependency_cycle', details: { path: [one.id, three.id, two.id, one.id] } })
    expect(await refusalOf(waitFor(one, one))).toMatchObject({ code: 'dependency_cycle', details: { path: [one.id, one.id] } })
    expect(await getTask(harness.ctx, one.id)).toMatchObject({ revision: 1, dependsOn: [], status: 'pending' })
  })

  it('is not closed by two changes at once', async () => {
    for (let time = 0; time < 5; time += 1) {
      const [one, two] = [await make(), await make()]
      const outcomes = await Promise.allSettled([waitFor(one, two), waitFor(two, one)])
      expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(outcomes.find((outcome) => outcome.status === 'rejected')).toMatchObject({ reason: { code: 'dependency_cycle' } })
    }
  })
})

describe('a completion', () => {
  it('that is not committed yet holds up who begins to wait for it, so that nobody waits for ever', async () => {
    const [one, two] = [await make(), await make()]
    const letGo = await holdRow(harness.admin, one.id, 'tasks')
    const completing = complete(one)
    await waitUntilBlocked(harness.admin, 1)
    const waiting = waitFor(two, one)
    const creating = make(one)
    await waitUntilBlocked(harness.admin, 3)
    await letGo()
    await completing
    expect((await waiting).task).toMatchObject({ status: 'pending', blockedBy: [] })
    expect(await creating).toMatchObject({ status: 'pending', blockedBy: [] })
  })

  it('releases what began to wait for it just before', async () => {
    const [one, two] = [await make(), await make()]
    const letGo = await holdRow(harness.admin, two.id, 'tasks')
    const waiting = waitFor(two, one)
    await waitUntilBlocked(harness.admin, 1)
    const completing = complete(one)
    await waitUntilBlocked(harness.admin, 2)
    await letGo()
    expect((await waiting).task.status).toBe('blocked')
    await completing
    expect(await statusOf(two)).toBe('pending')
  })

  it('releases everything exactly once, however many meet', async () => {
    const first = await Promise.all(Array.from({ length: 6 }, () => make()))
    const second = await Promise.all(Array.from({ length: 6 }, (_, nth) => make(...first.filter((_task, place) => place % 3 !== nth % 3))))
    const late = await make()
    const outcomes = await Promise.allSettled([...first.map(complete), ...first.map((task) => waitFor(late, task)), make(...first), make(...first)])
    expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toEqual([])
    for (const task of second) {
      expect(await statusOf(task)).toBe('pending')
      expect((await eventsOf(task)).filter((type) => type === 'task.unblocked')).toHaveLength(1)
    }
    expect(await statusOf(late)).toBe('pending')
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EventStream } from './harness/event-stream.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { Subtask, Task } from './harness/wire.ts'

const LEASE_SECONDS = 2

let system: System

beforeAll(async () => {
  system = await startSystem({ workers: 2, env: { SUBTASK_WORKERS: '3', SUBTASK_MAX_CONCURRENT: '20', SUBTASK_LEASE_SECONDS: String(LEASE_SECONDS) } })
})
afterAll(() => system.close())

const reflection = (...lines: string[]) => `Here it is.\n<npl-block type="reflection">\n${lines.join('\n')}\n</npl-block>`
const POOR = reflection('🐛 It does not compile.')
const GOOD = 'Here it is.\n<npl-block type="check-in">\n- ✅ It compiles.\n</npl-block>'

interface Started {
  task: Task
  first: Subtask
}

/** A brief that is dispatched with rounds to spare, to a program that delivers these results, one a round. */
async function dispatch(session: string, results: string[], more: { waits?: boolean; maxRevisions?: number } = {}): Promise<Started> {
  const task = await system.client.createTask({
    title: 'Compile it',
    instructions: 'Make it compile, without a warning.',
    acceptance_criteria: ['It compiles'],
  })
  const first = await system.client.ok<Subtask>('POST', `/tasks/${task.id}/dispatch`, {
    body: {
      runner: 'rounds',
      parent_session_id: session,
      agent_id: session,
      max_revisions: more.maxRevisions ?? results.length - 1,
      // Workers are killed here, and that is not the fault of a round.
      max_attempts: 10,
      metadata: { results, waits: more.waits ?? false },
    },
  })
  return { task, first }
}

/** The rounds of a task, in their order. */
async function rounds({ task }: Started): Promise<Subtask[]> {
  const { items } = await system.client.ok<{ items: Subtask[] }>('GET', `/subtasks?task_id=${task.id}`)
  return items.toSorted((one, other) => one.revision_round - other.revision_round)
}

const round = (chain: Started, nth: number) => until(`round ${nth} is there`, async () => (await rounds(chain))[nth])
const ended = ({ task }: Started) => until('the task has ended', async () => (await system.client.task(task.id)).status === 'completed', 60_000)

async function evaluationsOf({ id }: Subtask): Promise<readonly unknown[]> {
  return await system.admin`select recommendation, is_judged from evaluations where subtask_id = ${id}`
}

describe('a chain', () => {
  it('goes on until a result is good, of which the inbox hears, and the event stream of everything', async () => {
    const chain = await dispatch('patient', [POOR, POOR, GOOD], { maxRevisions: 5 })
    await ended(chain)
    const all = await rounds(chain)
    expect(all.map(({ status, revision_of, revision_round, max_revisions }) => [status, revision_of, revision_round, max_revisions])).toEqual([
      ['completed', null, 0, 5],
      ['completed', all[0]?.id, 1, 5],
      ['completed', all[1]?.id, 2, 5],
    ])
    expect((await system.client.inbox('patient')).map((item) => item.subtask_id)).toEqual([all[2]?.id])
    const stream = await EventStream.open(system.client, '/events?after=0')
    await stream.event(({ type, subject }) => type === 'task.completed' && subject.id === chain.task.id)
    stream.close()
    const types = stream.events.filter(({ subject }) => subject.id === chain.task.id).map(({ type }) => type)
    expect(types.filter((type) => type.startsWith('task.'))).toEqual([
      'task.created',
      'task.assigned',
      'task.revision_requested',
      'task.assigned',
      'task.revision_requested',
      'task.assigned',
      'task.checked_in',
      'task.completed',
    ])
    expect(stream.types.filter((type) => type === 'evaluation.created')).toHaveLength(3)
  })

  it('loses nothing and doubles nothing when the worker of its second round is killed', async () => {
    const chain = await dispatch('killed', [POOR, POOR, GOOD], { waits: true })
    system.ledger.release((await round(chain, 0)).id)
    const second = await round(chain, 1)
    await system.ledger.written(second.id, 'start', 1)
    await system.workerOf((await system.client.get(second.id)).worker_id).child.end('SIGKILL')

    const again = await system.ledger.written(second.id, 'start', 2)
    expect(again).toMatchObject({ round: 1, text: expect.stringContaining('🐛 bug: It does not compile.') })
    system.ledger.release(second.id)
    const third = await round(chain, 2)
    expect(await system.ledger.written(third.id, 'start', 1)).toMatchObject({ round: 2 })
    system.ledger.release(third.id)
    await ended(chain)

    expect((await rounds(chain)).map(({ attempt, failures }) => [attempt, failures])).toEqual([
      [1, 0],
      [2, 1],
      [1, 0],
    ])
    for (const each of await rounds(chain)) expect(await evaluationsOf(each)).toHaveLength(1)
    expect((await system.client.inbox('killed')).map((item) => item.subtask_id)).toEqual([third.id])
    expect(await system.client.inbox('killed')).toEqual([])
    await system.startWorker()
  })
})

describe('many chains, while workers are killed again and again', () => {
  it('each come to their end, with one evaluation a completed round and one inbox item a chain', async () => {
    const chains = await Promise.all(Array.from({ length: 16 }, (_, nth) => dispatch(`crowd-${nth}`, [POOR, POOR, nth % 2 === 0 ? GOOD : POOR])))
    const ids = chains.map(({ task }) => task.id)
    for (const evaluated of [4, 14, 24, 34]) {
      await until(`${evaluated} results are evaluated`, async () => {
        const [row] = await system.admin<{ count: number }[]>`select count(*) from evaluations where task_id = any(${ids})`
        return (row?.count ?? 0) >= evaluated
      })
      await system.workers.find(({ child }) => !child.hasExited)?.child.end('SIGKILL')
      expect(await system.invariants({ whileBusy: true })).toEqual([])
      await system.startWorker()
    }
    for (const [nth, chain] of chains.entries()) {
      await ended(chain)
      const all = await rounds(chain)
      expect(all.map(({ status, revision_round }) => [status, revision_round])).toEqual([0, 1, 2].map((place) => ['completed', place]))
      for (const each of all) expect(await evaluationsOf(each)).toHaveLength(1)
      const inbox = await system.client.inbox(`crowd-${nth}`)
      expect(inbox.map((item) => item.subtask_id)).toEqual([all[2]?.id])
      // What is poor to the last is not read as it is.
      expect(inbox.map(({ result }) => result)).toEqual([nth % 2 === 0 ? GOOD : null])
    }
  })
})

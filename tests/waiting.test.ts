import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EventStream } from './harness/event-stream.ts'
import { programsOf } from './harness/programs.ts'
import { type System, startSystem } from './harness/system.ts'
import { isAlive, until } from './harness/until.ts'
import type { Subtask } from './harness/wire.ts'

let system: System

beforeAll(async () => {
  // One slot, so that a run which held it while it waits would keep everything else from running.
  system = await startSystem({ workers: 2, env: { SUBTASK_WORKERS: '1', SUBTASK_MAX_CONCURRENT: '1' } })
})
afterAll(() => system.close())

interface Question {
  id: string
  status: string
}

/** A run that has asked and waits. */
async function waiting(agentId: string, metadata: Record<string, unknown> = {}): Promise<{ id: string; question: Question }> {
  const { id } = await system.client.spawn({
    task: 'Paint the house.',
    runner: 'ask',
    agent_id: agentId,
    parent_session_id: agentId,
    max_attempts: 5,
    metadata,
  })
  await until('it waits', async () => (await system.client.get(id)).status === 'waiting')
  const { items } = await system.client.ok<{ items: Question[] }>('GET', `/questions?session=${agentId}&status=open`)
  expect(items).toHaveLength(1)
  return { id, question: items[0] as Question }
}

const answer = (question: Question, colour: string) => system.client.ok('POST', `/questions/${question.id}/answer`, { body: { answer: colour } })

describe('a run that waits for an answer', () => {
  it('has no process and no slot, and goes on where it was when the answer comes, also after a restart of everything that worked', async () => {
    const { id, question } = await waiting('painter')
    await until('its program is gone', () => programsOf(id).length === 0)
    const other = await system.client.spawn({ task: 'Look.', runner: 'act', agent_id: 'painter' })
    expect(await system.client.ended(other.id)).toMatchObject({ status: 'completed' })
    for (const { child } of system.workers) await child.end('SIGKILL')
    await system.startWorker()
    await answer(question, 'Black')
    const ended: Subtask = await system.client.ended(id)
    expect(ended).toMatchObject({ status: 'completed', attempt: 2, failures: 0, waiting_for: null })
    expect(ended.result).toMatch(/^After the walls are done: [\s\S]*Answer: Black/)
    expect(ended.waited_ms).toBeGreaterThan(0)
    const stream = await EventStream.open(system.client, `/subtasks/${id}/events`)
    await stream.ended()
    const types = stream.events.map(({ type }) => type).filter((type) => /^(subtask|question)\./.test(type) && type !== 'subtask.progress')
    expect(types).toEqual([
      'subtask.created',
      'subtask.started',
      'question.asked',
      'subtask.waiting',
      'question.answered',
      'subtask.resumed',
      'subtask.started',
      'subtask.completed',
    ])
  })

  it('goes on from the same place when its worker dies after the answer', async () => {
    const { id, question } = await waiting('sculptor', { hangs: [2] })
    await answer(question, 'Red')
    const program = await system.ledger.written(id, 'start', 2)
    await system.startWorker()
    await system.workerOf((await system.client.get(id)).worker_id).child.end('SIGKILL')
    expect(await system.client.ended(id)).toMatchObject({ status: 'completed', attempt: 3, failures: 1, result: expect.stringContaining('Answer: Red') })
    expect(isAlive(program.pid)).toBe(false)
  })

  it('waits again, with its files, until every question is answered', async () => {
    const { id, question } = await waiting('gilder', { questions: 2 })
    await answer(question, 'Gold')
    const second = await until('it asks again', async () => {
      const { items } = await system.client.ok<{ items: Question[] }>('GET', '/questions?session_id=gilder&status=open')
      return items[0]
    })
    await until('it waits again', async () => (await system.client.get(id)).waiting_for === second.id)
    await answer(second, 'Silver')
    const ended = await system.client.ended(id)
    expect(ended).toMatchObject({ status: 'completed', attempt: 3, failures: 0 })
    expect(ended.result).toMatch(/^After the walls are done\+the walls are done: [\s\S]*Answer: Silver/)
    expect(ended.result).not.toContain('Gold')
  })

  it('goes on without an answer when the question expires', async () => {
    const { id } = await waiting('mason', { question: { expires_in_seconds: 1 } })
    expect((await system.client.ended(id)).result).toContain('expired without an answer')
    expect(await system.invariants()).toEqual([])
  })
})

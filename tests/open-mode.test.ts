import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { Subtask } from './harness/wire.ts'

let system: System
beforeAll(async () => {
  system = await startSystem()
})
afterAll(() => system.close())

describe('a server that asks for no key', () => {
  it('takes no call of a subtask’s program without its credential, however the program hides', async () => {
    const { id } = await system.client.ok<Subtask>('POST', '/subtasks', { body: { task: 'Escape.', runner: 'escape' } })
    const ended = async () => await system.client.ok<Subtask>('GET', `/subtasks/${id}`)
    await until('the program has tried everything', async () => (await ended()).completed_at !== null)
    const { status, result } = await ended()
    const refused = [401, 401]
    expect({ status, answers: JSON.parse(result ?? 'null') }).toEqual({
      status: 'completed',
      answers: {
        plain: refused,
        'without an environment': refused,
        'in a session of its own': refused,
        'as a daemon': refused,
        'leaving before the answer': [],
      },
    })
    // Requests that are still under way are answered before this one's connection is closed.
    await system.api.child.end('SIGTERM')
    expect(await system.admin`select task from subtasks where task = 'Escaped.'`).toEqual([])
    expect(await system.admin`select name from api_keys where name = 'escaped'`).toEqual([])
  })
})

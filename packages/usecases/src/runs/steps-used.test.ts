import { type Harness, spawn, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stepsUsed } from '../index.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

type Entry = [attempt: number, kind: string]

async function usedBy(entries: Entry[]): Promise<number> {
  const { projectId } = harness.ctx.actor
  const { id } = await spawn(harness.ctx, { agentId: `agent-${entries.length}-${entries.flat().join('-')}` })
  for (const [place, [attempt, kind]] of entries.entries()) {
    await harness.admin`
      insert into steps (project_id, subtask_id, seq, attempt, kind, content) values (${projectId}, ${id}, ${place + 1}, ${attempt}, ${kind}, '"x"')`
  }
  return await stepsUsed(harness.deps, { projectId, id })
}

describe('the steps that earlier attempts have used', () => {
  it.each<[string, Entry[], number]>([
    ['nothing', [], 0],
    [
      'an answer with its tools',
      [
        [1, 'message'],
        [1, 'tool_call'],
        [1, 'tool_call'],
        [1, 'tool_result'],
        [1, 'tool_result'],
      ],
      1,
    ],
    [
      'two answers',
      [
        [1, 'tool_call'],
        [1, 'tool_result'],
        [1, 'message'],
      ],
      2,
    ],
    [
      'answers with an update, or an error, between them',
      [
        [1, 'message'],
        [1, 'update'],
        [1, 'message'],
        [1, 'error'],
        [1, 'message'],
      ],
      3,
    ],
    [
      'the first answers of two attempts',
      [
        [1, 'message'],
        [2, 'message'],
      ],
      2,
    ],
    [
      'no answer at all',
      [
        [1, 'update'],
        [1, 'error'],
      ],
      0,
    ],
  ])('are those of %s', async (_, entries, used) => {
    expect(await usedBy(entries)).toBe(used)
  })
})

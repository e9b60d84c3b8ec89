import { v7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { Peers } from './peers.ts'

const idsOf = (count: number) => Array.from({ length: count }, () => v7())

const countCalls = (peers: Peers, subtaskIds: readonly string[]) => subtaskIds.filter((id) => peers.isCalledBy(id)).length

/** Workers that all know of each other. */
function group(workerIds: readonly string[]): Peers[] {
  return workerIds.map((workerId) => {
    const peers = new Peers(workerId)
    peers.know(workerIds.filter((other) => other !== workerId))
    return peers
  })
}

describe('the worker that a subtask calls', () => {
  it('is one of those that know of each other, and each is called for about as many', () => {
    const [workers, subtaskIds] = [group(idsOf(8)), idsOf(4_000)]
    const calls = workers.map((peers) => countCalls(peers, subtaskIds))
    expect(calls.reduce((sum, count) => sum + count)).toBe(subtaskIds.length)
    for (const count of calls) {
      expect(count).toBeGreaterThan(300)
      expect(count).toBeLessThan(700)
    }
  })

  it('is every worker that knows of no other', () => {
    const alone = new Peers(v7())
    expect(alone.areThere).toBe(false)
    expect(countCalls(alone, idsOf(10))).toBe(10)
  })

  it('stays the same for the subtasks of other workers when one leaves', () => {
    const [workerIds, subtaskIds] = [idsOf(4), idsOf(500)]
    const called = (ids: readonly string[]) => {
      const workers = group(ids)
      return subtaskIds.map((id) => ids[workers.findIndex((peers) => peers.isCalledBy(id))])
    }
    const [before, after] = [called(workerIds), called(workerIds.slice(1))]
    for (const [place, worker] of before.entries()) if (worker !== workerIds[0]) expect(after[place]).toBe(worker)
  })
})

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BatchExecutor } from './batch-executor.ts'

/** Work whose every lot waits to be let go on; items that say so make their lot fail. */
function gated(batchesAtOnce: number, batchSizeMax = 100) {
  const batches: { items: string[]; go: () => void }[] = []
  const executor = new BatchExecutor<string, string>(
    async (items) => {
      const gate = Promise.withResolvers<void>()
      batches.push({ items: [...items], go: gate.resolve })
      await gate.promise
      if (items.includes('poison')) throw new Error('poisoned')
      return items.map((item) => (item === 'refused' ? { error: new Error('refused') } : { answer: item.toUpperCase() }))
    },
    { batchesAtOnce, batchSizeMax },
  )
  const batch = async (place: number) => {
    await expect.poll(() => batches.length).toBeGreaterThan(place)
    return batches[place] as (typeof batches)[number]
  }
  return { executor, batches, batch }
}

describe('what is gathered', () => {
  it('is done together when it comes together, and answered one by one', async () => {
    const { executor, batch } = gated(1)
    const asked = ['a', 'refused', 'c'].map((item) => executor.add(item))
    const settled = Promise.allSettled(asked)
    const first = await batch(0)
    expect(first.items).toEqual(['a', 'refused', 'c'])
    first.go()
    expect(await settled).toMatchObject([{ value: 'A' }, { reason: { message: 'refused' } }, { value: 'C' }])
  })

  it('waits while as many lots as may be are under way, and then goes in the order it came', async () => {
    const { executor, batches, batch } = gated(2, 2)
    const asked = [executor.add('a')]
    await batch(0)
    asked.push(executor.add('b'))
    await batch(1)
    asked.push(...['c', 'd', 'e'].map((item) => executor.add(item)))
    await new Promise((resolve) => setImmediate(resolve))
    expect(batches.map(({ items }) => items)).toEqual([['a'], ['b']])
    for (const place of [0, 1, 2, 3]) (await batch(place)).go()
    expect(await Promise.all(asked)).toEqual(['A', 'B', 'C', 'D', 'E'])
    expect(batches.map(({ items }) => items)).toEqual([['a'], ['b'], ['c', 'd'], ['e']])
  })

  it('waits for the lot under way while it is little, and not when a lot of its own is worth it', async () => {
    const { executor, batches, batch } = gated(2)
    const asked = [executor.add('first')]
    await batch(0)
    const few = Array.from({ length: 11 }, (_, place) => `few ${place}`)
    asked.push(...few.map((item) => executor.add(item)))
    await new Promise((resolve) => setImmediate(resolve))
    expect(batches).toHaveLength(1)
    asked.push(executor.add('one more'))
    expect((await batch(1)).items).toEqual([...few, 'one more'])
    for (const place of [0, 1]) (await batch(place)).go()
    expect(await Promise.all(asked)).toHaveLength(13)
  })

  it('waits no longer than 20 ms for a lot that hangs', async () => {
    const { executor, batch } = gated(2)
    const asked = [executor.add('hangs')]
    await batch(0)
    asked.push(executor.add('goes'))
    const second = await batch(1)
    second.go()
    expect(await asked[1]).toBe('GOES')
    ;(await batch(0)).go()
    expect(await asked[0]).toBe('HANGS')
  })

  it('that is too much for one lot goes in several at once', async () => {
    const { executor, batches, batch } = gated(2, 2)
    const asked = ['a', 'b', 'c', 'd', 'e'].map((item) => executor.add(item))
    await batch(1)
    expect(batches.map(({ items }) => items)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    for (const place of [0, 1, 2]) (await batch(place)).go()
    expect(await Promise.all(asked)).toEqual(['A', 'B', 'C', 'D', 'E'])
  })

  it('is done one by one where the lot fails, so that only the bad one does', async () => {
    const { executor, batch } = gated(1)
    const settled = Promise.allSettled(['a', 'poison', 'c'].map((item) => executor.add(item)))
    for (const place of [0, 1, 2, 3]) (await batch(place)).go()
    expect(await settled).toMatchObject([{ value: 'A' }, { reason: { message: 'poisoned' } }, { value: 'C' }])
  })

  it('is refused at once, all of it, while the database is away', async () => {
    let batches = 0
    const executor = new BatchExecutor<string, string>(
      () => {
        batches += 1
        return Promise.reject(Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' }))
      },
      { batchesAtOnce: 1, batchSizeMax: 10 },
    )
    const settled = await Promise.allSettled(['a', 'b'].map((item) => executor.add(item)))
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(batches).toBe(1)
  })
})

describe('after a batch', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

  /** Runs a batch of so many items for 5 ms. */
  async function ran(count: number) {
    const work = gated(2)
    const asked = Array.from({ length: count }, (_, place) => work.executor.add(`first ${place}`))
    await turn()
    vi.advanceTimersByTime(5)
    work.batches[0]?.go()
    await Promise.all(asked)
    return work
  }

  it('of several items, the next one waits at most twice as long as that took', async () => {
    const { executor, batches } = await ran(4)
    void executor.add('next')
    await turn()
    vi.advanceTimersByTime(9)
    await turn()
    expect(batches).toHaveLength(1)
    vi.advanceTimersByTime(1)
    await turn()
    expect(batches[1]?.items).toEqual(['next'])
  })

  it('of several items, the next one begins as soon as as many wait', async () => {
    const { executor, batches } = await ran(4)
    const next = ['a', 'b', 'c', 'd']
    for (const item of next.slice(0, 3)) void executor.add(item)
    await turn()
    expect(batches).toHaveLength(1)
    void executor.add('d')
    await turn()
    expect(batches[1]?.items).toEqual(next)
  })

  it('of fewer than four, the next item is done at once', async () => {
    const { executor, batches } = await ran(3)
    void executor.add('next')
    await turn()
    expect(batches[1]?.items).toEqual(['next'])
  })

  it('a new item waits 20 ms of its own, not what an item before it had left', async () => {
    const { executor, batches } = gated(2)
    const asked = [executor.add('first')]
    await turn()
    asked.push(executor.add('second'))
    vi.advanceTimersByTime(10)
    batches[0]?.go()
    await asked[0]
    await turn()
    expect(batches[1]?.items).toEqual(['second'])
    vi.advanceTimersByTime(5)
    asked.push(executor.add('third'))
    // When the second item would have waited for 20 ms.
    vi.advanceTimersByTime(5)
    await turn()
    expect(batches).toHaveLength(2)
    vi.advanceTimersByTime(15)
    await turn()
    expect(batches[2]?.items).toEqual(['third'])
  })
})

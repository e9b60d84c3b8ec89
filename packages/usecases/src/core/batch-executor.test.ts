import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BatchExecutor } from './batch-executor.ts'

/** Work whose every lot waits to be let go on; items that say so make their lot fail. */
function gated(batchesAtOnce: number, batchSizeMax = 100, prefersLargeBatches = false) {
  const batches: { items: string[]; go: () => void }[] = []
  const executor = new BatchExecutor<string, string>(
    async (items) => {
      const gate = Promise.withResolvers<void>()
      batches.push({ items: [...items], go: gate.resolve })
      await gate.promise
      if (items.includes('poison')) throw new Error('poisoned')
      return items.map((item) => (item === 'refused' ? { error: new Error('refused') } : { answer: item.toUpperCase() }))
    },
    { batchesAtOnce, batchSizeMax, prefersLargeBatches },
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

  it('shares a batch only up to so much length, and an item that is longer is a batch of its own', async () => {
    const batches: string[][] = []
    const work = async (items: readonly string[]) => {
      batches.push([...items])
      return items.map((item) => ({ answer: item.length }))
    }
    const executor = new BatchExecutor<string, number>(work, { batchesAtOnce: 1, batchSizeMax: 10, length: { max: 4, of: ({ length }) => length } })
    const items = ['two', 'and', 'a', 'of', 'a', 'enormous', 'b']
    expect(await Promise.all(items.map((item) => executor.add(item)))).toEqual([3, 3, 1, 2, 1, 8, 1])
    expect(batches).toEqual([['two'], ['and', 'a'], ['of', 'a'], ['enormous'], ['b']])
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

describe('by the clock', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  const pass = async (ms: number) => {
    vi.advanceTimersByTime(ms)
    await turn()
  }

  it('an item waits 20 ms of its own, not what an item before it had left', async () => {
    const { executor, batches } = gated(2)
    void executor.add('first')
    await turn()
    void executor.add('second')
    await pass(10)
    batches[0]?.go()
    await turn()
    expect(batches[1]?.items).toEqual(['second'])
    await pass(5)
    void executor.add('third')
    // When the second item would have waited for 20 ms.
    await pass(5)
    expect(batches).toHaveLength(2)
    await pass(15)
    expect(batches[2]?.items).toEqual(['third'])
  })

  it.each([false, true])(
    'an item that all batches kept waiting is done after any of them, while others hang (prefers large batches: %s)',
    async (prefersLargeBatches) => {
      const { executor, batches } = gated(2, 100, prefersLargeBatches)
      void executor.add('hangs')
      await turn()
      void executor.add('long')
      await pass(100)
      expect(batches).toHaveLength(2)
      void executor.add('waits')
      await pass(150)
      expect(batches).toHaveLength(2)
      batches[1]?.go()
      await turn()
      expect(batches[2]?.items).toEqual(['waits'])
    },
  )

  it('an item that came while all batches ran waits for its 100 ms, although one of them has ended', async () => {
    const { executor, batches } = gated(2, 100, true)
    void executor.add('hangs')
    await turn()
    void executor.add('long')
    await pass(100)
    void executor.add('waits')
    await pass(30)
    batches[1]?.go()
    await turn()
    expect(batches).toHaveLength(2)
    await pass(70)
    expect(batches[2]?.items).toEqual(['waits'])
  })

  describe('that prefers large batches', () => {
    /** Runs a batch of so many items for so long. */
    async function ran(count: number, tookMs: number) {
      const work = gated(2, 6, true)
      const asked = Array.from({ length: count }, (_, place) => work.executor.add(`first ${place}`))
      await turn()
      await pass(tookMs)
      work.batches[0]?.go()
      await Promise.all(asked)
      await turn()
      return work
    }

    it.each([
      [5, 10],
      [50, 20],
    ])('after a batch of four that took %d ms, the next item waits for %d ms', async (tookMs, waitsMs) => {
      const { executor, batches } = await ran(4, tookMs)
      void executor.add('next')
      await pass(waitsMs - 1)
      expect(batches).toHaveLength(1)
      await pass(1)
      expect(batches[1]?.items).toEqual(['next'])
    })

    it('after a batch of four, the next one begins as soon as four wait', async () => {
      const { executor, batches } = await ran(4, 5)
      const next = ['a', 'b', 'c', 'd']
      for (const item of next.slice(0, 3)) void executor.add(item)
      await turn()
      expect(batches).toHaveLength(1)
      void executor.add('d')
      await turn()
      expect(batches[1]?.items).toEqual(next)
    })

    it('after a batch of fewer than four, the next item is done at once', async () => {
      const { executor, batches } = await ran(3, 5)
      void executor.add('next')
      await turn()
      expect(batches[1]?.items).toEqual(['next'])
    })

    it('a second batch begins at once only if it is full', async () => {
      const { executor, batches } = gated(2, 6, true)
      void executor.add('first')
      await turn()
      for (let place = 0; place < 5; place += 1) void executor.add(`few ${place}`)
      await pass(99)
      expect(batches).toHaveLength(1)
      void executor.add('one more')
      await turn()
      expect(batches[1]?.items).toHaveLength(6)
      // Beside the running batch, the second one takes no more when it has ended.
      void executor.add('next')
      batches[1]?.go()
      await turn()
      expect(batches).toHaveLength(2)
      batches[0]?.go()
      await turn()
      expect(batches[2]?.items).toEqual(['next'])
    })
  })
})

import { describe, expect, it } from 'vitest'
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

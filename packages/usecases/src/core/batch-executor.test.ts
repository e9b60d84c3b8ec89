import { describe, expect, it } from 'vitest'
import { Gather } from './batch-executor.ts'

/** Work whose every lot waits to be let go on; items that say so make their lot fail. */
function gated(lotsAtOnce: number, itemsPerLotMax = 100) {
  const lots: { items: string[]; go: () => void }[] = []
  const gather = new Gather<string, string>(
    async (items) => {
      const gate = Promise.withResolvers<void>()
      lots.push({ items: [...items], go: gate.resolve })
      await gate.promise
      if (items.includes('poison')) throw new Error('poisoned')
      return items.map((item) => (item === 'refused' ? { error: new Error('refused') } : { answer: item.toUpperCase() }))
    },
    { lotsAtOnce, itemsPerLotMax },
  )
  const lot = async (place: number) => {
    await expect.poll(() => lots.length).toBeGreaterThan(place)
    return lots[place] as (typeof lots)[number]
  }
  return { gather, lots, lot }
}

describe('what is gathered', () => {
  it('is done together when it comes together, and answered one by one', async () => {
    const { gather, lot } = gated(1)
    const asked = ['a', 'refused', 'c'].map((item) => gather.add(item))
    const settled = Promise.allSettled(asked)
    const first = await lot(0)
    expect(first.items).toEqual(['a', 'refused', 'c'])
    first.go()
    expect(await settled).toMatchObject([{ value: 'A' }, { reason: { message: 'refused' } }, { value: 'C' }])
  })

  it('waits while as many lots as may be are under way, and then goes in the order it came', async () => {
    const { gather, lots, lot } = gated(2, 2)
    const asked = [gather.add('a')]
    await lot(0)
    asked.push(gather.add('b'))
    await lot(1)
    asked.push(...['c', 'd', 'e'].map((item) => gather.add(item)))
    await new Promise((resolve) => setImmediate(resolve))
    expect(lots.map(({ items }) => items)).toEqual([['a'], ['b']])
    for (const place of [0, 1, 2, 3]) (await lot(place)).go()
    expect(await Promise.all(asked)).toEqual(['A', 'B', 'C', 'D', 'E'])
    expect(lots.map(({ items }) => items)).toEqual([['a'], ['b'], ['c', 'd'], ['e']])
  })

  it('that is too much for one lot goes in several at once', async () => {
    const { gather, lots, lot } = gated(2, 2)
    const asked = ['a', 'b', 'c', 'd', 'e'].map((item) => gather.add(item))
    await lot(1)
    expect(lots.map(({ items }) => items)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    for (const place of [0, 1, 2]) (await lot(place)).go()
    expect(await Promise.all(asked)).toEqual(['A', 'B', 'C', 'D', 'E'])
  })

  it('is done one by one where the lot fails, so that only the bad one does', async () => {
    const { gather, lot } = gated(1)
    const settled = Promise.allSettled(['a', 'poison', 'c'].map((item) => gather.add(item)))
    for (const place of [0, 1, 2, 3]) (await lot(place)).go()
    expect(await settled).toMatchObject([{ value: 'A' }, { reason: { message: 'poisoned' } }, { value: 'C' }])
  })

  it('is refused at once, all of it, while the database is away', async () => {
    let lots = 0
    const gather = new Gather<string, string>(
      () => {
        lots += 1
        return Promise.reject(Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' }))
      },
      { lotsAtOnce: 1, itemsPerLotMax: 10 },
    )
    const settled = await Promise.allSettled(['a', 'b'].map((item) => gather.add(item)))
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(lots).toBe(1)
  })
})

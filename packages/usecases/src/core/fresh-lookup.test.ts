import { describe, expect, it } from 'vitest'
import { FreshLookup } from './fresh-lookup.ts'

function gatedLookup() {
  const looks: (PromiseWithResolvers<number> & { key: string })[] = []
  const lookup = new FreshLookup<number>((key) => {
    const look = { ...Promise.withResolvers<number>(), key }
    looks.push(look)
    return look.promise
  })
  return { looks, lookup }
}

describe('a fresh lookup', () => {
  it('shares one look between all who ask before it begins, and none that began before they asked', async () => {
    const { looks, lookup } = gatedLookup()
    const first = lookup.ask('key')
    const later = [lookup.ask('key'), lookup.ask('key')]
    expect(looks).toHaveLength(1)
    looks[0]?.resolve(1)
    expect(await first).toBe(1)
    await expect.poll(() => looks.length).toBe(2)
    const last = lookup.ask('key')
    looks[1]?.resolve(2)
    expect(await Promise.all(later)).toEqual([2, 2])
    await expect.poll(() => looks.length).toBe(3)
    looks[2]?.resolve(3)
    expect(await last).toBe(3)
  })

  it('asks for different keys at the same time', async () => {
    const { looks, lookup } = gatedLookup()
    const asked = [lookup.ask('one'), lookup.ask('two')]
    expect(looks.map((look) => look.key)).toEqual(['one', 'two'])
    for (const look of looks) look.resolve(7)
    expect(await Promise.all(asked)).toEqual([7, 7])
  })

  it('fails for those who shared the look that failed, and looks again for the others', async () => {
    const { looks, lookup } = gatedLookup()
    const first = lookup.ask('key')
    const second = lookup.ask('key')
    looks[0]?.reject(new Error('away'))
    await expect(first).rejects.toThrow('away')
    await expect.poll(() => looks.length).toBe(2)
    looks[1]?.resolve(5)
    expect(await second).toBe(5)
    const third = lookup.ask('key')
    expect(looks).toHaveLength(3)
    looks[2]?.resolve(6)
    expect(await third).toBe(6)
  })
})

import { describe, expect, it } from 'vitest'
import { DocumentCache } from './document-cache.ts'

const document = (kilobytes: number) => ({ status: 'completed', version: '1', text: 'x'.repeat(kilobytes * 1024), tag: '"x"' }) as const

describe('the document cache', () => {
  it('forgets what was not asked for longest when its texts together are longer than 8 Mi characters', () => {
    const cache = new DocumentCache()
    for (let place = 0; place < 32; place += 1) cache.set(`k${place}`, document(256))
    expect(cache.get('k0')).toBeDefined()
    cache.set('k32', document(256))
    expect(cache.get('k0')).toBeDefined()
    expect(cache.get('k1')).toBeUndefined()
    expect(cache.get('k2')).toBeDefined()
  })

  it('counts a document that takes the place of another only once', () => {
    const cache = new DocumentCache()
    cache.set('kept', document(1))
    for (let round = 0; round < 100; round += 1) cache.set('same', document(256))
    expect(cache.get('kept')).toBeDefined()
  })

  it('keeps no text longer than 256 Ki characters, and no older version in its place', () => {
    const cache = new DocumentCache()
    cache.set('k', document(1))
    cache.set('k', document(257))
    expect(cache.get('k')).toBeUndefined()
  })
})

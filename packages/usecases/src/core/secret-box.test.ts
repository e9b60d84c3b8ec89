import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { currentKeyId, openSecret, sealSecret } from './secret-box.ts'

const key = () => randomBytes(32).toString('base64')
const withKeys = (SECRETS_KEYS: string | undefined) => ({ settings: { SECRETS_KEYS } })
const OLD = `old:${key()}`
const NEW = `new:${key()}`

describe('a sealed secret', () => {
  it('is opened by its key, also when that is not the current one any more', () => {
    const sealed = sealSecret(withKeys(OLD), 'row', 'whsec_… ü')
    expect(sealed).toMatch(/^old\.[\w-]+$/)
    expect(openSecret(withKeys(OLD), 'row', sealed)).toBe('whsec_… ü')
    expect(openSecret(withKeys(`${NEW},${OLD}`), 'row', sealed)).toBe('whsec_… ü')
    expect(currentKeyId(withKeys(`${NEW},${OLD}`))).toBe('new')
  })

  it('differs each time, and says nothing of the secret', () => {
    const [one, other] = [sealSecret(withKeys(OLD), 'row', 'same'), sealSecret(withKeys(OLD), 'row', 'same')]
    expect(one).not.toBe(other)
  })

  it.each([
    ['without a key', undefined],
    ['with another key', NEW],
    ['with another key of the same id', `old:${key()}`],
  ])('cannot be opened %s', (_, keys) => {
    const sealed = sealSecret(withKeys(OLD), 'row', 'secret')
    expect(() => openSecret(withKeys(keys), 'row', sealed)).toThrow(expect.objectContaining({ code: 'secrets_not_configured' }))
  })

  it('cannot be opened in another row, or after a change', () => {
    const sealed = sealSecret(withKeys(OLD), 'row', 'secret')
    const changed = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`
    for (const [owner, text] of [
      ['other', sealed],
      ['row', changed],
      ['row', 'old.'],
      ['row', ''],
    ] as const) {
      expect(() => openSecret(withKeys(OLD), owner, text)).toThrow(expect.objectContaining({ code: 'secrets_not_configured' }))
    }
  })

  it('is not made without a key', () => {
    expect(() => sealSecret(withKeys(undefined), 'row', 'secret')).toThrow(expect.objectContaining({ code: 'secrets_not_configured' }))
  })
})

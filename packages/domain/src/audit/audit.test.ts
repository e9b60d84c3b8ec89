import { describe, expect, it } from 'vitest'
import { fieldNames, idsAmong, idsOfResult } from './audit.ts'

describe('the audit log', () => {
  it.each([
    [{ name: 'secret value', settings: { limits: { pending: 5 }, timezone: 'UTC' } }, ['name', 'settings.limits', 'settings.timezone']],
    [{ metadata: { 'my secret': 1 }, task: 'x', tags: ['a'] }, ['metadata', 'task', 'tags']],
    [{ settings: {} }, ['settings']],
    ['text', []],
    [null, []],
  ])('names what %j sets, and no value', (body, names) => {
    expect(fieldNames(body)).toEqual(names)
  })

  it('is bounded, whatever a caller sends', () => {
    const body = Object.fromEntries(Array.from({ length: 200 }, (_, place) => [`${'x'.repeat(100)}${place}`, 1]))
    const names = fieldNames(body)
    expect(names).toHaveLength(50)
    expect(Math.max(...names.map((name) => name.length))).toBe(65)
    expect(idsAmong({ id: 'y'.repeat(500) }).id).toHaveLength(129)
  })

  it('names what was made', () => {
    expect(idsOfResult({ id: 'a', task: { id: 'b' }, apiKey: { id: 'c' }, secret: 'mst_key_x', other: 1 })).toEqual({ id: 'a', task_id: 'b', api_key_id: 'c' })
    expect(idsOfResult(null)).toEqual({})
  })

  it('takes the ids of a request, and nothing else of it', () => {
    expect(idsAmong({ id: 'a', task_id: 'b', content: 'text', limit: 5, name: 'counter' })).toEqual({ id: 'a', task_id: 'b', name: 'counter' })
  })
})

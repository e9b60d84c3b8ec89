import { describe, expect, it } from 'vitest'
import { clean, duration, oneLine, relativeTime, safeJson } from './text.ts'

describe('text of agents on a terminal', () => {
  it.each([
    ['a colour', '\u001b[31mred\u001b[0m', 'red'],
    ['a link', '\u001b]8;;http://evil.test\u0007here\u001b]8;;\u0007', 'here'],
    ['the title of the window', '\u001b]0;owned\u0007text', 'text'],
    ['a cursor that goes up', 'one\u001b[1Atwo', 'onetwo'],
    ['a return to the start of the line', 'cancelled\rcompleted', 'cancelledcompleted'],
    ['backspaces', 'failed\b\b\b\b\b\bdone', 'faileddone'],
    ['an 8-bit control sequence', '\u009b31mred', 'red'],
    ['a turned direction', 'abc\u202etxt.exe', 'abctxt.exe'],
    ['line ends of Windows', 'a\r\nb', 'a\nb'],
  ])('shows %s as what was written', (_what, text, shown) => {
    expect(clean(text)).toBe(shown)
  })

  it('keeps tabs, line feeds and letters of every script', () => {
    expect(clean('a\tb\nдом 家 🏠')).toBe('a\tb\nдом 家 🏠')
  })

  it('is one line where a row has one', () => {
    expect(oneLine('a\n  b\t c')).toBe('a b c')
    expect(oneLine({ a: '\u001b[2J' })).toBe('{"a":"\\u001b[2J"}')
  })

  it('is the same value in JSON, and no control sequence', () => {
    const value = { text: 'a\u009b2J\u001b[31m\u007f\u202eb\n' }
    expect(safeJson(value)).toBe('{"text":"a\\u009b2J\\u001b[31m\\u007f\\u202eb\\n"}')
    expect(JSON.parse(safeJson(value))).toEqual(value)
  })
})

it('says times relative to now', () => {
  const now = Date.parse('2026-03-02T12:00:00Z')
  const at = (text: string) => relativeTime(text, now)
  expect([at('2026-03-02T11:59:59Z'), at('2026-03-02T11:59:00Z'), at('2026-03-02T15:00:00Z'), at('2026-02-20T12:00:00Z')]).toEqual([
    'now',
    '1 min ago',
    'in 3 h',
    '10 d ago',
  ])
  expect(relativeTime(null)).toBe('')
})

it('says how long something took', () => {
  expect([duration(12), duration(1_234), duration(180_000), duration(null)]).toEqual(['12 ms', '1.2 s', '3 min', ''])
})

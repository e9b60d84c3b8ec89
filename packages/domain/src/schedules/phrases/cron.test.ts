import { describe, expect, it } from 'vitest'
import { firingsAfter, readPhrase } from '../../index.ts'
import type { PhraseContext, PhraseReading } from './phrase.ts'

/** A Friday. */
const AT: PhraseContext = { now: new Date('2026-03-06T12:00:00Z'), timezone: 'UTC', projectTimezone: null, minIntervalSeconds: 10 }

function read(text: string, at: Partial<PhraseContext> = {}): PhraseReading {
  return readPhrase({ kind: 'cron', text }, { ...AT, ...at })
}

/** The next three, as `03-09 09:00` in UTC. */
function next(text: string): string[] {
  const { timing, timezone } = read(text)
  return firingsAfter(timing, timezone, AT.now, 3).map((firing) => firing.toISOString().slice(5, 16).replace('T', ' '))
}

describe('a cron expression', () => {
  it.each<[string, string, string[]]>([
    ['0 9 * * 1-5', 'At 09:00, Monday through Friday, UTC', ['03-09 09:00', '03-10 09:00', '03-11 09:00']],
    ['0 9 * * MON-FRI', 'At 09:00, Monday through Friday, UTC', ['03-09 09:00', '03-10 09:00', '03-11 09:00']],
    ['0 9 * * mon', 'At 09:00, only on Monday, UTC', ['03-09 09:00', '03-16 09:00', '03-23 09:00']],
    ['0 9 * * 0', 'At 09:00, only on Sunday, UTC', ['03-08 09:00', '03-15 09:00', '03-22 09:00']],
    ['0 9 * * 7', 'At 09:00, only on Sunday, UTC', ['03-08 09:00', '03-15 09:00', '03-22 09:00']],
    ['*/15 * * * *', 'Every 15 minutes, UTC', ['03-06 12:15', '03-06 12:30', '03-06 12:45']],
    ['30 9,17 * * *', 'At 09:30 and 17:30, every day, UTC', ['03-06 17:30', '03-07 09:30', '03-07 17:30']],
    ['0 0 1 * *', 'At 00:00, on day 1 of the month, UTC', ['04-01 00:00', '05-01 00:00', '06-01 00:00']],
    ['0 18 L * *', 'At 18:00, on the last day of the month, UTC', ['03-31 18:00', '04-30 18:00', '05-31 18:00']],
    ['0 9 * * 1#2', 'At 09:00, on the second Monday of the month, UTC', ['03-09 09:00', '04-13 09:00', '05-11 09:00']],
    ['0 9 * * 5L', 'At 09:00, on the last Friday of the month, UTC', ['03-27 09:00', '04-24 09:00', '05-29 09:00']],
    ['0 9 1 JAN ?', 'At 09:00, on day 1 of the month, only in January, UTC', ['01-01 09:00', '01-01 09:00', '01-01 09:00']],
    ['30 0 9 * * *', 'At 09:00:30, every day, UTC', ['03-07 09:00', '03-08 09:00', '03-09 09:00']],
    ['0 30 9 * * 1-5', 'At 09:30, Monday through Friday, UTC', ['03-09 09:30', '03-10 09:30', '03-11 09:30']],
    ['*/30 * * * * *', 'Every 30 seconds, UTC', ['03-06 12:00', '03-06 12:01', '03-06 12:01']],
    ['@daily', 'At 00:00, every day, UTC', ['03-07 00:00', '03-08 00:00', '03-09 00:00']],
    ['@midnight', 'At 00:00, every day, UTC', ['03-07 00:00', '03-08 00:00', '03-09 00:00']],
    ['@hourly', 'Every hour, UTC', ['03-06 13:00', '03-06 14:00', '03-06 15:00']],
    ['@weekly', 'At 00:00, only on Sunday, UTC', ['03-08 00:00', '03-15 00:00', '03-22 00:00']],
    ['@monthly', 'At 00:00, on day 1 of the month, UTC', ['04-01 00:00', '05-01 00:00', '06-01 00:00']],
    ['@yearly', 'At 00:00, on day 1 of the month, only in January, UTC', ['01-01 00:00', '01-01 00:00', '01-01 00:00']],
    ['  0   9 * * *  ', 'At 09:00, every day, UTC', ['03-07 09:00', '03-08 09:00', '03-09 09:00']],
  ])('%s', (text, reading, firings) => {
    const found = read(text)
    expect(found.reading).toBe(reading)
    expect(next(text)).toEqual(firings)
    expect(found.warnings).toEqual([])
    expect(read(found.canonical, { timezone: null })).toMatchObject({ timing: found.timing, timezone: 'UTC', canonical: found.canonical })
    // `every` takes cron as well, and means the same by it.
    expect(readPhrase({ kind: 'every', text }, AT)).toEqual(found)
  })

  it('may end in a zone, and means its wall clock', () => {
    const found = read('0 9 * * 1-5 America/New_York', { timezone: null })
    expect(found).toMatchObject({
      timezone: 'America/New_York',
      canonical: '0 9 * * 1-5 America/New_York',
      reading: 'At 09:00, Monday through Friday, America/New_York',
    })
    expect(firingsAfter(found.timing, found.timezone, AT.now, 2).map((firing) => firing.toISOString())).toEqual([
      '2026-03-06T14:00:00.000Z',
      '2026-03-09T13:00:00.000Z',
    ])
    expect(read('0 9 * * * ET', { timezone: null }).canonical).toBe('0 9 * * * America/New_York')
    expect(read('@daily Europe/Berlin', { timezone: null }).canonical).toBe('0 0 * * * Europe/Berlin')
  })

  it('warns that days of the month and of the week are either, not both', () => {
    expect(read('0 9 13 * 5').warnings).toEqual([
      { code: 'either_day', message: 'Both a day of the month and a day of the week are given: it is due on days that are either.' },
    ])
    expect(next('0 9 13 * 5')).toEqual(['03-13 09:00', '03-20 09:00', '03-27 09:00'])
    expect(next('0 9 14 * 5')).toEqual(['03-13 09:00', '03-14 09:00', '03-20 09:00'])
  })

  it.each<[string, string[]]>([
    ['*/7 * * * *', ['03-06 12:07', '03-06 12:14', '03-06 12:21']],
    ['0 */5 * * *', ['03-06 15:00', '03-06 20:00', '03-07 00:00']],
    ['*/50 * * * * *', ['03-06 12:00', '03-06 12:01', '03-06 12:01']],
    ['50/20 * * * *', ['03-06 12:50', '03-06 13:50', '03-06 14:50']],
    ['0 9 */2 * *', ['03-07 09:00', '03-09 09:00', '03-11 09:00']],
    ['0 9 * */5 *', ['06-01 09:00', '06-02 09:00', '06-03 09:00']],
    ['0 9 * * */2', ['03-07 09:00', '03-08 09:00', '03-10 09:00']],
  ])('warns that the steps of %s begin again', (text, firings) => {
    expect(read(text).warnings.map(({ code }) => code)).toEqual(['uneven_steps'])
    expect(next(text)).toEqual(firings)
  })

  it.each(['*/15 * * * *', '5/15 * * * *', '*/60 * * * *', '0 */6 * * *', '0 9-17/3 * * *', '0 0 1 */3 *'])('has nothing to say of the steps of %s', (text) => {
    expect(read(text).warnings).toEqual([])
  })

  it.each(['*/100 * * * *', '0 */25 * * *', '0 0 */32 * *'])('refuses the step of %s, which would be read as what it is not', (text) => {
    expect(() => read(text)).toThrow('Use a smaller step')
  })

  it('keeps to the shortest distance that is allowed', () => {
    expect(read('*/10 * * * * *').reading).toBe('Every 10 seconds, UTC')
    expect(() => read('*/10 * * * * *', { minIntervalSeconds: 60 })).toThrow('at least 60 s are needed')
    expect(() => read('* * * * *', { minIntervalSeconds: 61 })).toThrow('two firings of it can be 60 s apart')
  })
})

import { CronExpressionParser } from 'cron-parser'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextWall, readCron } from './cron-times.ts'

const list = (min: number, max: number) =>
  fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 }).map((values) => values.sort((a, b) => a - b).join(','))
const field = (min: number, max: number, ...others: string[]) =>
  fc.oneof(fc.constant('*'), list(min, max), fc.constantFrom('*', `*/${Math.ceil(max / 4)}`, ...others))

const crons = fc
  .tuple(
    fc.oneof(fc.constant('0'), field(0, 59)),
    field(0, 59, '10-20'),
    field(0, 23, '9-17', '22-23'),
    field(1, 31, 'L', '1,L', '?', '29-31', '1-31'),
    field(1, 12, 'JAN,feb', '2'),
    field(0, 6, '1#1', '5#5', '5L', '1,3L', 'MON-FRI', '7', '5-7', '?'),
  )
  .map((fields) => fields.join(' '))

/** What cron-parser itself finds, with the wall clock as if it were UTC, so that no clock is ever changed. */
function oracle(cron: string, after: number, most: number): number[] {
  return CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: new Date(after) })
    .take(most)
    .map((each) => each.getTime())
}

function walls(cron: string, after: number, most: number): number[] {
  const found: number[] = []
  for (let last = nextWall({ kind: 'calendar', crons: [cron], every: null }, after); last !== null && found.length < most; ) {
    found.push(last)
    last = nextWall({ kind: 'calendar', crons: [cron], every: null }, last)
  }
  return found
}

describe('the times of a cron expression', () => {
  it('are those that cron-parser finds', () => {
    const after = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2032, 0) })
    fc.assert(
      fc.property(crons, after, (cron, from) => {
        let expected: number[]
        try {
          expected = oracle(cron, from, 5)
        } catch {
          // A day that no month of it has.
          expected = []
        }
        expect(walls(cron, from, 5)).toEqual(expected)
      }),
      { numRuns: 150 },
    )
  })

  it.each(['0 0 0 30 2 *', '0 0 30 2 *', '0 0 9 31 4,6,9,11 *', '0 0 9 31 JUN ?'])('are none for %s', (cron) => {
    expect(walls(cron, 0, 1)).toEqual([])
  })

  it.each([
    ['0 0 30 2 1', ['2026-02-02T00:00:00.000Z', '2026-02-09T00:00:00.000Z']],
    ['0 0 0 29 2 *', ['2028-02-29T00:00:00.000Z', '2032-02-29T00:00:00.000Z']],
    // Either of the days will do.
    ['0 0 0 13 * 5', ['2026-01-02T00:00:00.000Z', '2026-01-09T00:00:00.000Z', '2026-01-13T00:00:00.000Z', '2026-01-16T00:00:00.000Z']],
    ['0 0 0 31 * *', ['2026-01-31T00:00:00.000Z', '2026-03-31T00:00:00.000Z', '2026-05-31T00:00:00.000Z']],
    ['0 0 18 L * *', ['2026-01-31T18:00:00.000Z', '2026-02-28T18:00:00.000Z', '2026-03-31T18:00:00.000Z']],
    ['59 59 23 31 12 *', ['2026-12-31T23:59:59.000Z', '2027-12-31T23:59:59.000Z']],
    ['0 0 0 1 1 *', ['2027-01-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z']],
  ])('of %s are these', (cron, expected) => {
    expect(walls(cron, Date.UTC(2026, 0), expected.length)).toEqual(expected.map((each) => Date.parse(each)))
  })

  it('of Feb 29 leave out 2100', () => {
    expect(walls('0 0 0 29 2 *', Date.UTC(2096, 1, 29), 1)).toEqual([Date.UTC(2104, 1, 29)])
  })

  it('come in the next whole second at the earliest', () => {
    expect(walls('* * * * * *', Date.UTC(2026, 0, 1, 0, 0, 0, 1), 1)).toEqual([Date.UTC(2026, 0, 1, 0, 0, 1)])
    expect(walls('* * * * * *', Date.UTC(2026, 0, 1, 0, 0, 0, 0) - 1, 1)).toEqual([Date.UTC(2026, 0, 1)])
  })

  it('are the same each time for a value that cron-parser draws', () => {
    const [drawn] = readCron('0 H H * * *').minutes
    expect(drawn).toBe(CronExpressionParser.parse('0 H H * * *', { hashSeed: 'muster' }).fields.minute.values[0])
  })

  it.each(['61 * * * *', '* * * *  * * *', 'every day', '0 0 0 32 * *', '0 0 0 * * 9'])('cannot be read from %j', (cron) => {
    expect(() => readCron(cron)).toThrow()
  })
})

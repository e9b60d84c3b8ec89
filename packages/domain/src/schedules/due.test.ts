import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DueDecision, type DueSchedule, decideDue, nextFiring } from '../index.ts'
import type { DueSlot } from './due.ts'

/** Every minute, and the first slot that was not looked at is 09:00. */
function due(over: Partial<DueSchedule> = {}): DueSchedule {
  return {
    timing: { kind: 'calendar', crons: ['0 * * * * *'], every: null },
    timezone: 'UTC',
    state: 'active',
    nextFireAt: at('09:00'),
    fireCount: 0,
    maxFires: null,
    overlap: 'skip',
    missed: 'skip',
    graceSeconds: 60,
    hasRun: false,
    hasWaitingSlot: false,
    ...over,
  }
}

function at(time: string): Date {
  return new Date(`2026-03-06T${time}${time.length === 5 ? ':00' : ''}Z`)
}

function time(date: Date | null): string | null {
  return date === null ? null : date.toISOString().slice(11, 16)
}

/** `09:00 fire`, and last the next slot. */
function said({ slots, nextFireAt }: DueDecision): (string | null)[] {
  return [...slots.map(({ slot, outcome }) => `${time(slot)} ${outcome}`), time(nextFireAt)]
}

function minutes(from: number, count: number, outcome: DueSlot['outcome']): string[] {
  return Array.from({ length: count }, (_, index) => `09:${`${from + index}`.padStart(2, '0')} ${outcome}`)
}

const ONCE: Partial<DueSchedule> = { timing: { kind: 'once', at: '2026-03-06T09:00:00Z' } }

describe('what is due', () => {
  it.each<[string, Partial<DueSchedule>, string, (string | null)[]]>([
    ['nothing yet', {}, '08:59:59.999', ['09:00']],
    ['a slot at its very instant', {}, '09:00', ['09:00 fire', '09:01']],
    ['a slot within grace, to the millisecond', { graceSeconds: 30 }, '09:00:30', ['09:00 fire', '09:01']],
    ['nothing, when no slot is to come', { nextFireAt: null }, '09:00', [null]],

    // Missed.
    ['one that is missed, and skipped', { graceSeconds: 30 }, '09:00:30.001', ['09:00 skipped_missed', '09:01']],
    ['one that is missed, and made up for', { graceSeconds: 30, missed: 'run_once' }, '09:00:30.001', ['09:00 fire', '09:01']],
    ['ten, the last within grace', { graceSeconds: 59 }, '09:09:30', [...minutes(0, 9, 'skipped_missed'), '09:09 fire', '09:10']],
    ['ten, the last within grace, run once', { graceSeconds: 59, missed: 'run_once' }, '09:09:30', [...minutes(0, 9, 'skipped_missed'), '09:09 fire', '09:10']],
    ['ten, all missed', { graceSeconds: 10 }, '09:09:30', [...minutes(0, 10, 'skipped_missed'), '09:10']],
    ['ten, all missed, run once', { graceSeconds: 10, missed: 'run_once' }, '09:09:30', [...minutes(0, 9, 'skipped_missed'), '09:09 fire', '09:10']],
    ['one without grace, as late as it is found', { graceSeconds: 0 }, '09:00:01', ['09:00 fire', '09:01']],
    ['ten without grace', { graceSeconds: 0, missed: 'run_once' }, '09:09', [...minutes(0, 9, 'skipped_missed'), '09:09 fire', '09:10']],

    ['what has no row yet', { takenMs: new Set([at('09:01').getTime()]), graceSeconds: 600, overlap: 'allow' }, '09:02', ['09:00 fire', '09:02 fire', '09:03']],

    // Overlap.
    ['one while another runs', { hasRun: true }, '09:00', ['09:00 skipped_overlap', '09:01']],
    ['one while another runs, allowed', { hasRun: true, overlap: 'allow' }, '09:00', ['09:00 fire', '09:01']],
    ['one while another waits', { hasWaitingSlot: true }, '09:00', ['09:00 skipped_overlap', '09:01']],
    ['one while another waits, allowed, since only one may wait', { hasWaitingSlot: true, overlap: 'allow' }, '09:00', ['09:00 skipped_overlap', '09:01']],
    ['two within grace', { graceSeconds: 90 }, '09:01', ['09:00 fire', '09:01 skipped_overlap', '09:02']],
    ['two within grace, allowed', { graceSeconds: 90, overlap: 'allow' }, '09:01', ['09:00 fire', '09:01 fire', '09:02']],
    ['a missed one while another runs', { graceSeconds: 0, hasRun: true }, '09:00:30', ['09:00 skipped_missed', '09:01']],
    ['the one that makes up, while another runs', { graceSeconds: 0, hasRun: true, missed: 'run_once' }, '09:00:30', ['09:00 skipped_overlap', '09:01']],

    // Paused.
    ['one of a paused schedule', { state: 'paused' }, '09:00', ['09:00 skipped_paused', '09:01']],
    ['ten of a paused schedule', { state: 'paused', missed: 'run_once', graceSeconds: 0 }, '09:09:30', [...minutes(0, 10, 'skipped_paused'), '09:10']],
    ['one of a paused schedule while another runs', { state: 'paused', hasRun: true, maxFires: 3 }, '09:00', ['09:00 skipped_paused', '09:01']],

    // A queue without room, known at the second attempt.
    ['one without room', { room: 0 }, '09:00', ['09:00 waiting', '09:01']],
    ['two without room', { room: 0, graceSeconds: 90 }, '09:01', ['09:00 waiting', '09:01 skipped_overlap', '09:02']],
    [
      'three with room for one, allowed',
      { room: 1, graceSeconds: 150, overlap: 'allow' },
      '09:02',
      ['09:00 fire', '09:01 waiting', '09:02 skipped_overlap', '09:03'],
    ],
    ['one with room', { room: 1 }, '09:00', ['09:00 fire', '09:01']],

    // The most that fire.
    ['the one before the last', { maxFires: 3, fireCount: 1 }, '09:00', ['09:00 fire', '09:01']],
    ['the last', { maxFires: 3, fireCount: 2 }, '09:00', ['09:00 fire', null]],
    ['the last and more', { maxFires: 3, fireCount: 1, overlap: 'allow', graceSeconds: 600 }, '09:05', ['09:00 fire', '09:01 fire', null]],
    ['none after the last', { maxFires: 3, fireCount: 3 }, '09:00', [null]],
    ['none where the last waits', { maxFires: 3, fireCount: 2, hasWaitingSlot: true }, '09:00', [null]],
    ['the last, which has to wait', { maxFires: 3, fireCount: 2, room: 0 }, '09:00', ['09:00 waiting', null]],
    ['skipped ones do not count', { maxFires: 1, hasRun: true }, '09:02', ['09:00 skipped_missed', '09:01 skipped_overlap', '09:02 skipped_overlap', '09:03']],
    [
      'one that finds no room does not use up two',
      { maxFires: 2, overlap: 'allow', graceSeconds: 600, room: 0 },
      '09:01',
      ['09:00 waiting', '09:01 skipped_overlap', '09:02'],
    ],

    // One-shots.
    ['a one-shot', ONCE, '09:00', ['09:00 fire', null]],
    ['a one-shot that is not due', ONCE, '08:59', ['09:00']],
    ['a one-shot without room', { ...ONCE, room: 0 }, '09:00', ['09:00 waiting', null]],
    ['a missed one-shot', ONCE, '10:00', ['09:00 skipped_missed', null]],
    ['a missed one-shot, made up for', { ...ONCE, missed: 'run_once' }, '10:00', ['09:00 fire', null]],
    ['a paused one-shot', { ...ONCE, state: 'paused' }, '09:00', ['09:00 skipped_paused', null]],
  ])('is %s', (_name, over, now, expected) => {
    expect(said(decideDue(due(over), at(now)))).toEqual(expected)
  })

  it('is at most 200 slots at a time, and the rest is due next', () => {
    const first = decideDue(due({ missed: 'run_once' }), at('15:00'))
    expect(first.slots).toHaveLength(200)
    expect(new Set(first.slots.map((each) => each.outcome))).toEqual(new Set(['skipped_missed']))
    expect(time(first.nextFireAt)).toBe('12:20')
    const second = decideDue(due({ missed: 'run_once', nextFireAt: first.nextFireAt }), at('15:00'))
    expect(second.slots.map((each) => each.outcome)).toEqual([...Array(159).fill('skipped_missed'), 'fire', 'skipped_overlap'])
    expect(time(second.nextFireAt)).toBe('15:01')
  })
})

const schedules = fc.record({
  state: fc.constantFrom('active' as const, 'active' as const, 'paused' as const),
  maxFires: fc.option(fc.integer({ min: 1, max: 5 })),
  overlap: fc.constantFrom('skip' as const, 'allow' as const),
  missed: fc.constantFrom('skip' as const, 'run_once' as const),
  graceSeconds: fc.constantFrom(0, 60, 600),
  hasRun: fc.boolean(),
  hasWaitingSlot: fc.boolean(),
  room: fc.constantFrom(0, 2, 100),
})
const someTime = fc.integer({ min: 0, max: 3_600 }).map((seconds) => new Date(at('09:00').getTime() + seconds * 1_000))

function apply(before: DueSchedule, { slots, nextFireAt }: DueDecision): DueSchedule {
  const count = (outcome: string) => slots.filter((each) => each.outcome === outcome).length
  return {
    ...before,
    nextFireAt,
    fireCount: before.fireCount + count('fire'),
    hasRun: before.hasRun || count('fire') > 0,
    hasWaitingSlot: before.hasWaitingSlot || count('waiting') > 0,
    ...(before.room !== undefined && { room: before.room - count('fire') }),
  }
}

describe('a decision', () => {
  it('gives the same rows in several passes as in one', () => {
    fc.assert(
      fc.property(schedules, someTime, fc.integer({ min: 1, max: 20 }), (over, now, most) => {
        const whole = decideDue(due(over), now, Number.POSITIVE_INFINITY)
        const slots: DueSlot[] = []
        let left = due(over)
        for (let passes = 0; left.nextFireAt !== null && left.nextFireAt <= now && passes <= 70; passes += 1) {
          const pass = decideDue(left, now, most)
          slots.push(...pass.slots)
          left = apply(left, pass)
        }
        expect({ slots, nextFireAt: left.nextFireAt }).toEqual(whole)
      }),
    )
  })

  it('fires the same slots when it is taken again with the number that found room', () => {
    fc.assert(
      fc.property(schedules, someTime, fc.nat({ max: 3 }), ({ room: _, ...over }, now, room) => {
        const fired = ({ slots }: DueDecision) => slots.filter((each) => each.outcome === 'fire').map((each) => time(each.slot))
        const first = decideDue(due(over), now)
        const again = decideDue(due({ ...over, room }), now)
        expect(fired(again)).toEqual(fired(first).slice(0, room))
        expect(again.slots.filter((each) => each.outcome === 'waiting')).toHaveLength(fired(first).length > room ? 1 : 0)
      }),
    )
  })

  it('leaves out no slot and no order, never fires more than may fire, and lets at most one wait', () => {
    fc.assert(
      fc.property(schedules, someTime, (over, now) => {
        const before = due(over)
        const { slots, nextFireAt } = decideDue(before, now)
        let slot: Date | null = before.nextFireAt
        for (const each of slots) {
          expect(each.slot).toEqual(slot)
          slot = nextFiring(before.timing, before.timezone, each.slot)
        }
        const taken = slots.filter((each) => each.outcome === 'fire' || each.outcome === 'waiting').length
        expect(taken + before.fireCount + (before.hasWaitingSlot ? 1 : 0)).toBeLessThanOrEqual(
          Math.max(before.maxFires ?? Number.POSITIVE_INFINITY, before.hasWaitingSlot ? 1 : 0),
        )
        expect(slots.filter((each) => each.outcome === 'waiting').length + (before.hasWaitingSlot ? 1 : 0)).toBeLessThanOrEqual(1)
        if (nextFireAt !== null) expect(nextFireAt).toEqual(slot)
        else expect(taken + (before.hasWaitingSlot ? 1 : 0)).toBe(before.maxFires)
      }),
    )
  })
})

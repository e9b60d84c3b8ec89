import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SchedulesApi, startSchedulesApi } from '../../testing/schedules.ts'

let schedules: SchedulesApi

beforeAll(async () => {
  schedules = await startSchedulesApi(await testDatabase())
})
afterAll(() => schedules.api.close())

/** Changes a new schedule. Answers what it was and what came of it. */
async function revise(change: unknown, made: Record<string, unknown> = {}) {
  const path = await schedules.make(made)
  const before = (await schedules.send('GET', path)).body
  const answer = await schedules.send('PATCH', path, change)
  const after = (await schedules.send('GET', path)).body
  if (answer.status === 200) expect(after).toEqual(answer.body)
  return { before, after, answer }
}

describe('PATCH /schedules/{id}', () => {
  describe('200', () => {
    it.each([
      ['task', 'Count them again.'],
      ['agent_id', 'painter'],
      ['notify', false],
      ['timeout_seconds', 300],
      ['priority', 'urgent'],
      ['runner', 'external'],
      ['model', 'some-model'],
      ['budget', { max_steps: 9, max_tokens: 100, max_cost_usd: null }],
      ['max_fires', 7],
      ['overlap', 'allow'],
      ['missed', 'skip'],
      ['grace_seconds', 5],
      ['parent_session_id', 'research-2'],
      ['metadata', { ticket: 'DOC-13' }],
    ])('changes %s and nothing else', async (field, value) => {
      const { before, after } = await revise({ [field]: value })
      expect(after).toEqual({ ...before, [field]: value, updated_at: after.updated_at })
    })

    it.each([
      ['model', 'some-model', null],
      ['max_fires', 7, null],
      ['parent_session_id', 'research-2', null],
      ['timeout_seconds', 300, 120],
      ['runner', 'external', 'external'],
      ['budget', { max_steps: 9, max_tokens: 100 }, { max_steps: 50, max_tokens: null, max_cost_usd: null }],
    ])('takes %s away with null, or back to its default', async (field, value, cleared) => {
      const { after } = await revise({ [field]: null }, { [field]: value })
      expect(after[field]).toEqual(cleared)
    })

    it.each([
      ['every', '2 hours', { interval_seconds: 7_200, schedule_type: 'recurring' }],
      ['cron', '0 10 * * 1-5', { cron_expr: '0 10 * * 1-5', schedule_type: 'recurring' }],
      ['when', '2999-03-10T09:00:00Z', { fire_at: '2999-03-10T09:00:00.000Z', schedule_type: 'once', upcoming: ['2999-03-10T09:00:00.000Z'] }],
    ])('reads a new phrase in %s as of now, whatever it was before', async (field, phrase, read) => {
      const { before, after } = await revise({ [field]: phrase }, { every: '30 minutes' })
      expect(after).toMatchObject({ ...read, phrase, id: before.id, task: before.task, fire_count: 0, created_at: before.created_at })
      expect(Date.parse(after.anchor_at)).toBeGreaterThanOrEqual(Date.parse(before.anchor_at))
      expect(after.reading).not.toBe(before.reading)
      expect(after.next_fire_at).toBe(after.upcoming[0])
    })

    it('reads the phrase again by a new zone, and keeps a zone that is not given anew', async () => {
      const path = await schedules.make({ every: 'daily at 9am', timezone: 'Europe/Berlin' })
      expect((await schedules.send('PATCH', path, { every: 'daily at 10am' })).body).toMatchObject({ timezone: 'Europe/Berlin', cron_expr: '0 10 * * *' })
      const moved = (await schedules.send('PATCH', path, { timezone: 'Asia/Tokyo' })).body
      expect(moved).toMatchObject({ timezone: 'Asia/Tokyo', cron_expr: '0 10 * * *', phrase: 'daily at 10am' })
      // 10:00 in Tokyo, where clocks are never changed.
      expect(moved.next_fire_at).toMatch(/T01:00:00\.000Z$/)
      expect((await schedules.send('PATCH', path, { timezone: null })).body.timezone).toBe('UTC')
    })

    it.each([{ when: 'in 3 hours' }, { when: '2999-03-10T09:00:00+02:00' }, { when: 'in 40 days at 9am America/New_York' }, { every: '90 minutes' }])(
      'does not move %j by a new zone alone',
      async (phrase) => {
        const { before, after } = await revise({ timezone: 'Asia/Tokyo' }, { ...phrase, timezone: 'America/New_York' })
        const { fire_at, next_fire_at, upcoming, anchor_at } = before
        expect(after).toMatchObject({ fire_at, next_fire_at, upcoming, anchor_at })
      },
    )

    it('changes nothing when nothing is given', async () => {
      const { before, after } = await revise({})
      expect(after).toEqual(before)
    })

    it('leaves a paused one paused', async () => {
      const path = await schedules.make()
      await schedules.send('POST', `${path}/pause`)
      expect((await schedules.send('PATCH', path, { every: '1 hour' })).body).toMatchObject({ state: 'paused', interval_seconds: 3_600 })
    })

    it('lets the agent of the key win', async () => {
      const path = await schedules.make()
      const { body: bound } = await schedules.api.call('POST', '/api-keys', {
        key: await schedules.api.key(['admin']),
        body: { name: 'bound', scopes: ['schedules:write'], agent_id: 'bound' },
      })
      expect((await schedules.api.call('PATCH', path, { key: bound.key, body: { agent_id: 'other' } })).body.agent_id).toBe('bound')
    })

    it('takes two at once one after the other', async () => {
      const path = await schedules.make()
      await Promise.all([schedules.send('PATCH', path, { task: 'One.' }), schedules.send('PATCH', path, { every: '1 hour' })])
      expect((await schedules.send('GET', path)).body).toMatchObject({ task: 'One.', interval_seconds: 3_600 })
    })
  })

  it('400: takes one phrase at most, and names every problem at once', async () => {
    const { before, after, answer } = await revise({ when: 'in 1 hour', every: '1 hour', priority: 'P1', task: 5, sub_agent: 'x', id: 'x' })
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed'])
    expect(answer.body.errors.map(({ field }: { field: string }) => field).sort()).toEqual(['every', 'id', 'priority', 'sub_agent', 'task', 'when'])
    expect(after).toEqual(before)
  })

  it('400: bounds the timeout as spawning does', async () => {
    expect((await revise({ timeout_seconds: 601 })).answer.body.errors).toEqual([expect.objectContaining({ pointer: '/timeout_seconds' })])
  })

  it.each([
    ['schedule_ambiguous', { every: 'every monday' }],
    ['schedule_unparseable', { every: 'whenever' }],
    ['schedule_in_past', { when: '2001-01-01T00:00:00Z' }],
    ['runner_unavailable', { runner: 'nobody' }],
  ])('422 %s: leaves everything as it was', async (code, change) => {
    const { before, after, answer } = await revise({ task: 'y', ...change })
    expect([answer.status, answer.body.code]).toEqual([422, code])
    expect(after).toEqual(before)
  })
})

import { testDatabase } from '@muster/testing'
import { assignTask, createTask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drainEvents } from '../../testing/api.ts'
import { type SchedulesApi, startSchedulesApi } from '../../testing/schedules.ts'

let schedules: SchedulesApi

beforeAll(async () => {
  schedules = await startSchedulesApi(await testDatabase())
})
afterAll(() => schedules.api.close())

const create = (body: unknown, headers: Record<string, string> = {}) => schedules.send('POST', '/schedules', body, headers)
const preview = (body: unknown) => schedules.send('POST', '/schedules/preview', body)
const list = async () => (await schedules.send('GET', '/schedules?active=all')).body.items

describe('POST /schedules', () => {
  describe('201', () => {
    it('stores the schedule with the defaults, says where it is and how it was understood', async () => {
      const answer = await create({ task: '  Count the files.  ', every: 'daily at 8am EST' })
      expect(answer.status).toBe(201)
      expect(answer.headers.location).toBe(`/schedules/${answer.body.id}`)
      expect(answer.body).toMatchObject({
        task: 'Count the files.',
        agent_id: 'default',
        schedule_type: 'recurring',
        phrase: 'daily at 8am EST',
        timezone: 'America/New_York',
        fire_at: null,
        interval_seconds: null,
        cron_expr: '0 8 * * *',
        state: 'active',
        active: true,
        fire_count: 0,
        max_fires: null,
        last_fired_at: null,
        overlap: 'skip',
        missed: 'run_once',
        grace_seconds: 60,
        notify: true,
        timeout_seconds: 120,
        priority: 'normal',
        runner: 'external',
        model: null,
        budget: { max_steps: 50, max_tokens: null, max_cost_usd: null },
        parent_session_id: null,
        created_by_session: null,
        metadata: {},
      })
      expect(answer.body.reading).toContain('America/New_York')
      expect(answer.body.upcoming).toHaveLength(5)
      expect(answer.body.upcoming[0]).toBe(answer.body.next_fire_at)
      expect(answer.body.rule).toContain('TZID=America/New_York')
    })

    it('shows to a reader what it answered with, whatever the phrase', async () => {
      const phrases = [{ every: '30 minutes' }, { every: 'every weekday at 9 America/New_York' }, { cron: '*/15 * * * *' }, { when: 'in 2 hours' }]
      for (const phrase of [...phrases, { every: 'last day of the month at 18:00 Europe/Berlin' }]) {
        const answer = await create({ task: 'x', ...phrase })
        expect(answer.status).toBe(201)
        expect((await schedules.send('GET', `/schedules/${answer.body.id}`)).body).toEqual(answer.body)
      }
    })

    it('shows what it counts by: an instant for one that fires once, seconds for an interval', async () => {
      const once = (await create({ task: 'x', when: '2999-03-10T09:00:00-05:00' })).body
      expect(once).toMatchObject({
        schedule_type: 'once',
        fire_at: '2999-03-10T14:00:00.000Z',
        next_fire_at: '2999-03-10T14:00:00.000Z',
        cron_expr: null,
        rule: null,
      })
      expect(once.upcoming).toEqual(['2999-03-10T14:00:00.000Z'])
      const interval = (await create({ task: 'x', every: '12 hours' })).body
      expect(interval).toMatchObject({ schedule_type: 'recurring', interval_seconds: 43_200, fire_at: null, rule: null })
      expect(Date.parse(interval.next_fire_at) - Date.parse(interval.anchor_at)).toBe(43_200_000)
    })

    it('takes everything that says how a run is to be', async () => {
      const given = {
        agent_id: 'painter',
        priority: 'low',
        timeout_seconds: 300,
        notify: false,
        parent_session_id: 'research-1',
        model: 'some-model',
        budget: { max_steps: 5, max_tokens: 1_000, max_cost_usd: 0.000123 },
        max_fires: 3,
        overlap: 'allow',
        missed: 'skip',
        grace_seconds: 0,
        metadata: { ticket: 'DOC-12' },
      }
      const { body } = await create({ task: 'x', every: '1 hour', ...given })
      expect(body).toMatchObject({ ...given, created_by_session: 'research-1' })
      // It will not fire more often.
      expect(body.upcoming).toHaveLength(3)
    })

    it('takes null for what it may leave out', async () => {
      const nothing = { when: null, cron: null, timezone: null, runner: null, model: null, max_fires: null, parent_session_id: null }
      expect((await create({ task: 'x', every: '1 hour', ...nothing })).status).toBe(201)
    })

    it('goes by the zone of the phrase, else that of the request, else that of the project, else UTC', async () => {
      const admin = await schedules.api.key(['admin'])
      const zoneOf = async (body: object) => (await create({ task: 'x', ...body })).body.timezone
      expect(await zoneOf({ every: 'daily at 9am' })).toBe('UTC')
      const { body: project } = await schedules.api.call('PATCH', `/projects/${schedules.api.ctx.actor.projectId}`, {
        key: admin,
        body: { settings: { timezone: 'Asia/Tokyo' } },
      })
      expect(project.settings).toEqual({ timezone: 'Asia/Tokyo' })
      expect(await zoneOf({ every: 'daily at 9am' })).toBe('Asia/Tokyo')
      expect(await zoneOf({ every: 'daily at 9am', timezone: 'Europe/Berlin' })).toBe('Europe/Berlin')
      expect(await zoneOf({ every: 'daily at 9am America/New_York', timezone: 'Europe/Berlin' })).toBe('America/New_York')
      await schedules.api.call('PATCH', `/projects/${schedules.api.ctx.actor.projectId}`, { key: admin, body: { settings: {} } })
    })

    it('lets the agent of the key win over the one of the request', async () => {
      const admin = await schedules.api.key(['admin'])
      const { body: bound } = await schedules.api.call('POST', '/api-keys', {
        key: admin,
        body: { name: 'bound', scopes: ['schedules:write', 'schedules:read'], agent_id: 'bound' },
      })
      const made = await schedules.api.call('POST', '/schedules', { key: bound.key, body: { task: 'x', every: '1 hour', agent_id: 'other' } })
      expect(made.body.agent_id).toBe('bound')
      const listed = await schedules.api.call('GET', '/schedules?agent_id=default', { key: bound.key })
      expect(listed.body.items.map((each: { id: string }) => each.id)).toEqual([made.body.id])
    })

    it('answers a repetition with the first answer', async () => {
      const headers = { 'idempotency-key': 'schedule-1' }
      const first = await create({ task: 'once', when: 'in 90 minutes' }, headers)
      const second = await create({ task: 'once', when: 'in 90 minutes' }, headers)
      expect(second.status).toBe(201)
      expect(second.headers['idempotent-replayed']).toBe('true')
      expect(second.headers.location).toBe(first.headers.location)
      expect(second.body).toEqual(first.body)
    })

    it('announces it', async () => {
      const { body } = await create({ task: 'x', every: '1 hour', agent_id: 'told' })
      await drainEvents(schedules.api)
      const [event] = await schedules.api.ctx.db.sql.begin(async (sql) => {
        await sql`select set_config('muster.project_id', ${schedules.api.ctx.actor.projectId}, true)`
        return await sql`select type, subject_kind, data from events where subject_id = ${body.id}`
      })
      expect(event).toMatchObject({ type: 'schedule.created', subject_kind: 'schedule' })
      expect(JSON.parse(JSON.stringify(event))).toMatchObject({
        data: { schedule_id: body.id, agent_id: 'told', reading: body.reading, state: 'active', next_fire_at: body.next_fire_at },
      })
    })
  })

  describe('400', () => {
    const problems = async (body: unknown) => {
      const answer = await create(body)
      expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed'])
      return answer.body.errors.map(({ field, reason }: { field: string; reason: string }) => `${field} ${reason}`)
    }

    it('needs one of when, every and cron', async () => {
      expect(await problems({ task: 'x' })).toEqual(['body has to say when: exactly one of when, every and cron is needed'])
      expect(await problems({ task: 'x', when: null })).toHaveLength(1)
    })

    it('names each of several', async () => {
      expect(await problems({ task: 'x', when: 'tomorrow', cron: '* * * * *' })).toEqual([
        'when cannot stand beside cron: it takes exactly one of when, every and cron',
        'cron cannot stand beside when: it takes exactly one of when, every and cron',
      ])
    })

    it('names every problem at once, with what was sent', async () => {
      const named = await problems({
        priority: 'P1',
        timezone: 'Berlin',
        max_fires: 0,
        grace_seconds: -1,
        overlap: 'queue',
        missed: 'all',
        sub_agent: 'explore',
        when: 'in 1 hour',
        every: '1 hour',
      })
      expect(named.map((problem: string) => problem.split(' ')[0]).sort()).toEqual(
        ['every', 'grace_seconds', 'max_fires', 'missed', 'overlap', 'priority', 'sub_agent', 'task', 'timezone', 'when'].sort(),
      )
    })

    it('bounds the timeout as spawning does', async () => {
      expect(await problems({ task: 'x', every: '1 hour', timeout_seconds: 601 })).toEqual([
        'timeout_seconds must be at most 600, the SUBTASK_MAX_TIMEOUT of this server',
      ])
    })

    it('refuses letters of a zone where its name belongs', async () => {
      expect((await problems({ task: 'x', every: 'daily at 9am', timezone: 'EST' }))[0]).toContain('timezone is not a time zone')
    })
  })

  describe('403', () => {
    it('spawn_blocked: is nothing for a sub-agent, by who it is', async () => {
      const task = await createTask(schedules.api.ctx, { title: 'Count', instructions: 'Count.' })
      const { credential } = await assignTask(schedules.api.ctx, task.id, 'writer-1')
      const path = await schedules.make()
      const tried: [Parameters<SchedulesApi['send']>[0], string, object | undefined][] = [
        ['POST', '/schedules', { task: 'x', every: '1 hour' }],
        ['POST', '/schedules/preview', { every: '1 hour' }],
        ['PATCH', path, { every: '1 hour' }],
        ['POST', `${path}/resume`, undefined],
        ['POST', `${path}/trigger`, undefined],
      ]
      for (const [method, where, body] of tried) {
        const answer = await schedules.api.call(method, where, { key: credential as string, ...(body === undefined ? {} : { body }) })
        expect([answer.status, answer.body.code]).toEqual([403, 'spawn_blocked'])
      }
    })
  })

  describe('422', () => {
    it('schedule_ambiguous: offers phrases, each of which can be sent as it is', async () => {
      const before = await list()
      const answer = await create({ task: 'x', every: 'every monday' })
      expect([answer.status, answer.body.code]).toEqual([422, 'schedule_ambiguous'])
      expect(answer.body.candidates.length).toBeGreaterThan(1)
      expect(await list()).toEqual(before)
      for (const { phrase, reading, next_fire_at } of answer.body.candidates) {
        expect((await create({ task: 'x', every: phrase })).body).toMatchObject({ reading, next_fire_at })
      }
    })

    it('schedule_unparseable: does not guess', async () => {
      const answer = await create({ task: 'x', every: 'whenever it suits' })
      expect([answer.status, answer.body.code]).toEqual([422, 'schedule_unparseable'])
    })

    it('schedule_in_past: refuses what has been', async () => {
      const answer = await create({ task: 'x', when: '2001-01-01T00:00:00Z' })
      expect([answer.status, answer.body.code]).toEqual([422, 'schedule_in_past'])
    })

    it('schedule_unparseable: refuses what would fire too often', async () => {
      expect((await create({ task: 'x', every: '9 seconds' })).status).toBe(422)
      expect((await create({ task: 'x', every: '10 seconds' })).status).toBe(201)
    })

    it('runner_unavailable: refuses a runner that is not there', async () => {
      const answer = await create({ task: 'x', every: '1 hour', runner: 'nobody' })
      expect([answer.status, answer.body.code]).toEqual([422, 'runner_unavailable'])
    })
  })
})

describe('POST /schedules/preview', () => {
  it('200: shows what creating would, and stores nothing', async () => {
    const before = await list()
    const shown = await preview({ task: 'x', every: 'weekdays at 9 ET', max_fires: 2 })
    expect(shown.status).toBe(200)
    expect(await list()).toEqual(before)
    const { body: made } = await create({ task: 'x', every: 'weekdays at 9 ET', max_fires: 2 })
    expect(made).toMatchObject({ ...shown.body, anchor_at: made.anchor_at, rule: made.rule })
    expect(shown.body.upcoming).toHaveLength(2)
  })

  it('200: reads at the instant that it is told', async () => {
    const shown = await preview({ every: 'daily at 9am', timezone: 'Europe/Berlin', from: '2026-03-28T12:00:00+01:00' })
    expect(shown.body).toMatchObject({ anchor_at: '2026-03-28T11:00:00.000Z', timezone: 'Europe/Berlin' })
    // The clock is put forward in the night before.
    expect(shown.body.upcoming.slice(0, 2)).toEqual(['2026-03-29T07:00:00.000Z', '2026-03-30T07:00:00.000Z'])
  })

  it('200: needs no task', async () => {
    expect((await preview({ when: 'in 2 hours' })).body).toMatchObject({ schedule_type: 'once', interval_seconds: null })
  })

  it('400: takes exactly one phrase, and an instant with an offset', async () => {
    expect((await preview({})).body.errors).toHaveLength(1)
    for (const from of ['2026-03-28', '0099-12-31T00:00:00Z', '1969-12-31T23:59:59Z', '9999-12-31T23:59:59Z']) {
      expect((await preview({ every: 'every 2 weeks on friday at 4pm', from })).body.errors).toEqual([expect.objectContaining({ pointer: '/from' })])
    }
  })

  it('422: refuses what creating would', async () => {
    expect((await preview({ every: 'every monday' })).body.code).toBe('schedule_ambiguous')
    expect((await preview({ when: 'whenever' })).body.code).toBe('schedule_unparseable')
    expect((await preview({ when: '2001-01-01T00:00:00Z' })).body.code).toBe('schedule_in_past')
    expect((await preview({ every: '1 hour', runner: 'nobody' })).body.code).toBe('runner_unavailable')
  })
})

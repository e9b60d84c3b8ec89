import { testDatabase } from '@muster/testing'
import { createSchedule } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SchedulesApi, startSchedulesApi } from '../../testing/schedules.ts'

const PENDING_MAX = 2
let schedules: SchedulesApi

beforeAll(async () => {
  schedules = await startSchedulesApi(await testDatabase(), { SUBTASK_MAX_PENDING: String(PENDING_MAX) })
})
afterAll(() => schedules.api.close())

const send: SchedulesApi['send'] = (...request) => schedules.send(...request)
const make = (body: Record<string, unknown> = {}) => schedules.make(body)
const runs = async (path: string) => (await send('GET', `${path}/runs`)).body.items

describe('GET /schedules', () => {
  const ids = async (query: string) =>
    (await send('GET', `/schedules?agent_id=listed${query}`)).body.items.map((each: { id: string }) => `/schedules/${each.id}`)

  it('200: lists active ones unless told otherwise, newest first', async () => {
    const [active, paused, ended, newest] = [
      await make({ agent_id: 'listed' }),
      await make({ agent_id: 'listed' }),
      await make({ agent_id: 'listed' }),
      await make({ agent_id: 'listed' }),
    ]
    await send('POST', `${paused}/pause`)
    await send('DELETE', ended)
    expect(await ids('')).toEqual([newest, active])
    expect(await ids('&active=true')).toEqual([newest, active])
    expect(await ids('&active=false')).toEqual([ended, paused])
    expect(await ids('&active=all')).toEqual([newest, ended, paused, active])
  })

  it('200: shows each as reading it does, a page at a time', async () => {
    const first = (await send('GET', '/schedules?agent_id=listed&active=all&limit=3')).body
    const rest = (await send('GET', `/schedules?agent_id=listed&active=all&limit=3&cursor=${first.next_cursor}`)).body
    expect([first.items.length, rest.items.length, rest.next_cursor]).toEqual([3, 1, null])
    for (const item of [...first.items, ...rest.items]) expect((await send('GET', `/schedules/${item.id}`)).body).toEqual(item)
  })

  it('400: refuses another cursor, and another word for active', async () => {
    expect((await send('GET', '/schedules?cursor=next')).body.code).toBe('cursor_invalid')
    expect((await send('GET', '/schedules?active=yes')).body.errors).toEqual([expect.objectContaining({ pointer: '?active' })])
  })
})

describe('GET /schedules/{id}/firings', () => {
  const firings = async (path: string, query: string) => (await send('GET', `${path}/firings?${query}`)).body
  const inDays = (days: number) => encodeURIComponent(new Date(Date.parse('2999-01-01T00:00:00Z') + days * 86_400_000).toISOString())

  it('200: lists what comes up to a time, says where there is more, and ends with the last one that is allowed', async () => {
    const daily = await make()
    const { upcoming } = (await send('GET', daily)).body
    expect(await firings(daily, `until=${encodeURIComponent(upcoming[1])}`)).toEqual({ firings: upcoming.slice(0, 2), is_cut: false })
    const { firings: found, is_cut } = await firings(daily, `until=${inDays(400_000)}&limit=120`)
    expect([found.length, found.slice(0, 5), is_cut]).toEqual([120, upcoming, true])
    expect(found).toEqual(found.toSorted())
    const thrice = await make({ max_fires: 3 })
    expect(await firings(thrice, `until=${inDays(0)}`)).toMatchObject({ firings: { length: 3 }, is_cut: false })
    await send('POST', `${daily}/pause`)
    expect(await firings(daily, `until=${inDays(0)}`)).toEqual({ firings: [], is_cut: false })
  })

  it('400: refuses a time that is none, and more than 500', async () => {
    const path = await make()
    for (const query of ['until=soon', `until=${inDays(0)}&limit=501`]) expect((await firings(path, query)).code).toBe('validation_failed')
    expect((await firings(`/schedules/${crypto.randomUUID()}`, `until=${inDays(0)}`)).code).toBe('not_found')
  })
})

describe('POST /schedules/{id}/pause and …/resume', () => {
  it('200: a paused one keeps its next time, and goes on with it', async () => {
    const path = await make()
    const before = (await send('GET', path)).body
    const paused = await send('POST', `${path}/pause`)
    expect([paused.status, paused.body]).toEqual([200, { ...before, state: 'paused', active: false, updated_at: paused.body.updated_at }])
    expect((await send('GET', path)).body).toEqual(paused.body)
    const resumed = await send('POST', `${path}/resume`)
    expect([resumed.status, resumed.body]).toEqual([200, { ...before, updated_at: resumed.body.updated_at }])
  })

  it('200: pausing again changes nothing', async () => {
    const path = await make()
    const first = await send('POST', `${path}/pause`)
    expect((await send('POST', `${path}/pause`)).body).toEqual(first.body)
  })

  it('409: only a paused one can be resumed', async () => {
    const answer = await send('POST', `${await make()}/resume`)
    expect([answer.status, answer.body.code, answer.body.status_now]).toEqual([409, 'invalid_transition', 'active'])
  })
})

describe('DELETE /schedules/{id}', () => {
  it('200: ends it, and it can still be read; again changes nothing', async () => {
    const path = await make()
    const ended = await send('DELETE', path)
    expect(ended.status).toBe(200)
    expect(ended.body).toMatchObject({ state: 'deactivated', active: false, next_fire_at: null, upcoming: [] })
    expect((await send('GET', path)).body).toEqual(ended.body)
    const again = await send('DELETE', path)
    expect([again.status, again.body]).toEqual([200, ended.body])
  })

  it('409: nothing else can be done with it then', async () => {
    const path = await make()
    await send('DELETE', path)
    const answers = [
      await send('PATCH', path, { task: 'y' }),
      await send('POST', `${path}/pause`),
      await send('POST', `${path}/resume`),
      await send('POST', `${path}/trigger`),
    ]
    for (const answer of answers) expect([answer.status, answer.body.code, answer.body.status_now]).toEqual([409, 'invalid_transition', 'deactivated'])
  })
})

describe('POST /schedules/{id}/trigger', () => {
  it('202: runs it now, as the schedule says, beside its slots', async () => {
    const path = await make({ agent_id: 'triggered', priority: 'low', timeout_seconds: 33, budget: { max_steps: 7, max_cost_usd: 0.5 }, metadata: { a: 1 } })
    const before = (await send('GET', path)).body
    const answer = await send('POST', `${path}/trigger`)
    expect(answer.status).toBe(202)
    expect(answer.headers.location).toBe(`/subtasks/${answer.body.id}`)
    expect(answer.body).toMatchObject({
      schedule_id: before.id,
      parent_session_id: null,
      agent_id: 'triggered',
      task: before.task,
      priority: 'low',
      timeout_seconds: 33,
      budget: { max_steps: 7, max_tokens: null, max_cost_usd: 0.5 },
      runner: 'external',
      metadata: { a: 1 },
      status: 'pending',
    })
    expect((await send('GET', answer.headers.location as string)).body).toEqual(answer.body)
    expect((await send('GET', `/subtasks?schedule_id=${before.id}`)).body.items).toHaveLength(1)
    expect((await send('GET', path)).body).toEqual(before)
    const [run, ...others] = await runs(path)
    expect(others).toEqual([])
    expect(run).toEqual({ slot: run.fired_at, fired_at: run.slot, outcome: 'fired', manual: true, subtask_id: answer.body.id })
  })

  it('202: leaves the result where the schedule says, also while it is paused', async () => {
    const path = await make({ parent_session_id: 'research-1', agent_id: 'paused' })
    await send('POST', `${path}/pause`)
    const answer = await send('POST', `${path}/trigger`)
    expect([answer.status, answer.body.parent_session_id]).toEqual([202, 'research-1'])
    expect((await send('GET', path)).body.state).toBe('paused')
  })

  it('202: answers a repetition with the first answer', async () => {
    const path = await make({ agent_id: 'repeated' })
    const headers = { 'idempotency-key': 'trigger-1' }
    const first = await send('POST', `${path}/trigger`, undefined, headers)
    const second = await send('POST', `${path}/trigger`, undefined, headers)
    expect([second.status, second.headers['idempotent-replayed']]).toEqual([202, 'true'])
    expect(second.body).toEqual(first.body)
    expect(await runs(path)).toHaveLength(1)
  })

  it('422: refuses a runner that is not there any more', async () => {
    const { id } = await createSchedule(schedules.api.ctx, { task: 'x', phrase: { kind: 'every', text: '1 hour' }, runner: 'gone' })
    const answer = await send('POST', `/schedules/${id}/trigger`)
    expect([answer.status, answer.body.code]).toEqual([422, 'runner_unavailable'])
    expect(await runs(`/schedules/${id}`)).toEqual([])
  })

  it('429: keeps to the limit of its agent, and leaves nothing behind when that is reached, whoever asks at once', async () => {
    const path = await make({ agent_id: 'limited' })
    const answers = await Promise.all(Array.from({ length: 6 }, () => send('POST', `${path}/trigger`)))
    const accepted = answers.filter(({ status }) => status === 202)
    expect(accepted).toHaveLength(PENDING_MAX)
    for (const answer of answers.filter(({ status }) => status !== 202)) expect([answer.status, answer.body.code]).toEqual([429, 'pending_limit_reached'])
    expect((await runs(path)).map((run: { subtask_id: string }) => run.subtask_id).sort()).toEqual(accepted.map(({ body }) => body.id).sort())
  })
})

describe('GET /schedules/{id}/runs', () => {
  it('200: newest first, a page at a time', async () => {
    const path = await make({ agent_id: 'run' })
    const made = [(await send('POST', `${path}/trigger`)).body.id, (await send('POST', `${path}/trigger`)).body.id]
    const first = (await send('GET', `${path}/runs?limit=1`)).body
    const second = (await send('GET', `${path}/runs?limit=1&cursor=${first.next_cursor}`)).body
    expect([first.items[0].subtask_id, second.items[0].subtask_id, second.next_cursor]).toEqual([made[1], made[0], null])
  })

  it('400: refuses another cursor', async () => {
    expect((await send('GET', `${await make()}/runs?cursor=1`)).body.code).toBe('cursor_invalid')
  })
})

describe('a schedule of another project', () => {
  it('404: is not there', async () => {
    const path = await make()
    const strange = await schedules.api.key(['admin'], await schedules.api.stranger())
    const calls: [Parameters<SchedulesApi['send']>[0], string, object?][] = [
      ['GET', path],
      ['GET', `${path}/runs`],
      ['PATCH', path, { task: 'mine' }],
      ['POST', `${path}/pause`],
      ['POST', `${path}/resume`],
      ['POST', `${path}/trigger`],
      ['DELETE', path],
    ]
    for (const [method, where, body] of calls) {
      const answer = await schedules.api.call(method, where, { key: strange, ...(body === undefined ? {} : { body }) })
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
    }
    expect((await schedules.api.call('GET', '/schedules?active=all', { key: strange })).body.items).toEqual([])
  })
})

describe.each([['SCHEDULE_ENABLED'], ['SUBTASK_ENABLED']])('with %s=false', (setting) => {
  let off: SchedulesApi
  let path: string

  beforeAll(async () => {
    off = await startSchedulesApi(await testDatabase(), { [setting]: 'false' })
    const on = { ...off.api.ctx, settings: { ...off.api.ctx.settings, [setting]: true } }
    path = `/schedules/${(await createSchedule(on, { task: 'x', phrase: { kind: 'every', text: '1 hour' }, runner: 'external' })).id}`
  })
  afterAll(() => off.api.close())

  it('503: nothing is created, triggered or resumed', async () => {
    await off.send('POST', `${path}/pause`)
    for (const [where, body] of [['/schedules', { task: 'x', every: '1 hour' }], [`${path}/trigger`], [`${path}/resume`]] as const) {
      const answer = await off.send('POST', where, body)
      expect([answer.status, answer.body.code]).toEqual([503, 'schedules_disabled'])
      expect(answer.body.detail).toContain(setting)
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    }
  })

  it('200: it is still previewed, read, changed, paused and ended', async () => {
    expect((await off.send('POST', '/schedules/preview', { every: '1 hour' })).status).toBe(200)
    expect((await off.send('GET', '/schedules?active=all')).body.items).toHaveLength(1)
    expect((await off.send('GET', `${path}/runs`)).status).toBe(200)
    expect((await off.send('PATCH', path, { task: 'y' })).body.task).toBe('y')
    expect((await off.send('POST', `${path}/pause`)).body.state).toBe('paused')
    expect((await off.send('DELETE', path)).body.state).toBe('deactivated')
  })
})

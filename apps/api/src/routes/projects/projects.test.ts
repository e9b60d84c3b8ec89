import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../testing/api.ts'

describe('/projects/{id}', () => {
  let api: TestApi
  let key: string
  const path = `/projects/${DEFAULT_PROJECT_ID}`

  beforeAll(async () => {
    api = await startApi(await testDatabase())
    key = await api.key(['admin'])
  })
  afterAll(() => api.close())

  it('GET 200: shows the project', async () => {
    expect((await api.call('GET', path, { key })).body).toMatchObject({ id: DEFAULT_PROJECT_ID, name: 'default', settings: {} })
  })

  it('PATCH 200: sets limits, which hold for the next subtask', async () => {
    const settings = { limits: { agents: { shy: { pending: 1 } } } }
    expect((await api.call('PATCH', path, { key, body: { settings } })).body.settings).toEqual(settings)
    const spawn = () => api.call('POST', '/subtasks', { key, body: { task: 'x', agent_id: 'shy' } })
    expect([(await spawn()).status, (await spawn()).status]).toEqual([202, 429])
  })

  it('PATCH 200: changes the name alone', async () => {
    const before = (await api.call('GET', path, { key })).body
    expect((await api.call('PATCH', path, { key, body: { name: 'renamed' } })).body).toEqual({ ...before, name: 'renamed' })
  })

  it('PATCH 400: refuses settings that it does not know', async () => {
    const answer = await api.call('PATCH', path, { key, body: { settings: { limits: { waiting: 3 } } } })
    expect(answer.body.errors).toEqual([expect.objectContaining({ pointer: '/settings/limits/waiting' })])
  })

  it('PATCH 400: refuses limits above the ceilings of the operator, and says how much is allowed', async () => {
    const limits = { running: 1_001, agents: { 'a/b': { pending: 1_000_000 } } }
    const answer = await api.call('PATCH', path, { key, body: { settings: { limits } } })
    expect(answer.body.errors).toEqual([
      expect.objectContaining({ pointer: '/settings/limits/running', reason: expect.stringContaining('must be at most 1000,') }),
      expect.objectContaining({ pointer: '/settings/limits/agents/a~1b/pending', reason: expect.stringContaining('must be at most 10000,') }),
    ])
  })

  it('PATCH 400: refuses a time zone that there is not', async () => {
    for (const timezone of ['EST', 'Mars/Olympus', '+02:00']) {
      const answer = await api.call('PATCH', path, { key, body: { settings: { timezone } } })
      expect(answer.body.errors).toEqual([expect.objectContaining({ pointer: '/settings/timezone' })])
    }
    expect((await api.call('PATCH', path, { key, body: { settings: { timezone: 'Europe/Berlin' } } })).body.settings).toEqual({ timezone: 'Europe/Berlin' })
  })

  it('PATCH 200: sets by what outputs are judged, which holds for the next one', async () => {
    const evaluation = { approve_at: 0.5, threshold: 0.2, weights: { bug: -0.1, refactor: 0 }, gates: { security: false }, judge: false }
    expect((await api.call('PATCH', path, { key, body: { settings: { evaluation } } })).body.settings).toEqual({ evaluation })
    const output = '<npl-reflection>\n🔒 Keys are in the log\n✅ Works\n🐛 Slow\n</npl-reflection>'
    expect((await api.call('POST', '/evaluations', { key, body: { output } })).body).toMatchObject({
      recommendation: 'review',
      threshold: 0.2,
      approve_at: 0.5,
    })
    expect((await api.call('PATCH', path, { key, body: { settings: {} } })).body.settings).toEqual({})
  })

  it.each([
    [{ threshold: -0.5 }, '/threshold', 'must be at least 0'],
    [{ approve_at: -1 }, '/approve_at', 'must be at least 0'],
    [{ threshold: 0.9 }, '/threshold', expect.stringContaining('must not exceed approve_at')],
    [{ approve_at: 0.5, threshold: 0.6 }, '/threshold', expect.stringContaining('must not exceed approve_at')],
    [{ weights: { bug: -2 } }, '/weights/bug', 'must be at least -1'],
    [{ weights: { beauty: 1 } }, '/weights/beauty', expect.any(String)],
    [{ gates: { security: 'no' } }, '/gates/security', 'must be true or false'],
    [{ judge: { model: '' } }, '/judge/model', expect.any(String)],
    [{ style: true }, '/style', expect.stringContaining('is not a field')],
  ])('PATCH 400: refuses %j for the evaluation', async (evaluation, pointer, reason) => {
    const answer = await api.call('PATCH', path, { key, body: { settings: { evaluation } } })
    expect(answer.body).toMatchObject({ status: 400, errors: [{ pointer: `/settings/evaluation${pointer}`, reason }] })
  })

  it('PATCH 400: refuses what cannot be stored', async () => {
    const answer = await api.call('PATCH', path, { key, body: { settings: { limits: { agents: { 'a\0': { pending: 1 } } } } } })
    expect(answer.body.errors).toEqual([expect.objectContaining({ pointer: '/settings', reason: 'must not contain the character U+0000' })])
  })

  it('404: hides the project of others', async () => {
    const strange = await api.key(['admin'], await api.stranger())
    expect((await api.call('GET', path, { key: strange })).status).toBe(404)
    expect((await api.call('PATCH', path, { key: strange, body: { name: 'mine' } })).status).toBe(404)
  })
})

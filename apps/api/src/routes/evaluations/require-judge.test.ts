import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../testing/api.ts'

let api: TestApi
let key: string

beforeAll(async () => {
  api = await startApi(await testDatabase(), { ANTHROPIC_API_KEY: 'key' })
  key = await api.key(['evaluations:write', 'evaluations:read'])
})
afterAll(() => api.close())

const evaluate = (judge: unknown) => api.call('POST', '/evaluations', { key, body: { output: 'Done.', acceptance_criteria: ['It is done.'], judge } })

describe('POST /evaluations with a judge', () => {
  it('201: asks a model of a provider that is set', async () => {
    expect(await evaluate({ model: 'haiku' })).toMatchObject({ status: 201, body: { judge: { status: 'pending', model: 'haiku' } } })
  })

  it('422: says what to set where none can judge, and stores nothing', async () => {
    const before = (await api.call('GET', '/evaluations', { key })).body.items.length
    expect((await evaluate({ model: 'openai:gpt-5' })).body).toMatchObject({
      status: 422,
      code: 'runner_unavailable',
      detail: expect.stringContaining('OPENAI_API_KEY'),
      missing: [expect.any(String)],
    })
    expect((await api.call('GET', '/evaluations', { key })).body.items).toHaveLength(before)
  })
})

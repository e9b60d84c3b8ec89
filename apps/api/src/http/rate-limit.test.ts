import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../testing/api.ts'

describe('the limit of requests', () => {
  let api: TestApi

  beforeAll(async () => {
    api = await startApi(await testDatabase(), { REQUESTS_PER_SECOND: '1' })
  })
  afterAll(() => api.close())

  it('refuses a key that asks too often with the time to wait, and no other key', async () => {
    const [busy, quiet] = [await api.key(['subtasks:read']), await api.key(['subtasks:read'])]
    const ask = (key: string) => api.call('GET', '/subtasks', { key })
    const answers = []
    // Ten in the ten seconds of a window.
    for (let number = 1; number <= 11; number += 1) answers.push(await ask(busy))
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(200), 429])
    expect(answers[0]?.headers).toMatchObject({ 'ratelimit-policy': expect.stringContaining('q=10;w=10') })
    expect(answers[10]?.body).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining('More than 10 requests came in 10 s') })
    expect(Number(answers[10]?.headers['retry-after'])).toBeGreaterThan(0)
    expect(answers[10]?.headers.ratelimit).toContain('r=0')
    expect((await ask(quiet)).status).toBe(200)
  })
})

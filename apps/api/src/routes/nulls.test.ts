import { testDatabase } from '@muster/testing'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { components } from '../http/schemas.ts'
import { startApi, type TestApi } from '../testing/api.ts'
import { endpoints } from './index.ts'

const UNKNOWN = '01990000-0000-7000-8000-000000000000'

/** Every endpoint with a body of fields, and those that may be absent: a new endpoint joins without a change here. */
const rows = endpoints(new Registry()).flatMap((endpoint) => {
  const { body } = endpoint
  if (!(body instanceof z.ZodObject)) return []
  const example = (components.get(body)?.example ?? {}) as Record<string, unknown>
  const optional = Object.entries(body.shape).flatMap(([name, field]) =>
    (field as z.ZodType).safeParse(undefined).success && !(name in example) ? [name] : [],
  )
  const nulls = Object.fromEntries(optional.map((name) => [name, null]))
  return optional.length === 0 ? [] : [{ name: `${endpoint.method} ${endpoint.path}`, endpoint, sent: { ...nulls, ...example }, optional }]
})

describe('null in an optional field of a request', () => {
  let api: TestApi
  let key: string

  beforeAll(async () => {
    api = await startApi(await testDatabase())
    key = await api.key(['admin'])
  })
  afterAll(() => api.close())

  it.each(rows)('is as good as none: $name', async ({ endpoint, sent, optional }) => {
    const path = endpoint.path.replaceAll(/\{\w+\}/g, UNKNOWN)
    const headers = endpoint.takesIfMatch === 'required' ? { 'if-match': '"1"' } : {}
    const answer = await api.call(endpoint.method, path, { key, body: sent, headers })
    const refused = ((answer.body?.errors ?? []) as { pointer: string }[]).filter(({ pointer }) => optional.some((name) => pointer.startsWith(`/${name}`)))
    expect(refused).toEqual([])
  })

  it('is removed at any depth, and stays where it means something or is the data of the caller', async () => {
    const answer = await api.call('POST', '/tasks', {
      key,
      body: {
        title: 'Count',
        instructions: 'Count the files.',
        acceptance_criteria: [{ id: null, text: 'All are counted', check: null }],
        metadata: { ticket: null },
      },
    })
    expect(answer.status).toBe(201)
    expect(answer.body.metadata).toEqual({ ticket: null })
    const missing = await api.call('POST', '/tasks', { key, body: { title: null, instructions: 'Count.' } })
    expect(missing.status).toBe(400)
  })
})

import { transaction } from '@muster/db'
import { testDatabase } from '@muster/testing'
import { addUpBytes, eraseData } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../testing/api.ts'

const RUN_BYTES = 400_000
const PROJECT_BYTES = 1_500_000

describe('quotas of bytes', () => {
  let api: TestApi
  let key: string

  beforeAll(async () => {
    api = await startApi(await testDatabase(), { PROJECT_STORED_BYTES_CEILING: String(PROJECT_BYTES), RUN_STORED_BYTES_CEILING: String(RUN_BYTES) })
    key = await api.key(['admin', 'subtasks:claim'])
  })
  afterAll(() => api.close())

  async function runningSubtask() {
    await api.call('POST', '/subtasks', { key, body: { task: 'Count.', runner: 'external' } })
    return (await api.call('POST', '/subtasks/claim', { key, body: { worker_id: 'w' } })).body
  }
  const learn = (credential: string, bytes: number) => api.call('POST', '/memory/facts', { key: credential, body: { content: 'x'.repeat(bytes) } })
  const stored = async () => (await api.call('GET', '/usage', { key })).body.stored

  it('429: stops the credential of a run that floods at its own limit, and lets the run end', async () => {
    const { subtask, lease, credential } = await runningSubtask()
    const answers = await Promise.all(Array.from({ length: 100 }, () => learn(credential, 8_000)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(40)
    expect(answers.length - refused.length).toBeGreaterThan(30)
    expect(refused[0]?.body).toMatchObject({
      code: 'quota_exceeded',
      limited_by: 'run',
      limit: RUN_BYTES,
      retryable: false,
      detail: expect.stringContaining('Finish the run'),
    })
    expect((answers.length - refused.length) * 8_000).toBeLessThanOrEqual(RUN_BYTES)
    await addUpBytes(api.deps)
    expect((await stored()).runs).toEqual([{ id: subtask.id, bytes: expect.any(Number) }])
    const heartbeat = { lease_token: lease.token, steps: [{ kind: 'message', content: 'x'.repeat(9_000) }] }
    expect((await api.call('POST', `/subtasks/${subtask.id}/heartbeat`, { key, body: heartbeat })).status).toBe(429)
    // Refused, and the lease is renewed: otherwise the run would be lost before it can end.
    const [row] = await transaction(
      api.ctx.db,
      api.ctx.actor.projectId,
      (tx) =>
        tx.sql`select lease_expires_at > ${lease.expires_at}::timestamptz + interval '2 milliseconds' as is_renewed from subtasks where id = ${subtask.id}`,
    )
    expect(row).toEqual({ is_renewed: true })
    expect((await api.call('POST', `/subtasks/${subtask.id}/heartbeat`, { key, body: { lease_token: lease.token } })).status).toBe(200)
    const ended = await api.call('POST', `/subtasks/${subtask.id}/complete`, { key, body: { lease_token: lease.token, result: 'There are 3 files.' } })
    expect(ended.status).toBe(200)
  })

  it('429: stops a project at its limit, says so in its usage, and takes what makes room', async () => {
    const post = () => api.call('POST', '/sessions/boss/messages', { key, body: { role: 'user', content: 'y'.repeat(200_000) } })
    const once = () => api.call('POST', '/memory/facts', { key, body: { content: 'Once.' }, headers: { 'idempotency-key': 'once' } })
    const first = await once()
    const answers = []
    for (let number = 0; number < 8; number += 1) answers.push(await post())
    expect(answers.at(-1)?.body).toMatchObject({ code: 'quota_exceeded', limited_by: 'project', detail: expect.stringContaining('retention_days') })
    // What was stored before is answered as before, also where there is no room for it now.
    expect((await once()).body).toEqual(first.body)
    const { bytes, limit_bytes, run_limit_bytes } = await stored()
    expect({ limit_bytes, run_limit_bytes }).toEqual({ limit_bytes: PROJECT_BYTES, run_limit_bytes: RUN_BYTES })
    expect(bytes).toBeGreaterThan(PROJECT_BYTES - 210_000)
    expect(bytes).toBeLessThanOrEqual(PROJECT_BYTES + 10_000)
    const changed = await api.call('PATCH', `/projects/${api.ctx.actor.projectId}`, { key, body: { settings: { retention_days: { messages: 1 } } } })
    expect(changed.status).toBe(200)
    const above = { settings: { limits: { stored_bytes: PROJECT_BYTES + 1 } } }
    expect((await api.call('PATCH', `/projects/${api.ctx.actor.projectId}`, { key, body: above })).body.code).toBe('validation_failed')
    await eraseData(api.ctx, { kind: 'session', name: 'boss' })
    await expect.poll(async () => (await post()).status, { timeout: 5_000 }).toBe(201)
  })
})

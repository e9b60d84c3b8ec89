import { testDatabase } from '@muster/testing'
import { cancelSubtask, claimRuns } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnExternal, startApi, type TestApi } from '../../testing/api.ts'

describe('POST /subtasks/{id}/updates', () => {
  let api: TestApi
  let key: string

  beforeAll(async () => {
    api = await startApi(await testDatabase(), { COMMAND_RUNNERS: JSON.stringify({ deaf: { argv: ['deaf'] } }) })
    key = await api.key(['subtasks:read', 'subtasks:write', 'subtasks:claim'])
  })
  afterAll(() => api.close())

  const steer = (id: string, body: unknown) => api.call('POST', `/subtasks/${id}/updates`, { key, body })

  describe('202', () => {
    it('joins the brief of a subtask that has not started, and shows the receipt', async () => {
      const { id } = await spawnExternal(api.ctx, { agentId: 'first' })
      const sent = await steer(id, { content: 'Only the big ones.', delivery: 'interrupt' })
      expect(sent.status).toBe(202)
      // There is nothing yet that could be interrupted, and the answer says so.
      expect(sent.body).toMatchObject({ subtask_id: id, update_type: 'note', status: 'queued', delivery: 'next_step', sender: { kind: 'key' } })
      const claim = await api.call('POST', '/subtasks/claim', { key, body: { worker_id: 'w' } })
      expect(claim.body.brief.text).toContain('Only the big ones.')
      const list = await api.call('GET', `/subtasks/${id}/updates`, { key })
      expect(list.body.items).toMatchObject([{ update_id: sent.body.update_id, status: 'delivered' }])
    })
  })

  describe('202 for a subtask that runs', () => {
    it.each([
      ['ai', 'interrupt'],
      ['external', 'next_step'],
    ])('says whether %s can be interrupted: %s', async (runner, delivery) => {
      const { id } = await spawnExternal(api.ctx, { agentId: `runs-${runner}`, runner })
      if (runner === 'external') await api.call('POST', '/subtasks/claim', { key, body: { worker_id: 'w' } })
      else await claimRuns(api.deps, { workerId: 'w', queues: [`run.${runner}`], limit: 1, leaseSeconds: 30, withLeaseToken: false })
      expect((await steer(id, { content: 'Now.', delivery: 'interrupt' })).body).toMatchObject({ status: 'queued', delivery })
    })
  })

  describe('400', () => {
    it.each([
      [{}, '/content', 'is required'],
      [{ content: '' }, '/content', 'must not be empty'],
      [{ content: 'x'.repeat(20_001) }, '/content', expect.stringContaining('at most 20000')],
      [{ content: 'x', delivery: 'now' }, '/delivery', 'must be one of next_step, interrupt'],
    ])('refuses %o', async (body, pointer, reason) => {
      const { id } = await spawnExternal(api.ctx, { agentId: `bad-${pointer}-${JSON.stringify(body).length}` })
      expect((await steer(id, body)).body).toMatchObject({ status: 400, errors: [{ pointer, reason }] })
    })
  })

  describe('409', () => {
    it('refuses what has ended', async () => {
      const { id } = await spawnExternal(api.ctx, { agentId: 'ended' })
      await cancelSubtask(api.ctx, id)
      expect((await steer(id, { content: 'x' })).body).toMatchObject({ status: 409, code: 'invalid_transition' })
    })

    it('refuses a running subtask whose runner takes no updates', async () => {
      const { id } = await spawnExternal(api.ctx, { agentId: 'deaf', runner: 'deaf' })
      await claimRuns(api.deps, { workerId: 'w', queues: ['run.deaf'], limit: 1, leaseSeconds: 30, withLeaseToken: false })
      expect((await steer(id, { content: 'x' })).body).toMatchObject({ status: 409, code: 'not_steerable' })
    })
  })

  it('404: knows no such subtask', async () => {
    expect((await steer('01990000-0000-7000-8000-000000000000', { content: 'x' })).status).toBe(404)
  })
})

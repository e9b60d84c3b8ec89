import { SUBTASK_SCOPES } from '@muster/domain'
import { advanceClock, allEvents, claimOne, drain, drainOutbox, type Harness, resetClock, settleOne, spawn, spawnMany, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hashToken } from '../core/secrets.ts'
import {
  authenticate,
  cancelSubtask,
  createApiKey,
  createSubtask,
  getSubtask,
  listApiKeys,
  listSteps,
  listSubtasks,
  listUpdates,
  readEvents,
  revokeApiKey,
  steerSubtask,
} from '../index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await resetClock(harness.admin)
  await drain(harness.ctx)
})

afterAll(() => harness.close())

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error) => error.code ?? error,
  )
const key = (more: Partial<Parameters<typeof createApiKey>[1]> = {}) => createApiKey(harness.ctx, { name: 'a key', scopes: ['subtasks:read'], ...more })

describe('an API key', () => {
  it('opens its project with its scopes, and is stored as a hash alone', async () => {
    const { apiKey, secret } = await key({ scopes: ['subtasks:read', 'events:read', 'subtasks:read'], agentId: 'crawler' })
    expect(secret).toMatch(/^mst_key_[\w-]{43}$/)
    expect(await authenticate(harness.deps, secret)).toEqual({
      kind: 'key',
      id: apiKey.id,
      projectId: harness.ctx.actor.projectId,
      scopes: ['subtasks:read', 'events:read'],
      agentId: 'crawler',
      lineage: null,
    })
    const [row] = await harness.admin`select key_hash, row_to_json(api_keys)::text as everything from api_keys where id = ${apiKey.id}`
    expect(row?.key_hash).toEqual(hashToken(secret))
    expect(row?.everything).not.toContain(secret.slice(16))
    expect(JSON.stringify(await listApiKeys(harness.ctx, { limit: 100 }))).not.toContain(secret.slice(16))
  })

  it('ends at once when it is revoked, and only its own project can do that', async () => {
    const { apiKey, secret } = await key()
    await expect(revokeApiKey(await harness.projectCtx(), apiKey.id)).rejects.toMatchObject({ code: 'not_found' })
    await authenticate(harness.deps, secret)
    const revoked = await revokeApiKey(harness.ctx, apiKey.id)
    expect((await revokeApiKey(harness.ctx, apiKey.id)).revokedAt).toEqual(revoked.revokedAt)
    await expect(authenticate(harness.deps, secret)).rejects.toMatchObject({ code: 'unauthenticated', message: expect.stringContaining('revoked') })
  })

  it('ends at its time', async () => {
    const [{ now }] = (await harness.admin`select muster_now() as now`) as unknown as [{ now: Date }]
    const { secret } = await key({ expiresAt: new Date(now.getTime() + 60_000) })
    await authenticate(harness.deps, secret)
    await advanceClock(harness.admin, '61 seconds')
    await expect(authenticate(harness.deps, secret)).rejects.toMatchObject({ code: 'unauthenticated', message: expect.stringContaining('expired') })
  })

  it.each([
    '',
    'x',
    'mst_key_',
    `mst_key_${'A'.repeat(43)}`,
    'mst_sub_',
    `mst_sub_${'A'.repeat(64)}`,
    `mst_sub_${'A'.repeat(10_000)}`,
    'mst_asg_',
    `mst_asg_${'A'.repeat(64)}`,
    'mst_lease_x',
    "mst_key_' or true --",
  ])('is none of ours: %j', async (token) => {
    expect(await codeOf(authenticate(harness.deps, token))).toBe('unauthenticated')
  })

  it('is made with scopes that exist, by whoever may, and listed in pages, newest first', async () => {
    expect(await codeOf(key({ scopes: [] }))).toBe('validation_failed')
    expect(await codeOf(key({ scopes: ['subtasks:read', 'everything'] }))).toBe('validation_failed')
    expect(await codeOf(createApiKey(harness.as({ ...harness.ctx.actor, scopes: ['subtasks:write'] }), { name: 'x', scopes: ['admin'] }))).toBe('forbidden')
    const other = await harness.projectCtx()
    const made = []
    for (let place = 0; place < 5; place += 1) made.unshift((await createApiKey(other, { name: `key ${place}`, scopes: ['admin'] })).apiKey.id)
    const first = await listApiKeys(other, { limit: 3 })
    const second = await listApiKeys(other, { limit: 3, cursor: first.nextCursor ?? '' })
    expect([...first.items, ...second.items].map((item) => item.id)).toEqual(made)
    expect(second.nextCursor).toBeNull()
    expect(await codeOf(listApiKeys(other, { limit: 3, cursor: 'x' }))).toBe('cursor_invalid')
  })
})

describe("a subtask's own credential", () => {
  it('is valid while that attempt runs, and not a moment longer', async () => {
    await spawn(harness.ctx)
    const first = await claimOne(harness.ctx)
    expect(await authenticate(harness.deps, first.credential)).toEqual({
      kind: 'subtask',
      id: first.id,
      projectId: first.projectId,
      scopes: SUBTASK_SCOPES,
      agentId: first.agentId,
      lineage: { subtaskId: first.id, taskId: null, sessionId: `subtask-${first.id}`, depth: 1 },
    })
    await settleOne(harness.ctx, first, { kind: 'released' })
    expect(await codeOf(authenticate(harness.deps, first.credential))).toBe('unauthenticated')
    const second = await claimOne(harness.ctx)
    expect(await codeOf(authenticate(harness.deps, first.credential))).toBe('unauthenticated')
    await authenticate(harness.deps, second.credential)
    await settleOne(harness.ctx, second)
    expect(await codeOf(authenticate(harness.deps, second.credential))).toBe('unauthenticated')
  })

  it('sees its own subtask and nothing else of its project', async () => {
    const [sibling] = await spawnMany(harness.ctx, 1, { agentId: 'default', task: 'sibling', priority: 'low' })
    const run = await (async () => {
      await spawn(harness.ctx, { agentId: 'default' })
      return await claimOne(harness.ctx)
    })()
    await drainOutbox(harness.deps)
    const own = harness.as(await authenticate(harness.deps, run.credential))
    const siblingId = sibling?.id as string

    expect((await getSubtask(own, run.id)).id).toBe(run.id)
    expect((await listSubtasks(own, { limit: 50 })).items.map((item) => item.id)).toEqual([run.id])
    expect((await listSubtasks(own, { limit: 50, status: 'pending' })).items).toEqual([])
    expect((await listSteps(own, run.id, { limit: 5 })).items).toEqual([])
    expect(new Set((await allEvents(own)).map((event) => event.subject.id))).toEqual(new Set([run.id]))
    for (const work of [getSubtask(own, siblingId), listSteps(own, siblingId, { limit: 5 }), listUpdates(own, siblingId, { limit: 5 })])
      expect(await codeOf(work)).toBe('not_found')
    expect(await codeOf(readEvents(own, { afterSeq: 0, subjectId: siblingId, limit: 5 }))).toBe('not_found')
  })

  it('starts, steers, cancels and administers nothing', async () => {
    await spawn(harness.ctx)
    const run = await claimOne(harness.ctx)
    const own = harness.as(await authenticate(harness.deps, run.credential))
    expect(await codeOf(createSubtask(own, { task: 'more work', runner: 'own' }))).toBe('spawn_blocked')
    expect(await codeOf(steerSubtask(own, run.id, { content: 'x', delivery: 'next_step', steerable: () => true }))).toBe('forbidden')
    expect(await codeOf(cancelSubtask(own, run.id))).toBe('forbidden')
    expect(await codeOf(listApiKeys(own, { limit: 5 }))).toBe('forbidden')
  })
})

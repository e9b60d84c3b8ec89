import { advanceClock, claimOne, completed, drain, type Harness, invariants, resetClock, settleOne, spawn, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { acknowledgeInbox, claimInbox, listSubtasks } from '../index.ts'

let harness: Harness
let sessions = 0

beforeAll(async () => {
  harness = await startHarness({ settings: { SUBTASK_MAX_PENDING: '100', SUBTASK_MAX_CONCURRENT: '100' } })
})

afterEach(async () => {
  await resetClock(harness.admin)
  expect(await invariants(harness.admin, { runningPerAgent: 100 })).toEqual([])
})

afterAll(() => harness.close())

/** A session of its own, with the results of that many subtasks waiting in its inbox. */
async function sessionWith(results: number): Promise<string> {
  sessions += 1
  const session = `session-${sessions}`
  for (let place = 0; place < results; place += 1) await spawn(harness.ctx, { parentSessionId: session, task: `Task ${place}.` })
  await drain(harness.ctx)
  return session
}

const take = (session: string, ack: 'auto' | 'manual' = 'auto', limit = 100) => claimInbox(harness.ctx, session, { limit, ack })

describe('an inbox', () => {
  it('hands over results with what a parent needs, oldest first, each once', async () => {
    const session = await sessionWith(3)
    const first = await take(session, 'auto', 2)
    expect(first.claimId).toBeNull()
    expect(first.items.map((item) => item.task)).toEqual(['Task 0.', 'Task 1.'])
    expect(first.items[0]).toMatchObject({
      status: 'completed',
      finalOutcome: 'completed',
      result: 'There are 3 files.',
      truncated: false,
      completedAt: expect.any(Date),
    })
    expect((await take(session)).items.map((item) => item.task)).toEqual(['Task 2.'])
    expect((await take(session)).items).toEqual([])
  })

  it('hands over long results whole', async () => {
    const session = await sessionWith(0)
    await spawn(harness.ctx, { parentSessionId: session })
    await settleOne(harness.ctx, await claimOne(harness.ctx), completed('ä'.repeat(50_000)))
    expect((await take(session)).items[0]?.result).toHaveLength(50_000)
  })

  it('hands over at most 2 MiB of results at a time, says that there is more, and none twice', async () => {
    const session = await sessionWith(0)
    for (let place = 0; place < 5; place += 1) {
      await spawn(harness.ctx, { parentSessionId: session, task: `Task ${place}.` })
      await settleOne(harness.ctx, await claimOne(harness.ctx), completed(`${place} ${'x'.repeat(900_000)}`))
    }
    const pages = [await take(session), await take(session), await take(session), await take(session)]
    expect(pages.map(({ items, hasMore }) => [items.map(({ task }) => task), hasMore])).toEqual([
      [['Task 0.', 'Task 1.'], true],
      [['Task 2.', 'Task 3.'], true],
      [['Task 4.'], false],
      [[], false],
    ])
  })

  it('goes by the latest evaluation of a result: a poor one comes as what is wrong with it', async () => {
    const session = await sessionWith(0)
    const { projectId } = harness.ctx.actor
    const results = ['<npl-ref>\n✅ x\n</npl-ref>', '<npl-ref>\n🐛 x\n</npl-ref>', 'No blocks.']
    for (const result of results) {
      await spawn(harness.ctx, { parentSessionId: session })
      await settleOne(harness.ctx, await claimOne(harness.ctx), completed(result))
    }
    // A judge adds an evaluation of its own.
    await harness.admin`
      with judged as (
        insert into evaluations (project_id, id, origin, subtask_id, score, recommendation, detail, judge_of, is_judged)
        select project_id, gen_random_uuid(), origin, subtask_id, score, 'review', detail, id, true from evaluations where project_id = ${projectId} and score = 1
        returning id
      )
      insert into outbox (project_id, type, subject_kind, subject_id, data, actor_kind, actor_id)
      select ${projectId}, 'evaluation.created', 'evaluation', id, '{}', 'system', 'judge' from judged`
    expect((await take(session)).items).toMatchObject([
      { score: 1, recommendation: 'review', result: results[0], summary: null },
      { score: 0.1, recommendation: 'request_revision', result: null, summary: expect.stringContaining('🐛 bug: x') },
      { score: null, recommendation: 'review', result: results[2], summary: null },
    ])
    expect((await listSubtasks(harness.ctx, { session, limit: 5 })).items.map(({ evaluation }) => evaluation?.recommendation)).toEqual([
      'review',
      'request_revision',
      'review',
    ])
  })

  it('gives each item once, when 20 ask at once for more than there is', async () => {
    const session = await sessionWith(60)
    const claims = await Promise.all(Array.from({ length: 20 }, () => take(session, 'auto', 7)))
    const ids = claims.flatMap((claim) => claim.items.map((item) => item.inboxId))
    const rest = await take(session)
    expect([...ids, ...rest.items.map((item) => item.inboxId)].sort()).toHaveLength(60)
    expect(new Set([...ids, ...rest.items.map((item) => item.inboxId)]).size).toBe(60)
  })

  it('is of one session in one project', async () => {
    const session = await sessionWith(1)
    const other = await harness.projectCtx()
    expect((await take('another-session')).items).toEqual([])
    expect((await claimInbox(other, session, { limit: 10, ack: 'auto' })).items).toEqual([])
    expect((await take(session)).items).toHaveLength(1)
  })

  it('is for those who may', async () => {
    const reader = harness.as({ ...harness.ctx.actor, scopes: ['subtasks:read'] })
    await expect(claimInbox(reader, 'x', { limit: 1, ack: 'auto' })).rejects.toMatchObject({ code: 'forbidden' })
  })
})

describe('a claim with manual acknowledgement', () => {
  it('holds its items until it is acknowledged, and then for good', async () => {
    const session = await sessionWith(2)
    const claim = await take(session, 'manual')
    expect((await take(session)).items).toEqual([])
    expect(await acknowledgeInbox(harness.ctx, session, claim.claimId as string)).toEqual({ acknowledged: 2 })
    await advanceClock(harness.admin, '2 hours')
    expect((await take(session)).items).toEqual([])
    // Whoever has lost the answer asks again, and nothing changes.
    expect(await acknowledgeInbox(harness.ctx, session, claim.claimId as string)).toEqual({ acknowledged: 0 })
  })

  it('gives its items back after a minute', async () => {
    const session = await sessionWith(2)
    const claim = await take(session, 'manual')
    await advanceClock(harness.admin, '59 seconds')
    expect((await take(session, 'manual')).items).toEqual([])
    await advanceClock(harness.admin, '2 seconds')
    const again = await take(session, 'manual')
    expect(again.items.map((item) => item.inboxId)).toEqual(claim.items.map((item) => item.inboxId))
    await expect(acknowledgeInbox(harness.ctx, session, claim.claimId as string)).rejects.toMatchObject({ code: 'not_found' })
    expect(await acknowledgeInbox(harness.ctx, session, again.claimId as string)).toEqual({ acknowledged: 2 })
  })

  it('has no id to acknowledge when there was nothing', async () => {
    expect(await take(await sessionWith(0), 'manual')).toEqual({ claimId: null, items: [], hasMore: false })
  })

  it('can be acknowledged by its own session and project alone', async () => {
    const session = await sessionWith(1)
    const claimId = (await take(session, 'manual')).claimId as string
    await expect(acknowledgeInbox(harness.ctx, 'another-session', claimId)).rejects.toMatchObject({ code: 'not_found' })
    await expect(acknowledgeInbox(await harness.projectCtx(), session, claimId)).rejects.toMatchObject({ code: 'not_found' })
    expect(await acknowledgeInbox(harness.ctx, session, claimId)).toEqual({ acknowledged: 1 })
  })
})

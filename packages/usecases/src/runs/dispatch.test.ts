import { DomainError } from '@muster/domain'
import { claimAll, completed, drain, drainOutbox, type Harness, invariants, spawn, startHarness, TEST_RUNNERS } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClaimedRun, type Ctx, cancelSubtask, claimInbox, passIdlePermits, reapRuns, relayOutbox, settleRuns, steerSubtask } from '../index.ts'
import { grantMissedPermits } from '../subtasks/grant-permits.ts'

const SPAWNERS = 12
const CLAIMERS = 16
const SUBTASKS_EACH = 50
const AGENTS = 6
const RUNNING_LIMIT = 3

let harness: Harness

beforeAll(async () => {
  harness = await startHarness({
    settings: { SUBTASK_MAX_PENDING: '40', SUBTASK_MAX_CONCURRENT: String(RUNNING_LIMIT) },
    connectionsMax: 40,
    // Thirty loops share this process. While one waits for its turn, it holds its locks, and on a busy machine others waited for them for 5 s.
    statementTimeoutMs: 30_000,
  })
})

afterAll(() => harness.close())

/** Numbers that look random and are the same in every run, so that what fails once fails again. */
function sequence(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return (state >>> 8) % below
  }
}

describe('everything at once', () => {
  it('never passes a running limit, strands nothing and tells everybody once', async () => {
    const contexts = [harness.ctx, await harness.projectCtx()]
    const spawned: { ctx: Ctx; id: string }[] = []
    let isOver = false
    let mostPermits = 0
    let samples = 0
    const problems: string[] = []

    const spawnSome = async (place: number) => {
      const pick = sequence(place + 1)
      for (let count = 0; count < SUBTASKS_EACH; ) {
        const ctx = contexts[pick(2)] as Ctx
        const priority = (['urgent', 'normal', 'low'] as const)[pick(3)]
        const input = {
          agentId: `agent-${pick(AGENTS)}`,
          runner: TEST_RUNNERS[pick(2)],
          priority,
          parentSessionId: pick(3) === 0 ? undefined : `session-${pick(4)}`,
        }
        const made = await spawn(ctx, input as Partial<Parameters<typeof spawn>[1]>).catch((error: unknown) => {
          if (error instanceof DomainError && error.code === 'pending_limit_reached') return null
          throw error
        })
        if (made === null) continue
        count += 1
        spawned.push({ ctx, id: made.id })
        if (pick(4) === 0) await steerSubtask(ctx, made.id, { content: 'note', delivery: 'next_step', steerable: () => true }).catch(expectDomainError)
        const victim = spawned[pick(spawned.length)]
        if (pick(5) === 0 && victim !== undefined) await cancelSubtask(victim.ctx, victim.id).catch(expectDomainError)
      }
    }
    const work = async (place: number) => {
      const pick = sequence(1_000 + place)
      while (!isOver) {
        const runs = await claimAll(harness.ctx, {
          workerId: `worker-${place}`,
          runners: pick(2) === 0 ? ['own', 'other'] : ['other', 'own'],
          limit: 1 + pick(4),
        })
        for (const [projectId, group] of Map.groupBy(runs, (run) => run.projectId)) {
          await settleRuns(
            harness.deps,
            projectId,
            group.map((run) => ({ subtaskId: run.id, attempt: run.attempt, end: endOf(run, pick(8)) })),
          )
        }
      }
    }
    const sample = async () => {
      while (!isOver) {
        const [row] = await harness.admin<{ most: number }[]>`
          select coalesce(max(slots), 0)::int as most from (select count(*) as slots from subtasks where slot group by project_id, agent_id) as lane`
        mostPermits = Math.max(mostPermits, row?.most ?? 0)
        samples += 1
        // Sampled while work goes on: these hold between any two commits, not only at rest.
        if (samples % 10 === 0) problems.push(...(await invariants(harness.admin, { whileBusy: true })))
      }
    }
    const deleteExpired = async () => {
      while (!isOver) {
        await relayOutbox(harness.deps)
        await reapRuns(harness.deps)
        await passIdlePermits(harness.deps)
        await grantMissedPermits(harness.deps)
      }
    }

    const background = [...Array.from({ length: CLAIMERS }, (_, place) => work(place)), sample(), deleteExpired()]
    try {
      await Promise.all(Array.from({ length: SPAWNERS }, (_, place) => spawnSome(place)))
    } finally {
      isOver = true
    }
    await Promise.all(background)
    expect(problems).toEqual([])
    // Whatever was locked when the last slot of its lane became free.
    await grantMissedPermits(harness.deps)
    expect(await invariants(harness.admin)).toEqual([])
    await drain(...contexts)
    await drainOutbox(harness.deps)

    expect(spawned).toHaveLength(SPAWNERS * SUBTASKS_EACH)
    expect(mostPermits).toBe(RUNNING_LIMIT)
    expect(await invariants(harness.admin)).toEqual([])
    const [left] = await harness.admin`select count(*)::int as count from subtasks where status in ('pending', 'running')`
    expect(left?.count).toBe(0)
    const [delivered] = await harness.admin`select count(*)::int as count from inbox`
    const claims = await Promise.all(
      contexts.flatMap((ctx) => Array.from({ length: 4 }, (_, place) => claimInbox(ctx, `session-${place}`, { limit: 1_000, ack: 'auto' }))),
    )
    expect(claims.flatMap((claim) => claim.items)).toHaveLength(delivered?.count)
  }, 60_000)
})

function endOf(run: ClaimedRun, choice: number) {
  if (choice === 0) return { kind: 'released' } as const
  if (choice === 1) return { kind: 'lost', ranMs: 0, lostMs: 0 } as const
  if (choice === 2) return completed('')
  if (choice === 3) return { kind: 'errored', error: 'broken', retryable: run.attempt === 1, partialResult: null } as const
  return completed()
}

function expectDomainError(error: unknown): void {
  if (!(error instanceof DomainError)) throw error
}

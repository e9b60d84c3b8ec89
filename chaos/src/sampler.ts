import { readFileSync } from 'node:fs'
import { isDatabaseUnavailable } from '@muster/db'
import { invariants } from '@muster/testing/invariants'
import type { Findings } from './findings.ts'
import type { Supervised } from './supervised.ts'
import type { System } from './system.ts'
import { FRUGAL, pendingLimit, runningLimit, SERVER_LIMITS } from './tenants.ts'

const LANES_EVERY_MS = 250
const SIZES_EVERY_MS = 1_000
const INVARIANTS_EVERY_MS = 4_000
const PAGE_BYTES = 4_096

/**
 * Two things may be out of step for a moment and are put right by the next look of a worker, so that they count only where they last.
 * A cancel or a change of slots leaves a job to the claim that has it in its hands; should that claim be rolled back by a fault, the
 * job stays, leads nowhere, and is removed by its next fetch. And a waiting row that is locked while a permit is granted is
 * passed over.
 */
const TRANSIENT = ['a waiting job is the job of a subtask', 'nothing waits while its lane has a free permit']
const TRANSIENT_LOOKS_MAX = 4

/** What is seen of the system while it works. */
export interface Sampler {
  readonly counts: { pending: number; running: number; ended: number }
  /** Most resident memory of any life of a process, in MiB, by name. */
  readonly memoryMaxMib: ReadonlyMap<string, number>
  readonly connectionsMax: number
  readonly connections: number
  readonly laneLooks: number
  readonly invariantLooks: number
  lagMs(): number
  stop(): Promise<void>
}

/** Looks at limits, invariants, memory and connections for as long as the run lasts. What it cannot see while PostgreSQL is away, it skips. */
export function startSampler(system: System, findings: Findings): Sampler {
  const { admin } = system
  const memoryMaxMib = new Map<string, number>()
  const counts = { pending: 0, running: 0, ended: 0 }
  const state = { connections: 0, connectionsMax: 0, laneLooks: 0, invariantLooks: 0, lagMs: 0 }
  let isStopped = false

  const every = (ms: number, look: () => Promise<void> | void) => {
    const loop = async () => {
      while (!isStopped) {
        try {
          await look()
        } catch (error) {
          if (!isDatabaseUnavailable(error)) findings.broke('the harness can look at the database', String((error as Error).stack).slice(0, 600))
        }
        await new Promise((resolve) => setTimeout(resolve, ms))
      }
    }
    return loop()
  }

  const lookAtLanes = async () => {
    const rows = await admin<{ project_id: string; agent_id: string; pending: number; running: number; slots: number }[]>`
      select project_id, agent_id, count(*) filter (where status = 'pending')::int as pending, count(*) filter (where status = 'running')::int as running,
        count(*) filter (where slot)::int as slots
      from subtasks where status in ('pending', 'running') group by project_id, agent_id`
    state.laneLooks += 1
    const describe = (row: (typeof rows)[number]) =>
      `${row.project_id}/${row.agent_id}: ${row.pending} pending, ${row.running} running, ${row.slots} slots; limits ${pendingLimit(row.agent_id)} and ${runningLimit(row.agent_id)}`
    findings.none(
      'running limits hold at every moment that was looked at',
      rows.length,
      rows.filter((row) => row.slots > runningLimit(row.agent_id)).map(describe),
    )
    const limited = rows.filter((row) => pendingLimit(row.agent_id) < SERVER_LIMITS.pending)
    // What ran may come back to wait, and waits beyond the limit then; but what is accepted is never more than both limits together.
    findings.none(
      'pending limits hold at every moment that was looked at, apart from what was running and came back',
      limited.length,
      limited.filter((row) => row.pending + row.running > pendingLimit(row.agent_id) + runningLimit(row.agent_id)).map(describe),
    )
  }

  // In one statement, and so at one moment: what has ended has used what it reported, and the others may use what they reserved.
  const lookAtBudgets = async () => {
    const [row] = await admin<{ count: number; used: number; reserved: number }[]>`
      select count(*)::int as count, coalesce(sum(input_tokens + output_tokens) filter (where completed_at is not null), 0)::int as used,
        coalesce(sum(greatest(budget_max_tokens, input_tokens + output_tokens)) filter (where completed_at is null), 0)::int as reserved
      from subtasks where agent_id = ${FRUGAL.agent}`
    if (row === undefined || row.count === 0) return
    const isBroken = row.used + row.reserved > FRUGAL.budgetTokens
    findings.none(
      'no budget is exceeded at any moment that was looked at',
      1,
      isBroken ? [`${row.count} subtasks: ${row.used} tokens used, ${row.reserved} reserved`] : [],
    )
  }

  // While they are there: nothing is left of a job whose run has ended.
  const lookAtJobs = async () => {
    const [row] = await admin<{ jobs: number; moved: string[] }[]>`
      select count(*)::int as jobs,
        coalesce(array_agg(format('%s %s is %s, retried %s times', name, id, state, retry_count)) filter (where state not in ('created', 'active') or retry_count > 0), '{}') as moved
      from pgboss.job where name like 'run.%'`
    findings.none('no run job is retried, failed, cancelled or completed by the queue itself', row?.jobs ?? 0, row?.moved ?? [])
  }

  const lookAtSizes = async () => {
    for (const process of [...system.apis, ...system.workers]) {
      const mib = residentMib(process)
      if (mib !== null) memoryMaxMib.set(process.name, Math.max(memoryMaxMib.get(process.name) ?? 0, mib))
    }
    const [row] = await admin<{ connections: number; pending: number; running: number; ended: number }[]>`
      select (select count(*)::int from pg_stat_activity where usename = ${system.login}) as connections,
        count(*) filter (where status = 'pending')::int as pending, count(*) filter (where status = 'running')::int as running,
        count(*) filter (where status in ('completed', 'failed', 'cancelled'))::int as ended
      from subtasks`
    if (row === undefined) return
    state.connections = row.connections
    state.connectionsMax = Math.max(state.connectionsMax, row.connections)
    Object.assign(counts, { pending: row.pending, running: row.running, ended: row.ended })
  }

  const lasting = new Map<string, number>()
  const lookAtInvariants = async () => {
    const problems = await invariants(admin, { runningPerAgent: SERVER_LIMITS.running })
    state.invariantLooks += 1
    findings.looked('the invariants hold between any two commits', 1)
    for (const problem of problems) {
      const transient = TRANSIENT.find((claim) => problem.startsWith(`${claim}: `))
      const looks = (lasting.get(transient ?? '') ?? 0) + 1
      if (transient !== undefined) lasting.set(transient, looks)
      if (transient === undefined || looks > TRANSIENT_LOOKS_MAX) {
        findings.broke('the invariants hold between any two commits', `${new Date().toISOString()}: ${problem}`)
      }
    }
    for (const claim of TRANSIENT) if (!problems.some((problem) => problem.startsWith(`${claim}: `))) lasting.delete(claim)
  }

  let expectedAt = performance.now()
  const lagTimer = setInterval(() => {
    const now = performance.now()
    state.lagMs = Math.max(0, now - expectedAt)
    expectedAt = now + 200
  }, 200)

  const loops = [
    every(LANES_EVERY_MS, lookAtLanes),
    every(LANES_EVERY_MS, lookAtJobs),
    every(LANES_EVERY_MS, lookAtBudgets),
    every(SIZES_EVERY_MS, lookAtSizes),
    every(INVARIANTS_EVERY_MS, lookAtInvariants),
  ]
  return {
    counts,
    memoryMaxMib,
    get connectionsMax() {
      return state.connectionsMax
    },
    get connections() {
      return state.connections
    },
    get laneLooks() {
      return state.laneLooks
    },
    get invariantLooks() {
      return state.invariantLooks
    },
    lagMs: () => state.lagMs,
    async stop() {
      isStopped = true
      clearInterval(lagTimer)
      await Promise.all(loops)
    },
  }
}

/** Resident memory of a process; null when it is not there, or the system does not say. */
export function residentMib({ pid }: Supervised): number | null {
  if (pid === null) return null
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES) / 1_048_576
  } catch {
    return null
  }
}

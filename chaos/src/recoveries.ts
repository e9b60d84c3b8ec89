import { setTimeout as sleep } from 'node:timers/promises'
import type { Evidence } from './checks/check.ts'
import { type Client, RECOVERY_MAX_MS } from './client.ts'
import { BACK_MAX_MS } from './clock.ts'
import type { FaultRun } from './faults.ts'
import type { Findings } from './findings.ts'
import type { System } from './system.ts'
import type { Tenant } from './tenants.ts'

/** How long things took to go on, in milliseconds, sorted. */
export interface Recoveries {
  /** SIGKILL of a worker until its subtasks were taken from it, without an outage of PostgreSQL or a move of the clock in between. */
  takenMs: number[]
  /** And until they ran again elsewhere, which also waits for a free worker. */
  runAgainMs: number[]
  /** PostgreSQL back until an API answered 2xx, each API. */
  apiMs: number[]
}

export async function measureRecoveries({ admin, clock }: Evidence, faults: FaultRun): Promise<Recoveries> {
  const takenMs: number[] = []
  const runAgainMs: number[] = []
  for (const { fault, atMs, life, wasDone } of faults.records) {
    if (!wasDone || fault.kind !== 'worker-kill' || life?.workerId == null) continue
    const killed = clock.shown(atMs, atMs)
    const shiftMs = killed.toMs - atMs
    const lost = await admin<{ ended_ms: number; again_ms: number | null }[]>`
      select extract(epoch from a.ended_at)::float8 * 1000 as ended_ms, extract(epoch from n.started_at)::float8 * 1000 as again_ms
      from attempts a left join attempts n on n.subtask_id = a.subtask_id and n.attempt = a.attempt + 1
      where a.worker_id = ${life.workerId} and a.outcome = 'lost' and a.started_at < ${new Date(killed.toMs).toISOString()}::timestamptz`
    for (const { ended_ms, again_ms } of lost) {
      const takenAtMs = ended_ms - shiftMs
      const againAtMs = again_ms === null ? null : again_ms - shiftMs
      // As told by a clock that may have been put back meanwhile.
      const overMs = (againAtMs ?? takenAtMs) + BACK_MAX_MS
      const isDisturbed = clock.wasMoved(atMs, overMs) || faults.outages.some((outage) => outage.fromMs < overMs && outage.toMs + 5_000 > atMs)
      if (isDisturbed || takenAtMs < atMs) continue
      takenMs.push(takenAtMs - atMs)
      if (againAtMs !== null) runAgainMs.push(againAtMs - atMs)
    }
  }
  const sorted = (values: number[]) => values.sort((one, other) => one - other)
  return { takenMs: sorted(takenMs), runAgainMs: sorted(runAgainMs), apiMs: sorted([...faults.apiRecoveriesMs]) }
}

/**
 * After the last fault: every API answers from the database again. Each is asked by itself, since the load goes to any of them, and one that never
 * recovered would hide behind the others.
 */
export async function letApisRecover({ apis, tenants }: System, client: Client, findings: Findings): Promise<void> {
  const promise = 'every API answers from the database when the faults are over'
  const key = (tenants[0] as Tenant).key
  await Promise.all(
    apis.map(async (api) => {
      const deadline = performance.now() + RECOVERY_MAX_MS
      findings.looked(promise, 1)
      for (;;) {
        const outcome = await client.ask(api, { method: 'GET', path: '/subtasks?limit=1', key })
        if (outcome.kind === 'answered' && outcome.status === 200) return
        if (performance.now() > deadline) return findings.broke(promise, `${api.name}: ${JSON.stringify(outcome).slice(0, 300)}`)
        await sleep(500)
      }
    }),
  )
}

/** "p50 820 ms, most 1400 ms of 12", or that nothing was measured. */
export function summarize(sortedMs: readonly number[]): string {
  if (sortedMs.length === 0) return 'not measured'
  const median = sortedMs[Math.floor((sortedMs.length - 1) / 2)] as number
  return `p50 ${Math.round(median)} ms, most ${Math.round(sortedMs.at(-1) as number)} ms, of ${sortedMs.length}`
}

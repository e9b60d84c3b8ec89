import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseUnavailable } from '@muster/db'
import type { Client } from './client.ts'
import { BACK_MAX_MS, moveClock } from './clock.ts'
import type { Findings } from './findings.ts'
import { type Fault, isOfApi } from './plan.ts'
import type { Life, Supervised } from './supervised.ts'
import { LEASE_SECONDS, type System } from './system.ts'
import { refuseWrites } from './write-outages.ts'

/** What became of a fault. */
export interface FaultRecord {
  fault: Fault
  atMs: number
  /** What exactly was broken, or why nothing was. */
  what: string
  wasDone: boolean
  life: Life | null
}

export interface FaultRun {
  records: FaultRecord[]
  /** How long each API needed to answer 2xx again once PostgreSQL was back, in milliseconds. */
  apiRecoveriesMs: number[]
  /** Periods in which PostgreSQL was away. */
  outages: { fromMs: number; toMs: number }[]
}

/** Carries out the plan. Resolves when the last fault is over and everything that was stopped goes on. */
export async function runFaults(
  system: System,
  client: Client,
  plan: readonly Fault[],
  findings: Findings,
  stop: AbortSignal,
  log: (line: string) => void,
): Promise<FaultRun> {
  const run: FaultRun = { records: [], apiRecoveriesMs: [], outages: [] }
  const underWay: Promise<void>[] = []
  const startedAt = performance.now()
  // One after the other: what comes while the server is away begins as soon as it is back.
  let postgresTurn: Promise<unknown> = Promise.resolve()
  const breakPostgres = (fault: Fault): Promise<string | null> => {
    const broken = postgresTurn.then(() => breakAndAwaitRecovery(fault))
    postgresTurn = broken.catch(() => {})
    return broken
  }

  const breakAndAwaitRecovery = async (fault: Fault): Promise<string | null> => {
    if (fault.kind === 'disk-full' && system.disk === null) return null
    client.interruptRecoveries()
    const fromMs = Date.now()
    let details = ''
    if (fault.kind.startsWith('postgres-')) await takePostgresAway(fault)
    else details = await refuseWrites(system, fault, findings, stop)
    for (const api of system.apis.filter((each) => each.excused.every(({ toMs }) => toMs < Date.now())))
      client.awaitRecovery(api, (ms) => run.apiRecoveriesMs.push(ms))
    run.outages.push({ fromMs, toMs: Date.now() })
    return `for ${((Date.now() - fromMs) / 1000).toFixed(1)} s${details}`
  }

  const takePostgresAway = async (fault: Fault): Promise<void> => {
    if (fault.kind === 'postgres-crash') await system.postgres.kill()
    else await stopPostgres(system, fault.kind === 'postgres-fast' ? 'fast' : 'immediate')
    await sleep(fault.lastsMs, undefined, { signal: stop }).catch(() => {})
    await system.postgres.restart('fast')
  }

  for (const fault of plan) {
    await sleep(Math.max(0, fault.atMs - (performance.now() - startedAt)), undefined, { signal: stop }).catch(() => {})
    if (stop.aborted) break
    const record: FaultRecord = { fault, atMs: Date.now(), what: '', wasDone: false, life: null }
    run.records.push(record)
    const done = (what: string | null) => {
      record.wasDone = what !== null
      record.what = what ?? 'nothing was there to be broken'
      log(`fault ${fault.number} ${fault.kind}: ${record.what}`)
    }
    const work: Promise<string | null> = isOfPostgres(fault) ? breakPostgres(fault) : breakOther(system, fault, record, stop)
    // Sessions cannot be ended while there is no server.
    const ended = work.then(done, (error: unknown) => (isDatabaseUnavailable(error) ? done(null) : Promise.reject(error)))
    // It is reported below, after everything else has ended in order.
    ended.catch(() => {})
    underWay.push(ended)
  }
  await Promise.all(underWay)
  return run
}

function isOfPostgres({ kind }: Fault): boolean {
  return kind.startsWith('postgres-') || kind === 'disk-full' || kind === 'read-only'
}

async function stopPostgres(system: System, mode: 'fast' | 'immediate'): Promise<void> {
  // Not `stop`, which gives the server up for good: the signal that it would send.
  process.kill(system.postgres.pid, mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
  await sleep(50)
}

async function breakOther(system: System, fault: Fault, record: FaultRecord, stop: AbortSignal): Promise<string | null> {
  const [kind] = fault.kind.split('-') as [string]
  const processes = kind === 'api' ? system.apis : kind === 'worker' ? system.workers : [...system.apis, ...system.workers]
  const target = processes[fault.target % processes.length] as Supervised
  switch (fault.kind) {
    case 'worker-kill':
    case 'api-kill':
    case 'worker-term':
    case 'api-term': {
      const life = target.life
      // One that is still starting would only start again.
      if (life === undefined || life.readyAtMs === null || life.endedAtMs !== null || life.endedBy !== null) return null
      record.life = life
      return target.signal(fault.kind.endsWith('kill') ? 'SIGKILL' : 'SIGTERM') ? target.name : null
    }
    case 'worker-stop':
    case 'api-stop': {
      const life = target.life
      if (life === undefined || life.readyAtMs === null || !target.signal('SIGSTOP')) return null
      record.life = life
      const excuse = { fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY }
      target.excused.push(excuse)
      await sleep(fault.lastsMs, undefined, { signal: stop }).catch(() => {})
      target.signal('SIGCONT', life)
      excuse.toMs = Date.now()
      return `${target.name} for ${(fault.lastsMs / 1000).toFixed(1)} s`
    }
    case 'backends': {
      const rows = await system.admin<{ ended: boolean }[]>`
        select pg_terminate_backend(pid) as ended from (
          select pid from pg_stat_activity where usename = ${system.login} order by md5(pid::text || ${fault.number}) limit ${1 + Math.round(fault.share * 12)}
        ) as victims`
      return rows.length === 0 ? null : `${rows.length} sessions`
    }
    case 'cut': {
      const isEverybody = fault.share > 0.7
      const victims = isEverybody ? processes : [target]
      const count = victims.reduce((sum, each) => sum + (each.options.hop.connections > 0 ? each.options.hop.cut(isEverybody ? 1 : fault.share) : 0), 0)
      return count === 0 ? null : `${count} connections of ${isEverybody ? 'all' : target.name}`
    }
    case 'stall': {
      target.options.hop.stall()
      await sleep(fault.lastsMs, undefined, { signal: stop }).catch(() => {})
      if (target.options.seat !== null || target.partitions.every(({ toMs }) => toMs !== Number.POSITIVE_INFINITY)) target.options.hop.flow()
      return `${target.name} for ${(fault.lastsMs / 1000).toFixed(1)} s`
    }
    case 'partition': {
      const machines = isOfApi(fault) ? system.apis : system.workers
      const machine = machines[fault.target % machines.length] as Supervised
      const partition = { fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY }
      machine.partitions.push(partition)
      record.life = machine.life ?? null
      const { seat, hop } = machine.options
      await (seat === null ? hop.stall() : seat.cutOff())
      await sleep(fault.lastsMs, undefined, { signal: stop }).catch(() => {})
      partition.toMs = Date.now()
      // Another partition, or a stall, of the same machine may not be over.
      if (machine.partitions.every(({ toMs }) => toMs !== Number.POSITIVE_INFINITY)) await (seat === null ? hop.flow() : seat.reconnect())
      return `${machine.name} for ${(fault.lastsMs / 1000).toFixed(1)} s, ${hop.connections} connections`
    }
    case 'clock-on':
    case 'clock-back': {
      const byMs = clockMoveMs(fault)
      await moveClock(system.admin, byMs)
      return `by ${(byMs / 1000).toFixed(1)} s`
    }
    default:
      return null
  }
}

/** On by as much as two leases, or back by as much as the times of that long may be worth nothing. */
function clockMoveMs({ kind, share }: Fault): number {
  const [least, most] = kind === 'clock-back' ? [-500, -BACK_MAX_MS] : [500, 2 * LEASE_SECONDS * 1_000]
  return Math.round(least + share * (most - least))
}

import type { Findings } from './findings.ts'
import { liveMib } from './heap.ts'
import { residentMib } from './sampler.ts'
import type { System } from './system.ts'

const SAMPLES = 60
/** The beginning is left out: caches fill, code is compiled, pools open. */
const WARM_UP_SHARE = 0.3

/** When the memory that is in use is looked at: collecting garbage more often would measure an unrealistic system. */
const HEAP_LOOKS = [WARM_UP_SHARE, 0.53, 0.76, 0.99]
/**
 * What memory in use may grow by from the first of these looks to the last, if it has grown from each to the next. What is on its way makes it go up and
 * down by two or three MiB. In ten minutes a leak of 2 MiB a minute is found.
 */
const HEAP_NOISE_MIB = 6
/** In less time code is still being compiled and caches fill, and nothing can be concluded from it. */
const MEMORY_FROM_MINUTES = 5
/** Pools open their connections one by one, when first needed: growth counts only beyond what they may have. */
const CONNECTIONS_NOISE = 8
/** Dead rows beyond what autovacuum leaves to gather: the threshold of the busiest tables, which their migrations set to 5,000, and what comes until its next run. */
const DEAD_NOISE = 6_000
const DEAD_SHARE = 0.5
/** Tables that only hold what is on its way; they must not grow at all. */
const TRANSIENT_BYTES_MAX = 24 * 1_048_576
/** Finished jobs stay for a minute, plus the interval of pg-boss's maintenance. */
const TRANSIENT = new Set(['outbox', 'job_common', 'workers'])
/** What a row of a table may take in table and indexes, compared with its beginning. */
const BLOAT_FACTOR = 1.6
const BLOAT_NOISE_BYTES = 4 * 1_048_576

interface Table {
  name: string
  live: number
  dead: number
  bytes: number
  indexBytes: number
}

interface Sample {
  atMs: number
  memoryMib: Record<string, number>
  connections: number
  tables: Table[]
}

export interface GrowthWatch {
  samples: Sample[]
  /** By process, what was in use at each of the looks. */
  liveMib: Record<string, number[]>
  stop(): void
  judge(findings: Findings): void
}

/** Looks at memory, connections and tables while a steady load runs, and says afterwards what grew without a reason. */
export function startGrowthWatch(system: System, minutes: number): GrowthWatch {
  const samples: Sample[] = []
  const look = async () => {
    const memoryMib: Record<string, number> = {}
    for (const process of [...system.apis, ...system.workers]) {
      const mib = residentMib(process)
      if (mib !== null) memoryMib[process.name] = mib
    }
    const [row] = await system.admin<{ count: number }[]>`select count(*)::int as count from pg_stat_activity where usename = ${system.login}`
    const tables = await system.admin<Table[]>`
      select relname as name, n_live_tup::int as live, n_dead_tup::int as dead, pg_table_size(relid)::float8 as bytes, pg_indexes_size(relid)::float8 as "indexBytes"
      from pg_stat_user_tables where schemaname in ('public', 'pgboss', 'muster_system') and pg_total_relation_size(relid) > 0 order by 1`
    samples.push({ atMs: Date.now(), memoryMib, connections: row?.count ?? 0, tables: [...tables] })
  }
  const missed: string[] = []
  const inUse: Record<string, number[]> = {}
  const lookInside = async () => {
    for (const process of [...system.apis, ...system.workers]) {
      const mib = await liveMib(process)
      if (mib !== null) inUse[process.name] = [...(inUse[process.name] ?? []), mib]
    }
  }
  const timers = [
    setInterval(() => void look().catch((error: unknown) => missed.push(String(error))), (minutes * 60_000) / SAMPLES),
    ...HEAP_LOOKS.map((share) => setTimeout(() => void lookInside(), share * minutes * 60_000)),
  ]
  return {
    samples,
    liveMib: inUse,
    stop() {
      for (const timer of timers) clearTimeout(timer)
    },
    judge(findings) {
      findings.none('everything can be looked at under steady load', samples.length, missed)
      const warm = samples.slice(Math.floor(samples.length * WARM_UP_SHARE))
      const third = Math.max(1, Math.floor(warm.length / 3))
      const [first, last] = [warm.slice(0, third), warm.slice(-third)]
      if (minutes >= MEMORY_FROM_MINUTES) {
        const processes = [...system.apis, ...system.workers]
        findings.none(
          'memory in use does not grow under steady load',
          processes.length,
          processes.flatMap(({ name }) => checkMemory(name, inUse[name] ?? [])),
        )
      }
      const [before, after] = [first, last].map((part) => Math.max(...part.map((sample) => sample.connections))) as [number, number]
      findings.none('connections do not grow under steady load', warm.length, after > before + CONNECTIONS_NOISE ? [`${before} → ${after}`] : [])
      checkTables(findings, warm)
    },
  }
}

function checkMemory(name: string, looks: readonly number[]): string[] {
  const said = `${name}: ${looks.map((mib) => mib.toFixed(1)).join(' → ')} MiB`
  if (looks.length < HEAP_LOOKS.length) return [`${said}, and did not answer at every look`]
  const isRising = looks.every((mib, place) => place === 0 || mib > (looks[place - 1] as number))
  return isRising && (looks.at(-1) as number) - (looks[0] as number) > HEAP_NOISE_MIB ? [said] : []
}

function checkTables(findings: Findings, warm: readonly Sample[]): void {
  const early = new Map(warm[0]?.tables.map((table) => [table.name, table]))
  const end = warm.at(-1)?.tables ?? []
  findings.none(
    'dead rows are cleaned up',
    end.length,
    end.filter((table) => table.dead > DEAD_NOISE + table.live * DEAD_SHARE).map((table) => `${table.name}: ${table.dead} dead, ${table.live} live`),
  )
  findings.none(
    'tables of what is on its way stay small',
    TRANSIENT.size,
    end
      .filter((table) => TRANSIENT.has(table.name) && table.bytes + table.indexBytes > TRANSIENT_BYTES_MAX)
      .map((table) => `${table.name}: ${mib(table.bytes)} + ${mib(table.indexBytes)} in indexes`),
  )
  findings.none(
    'tables and indexes grow no faster than their rows',
    end.length,
    end.flatMap((table) => {
      const before = early.get(table.name)
      if (before === undefined || TRANSIENT.has(table.name) || table.live < 500) return []
      const expected = ((before.bytes + before.indexBytes) / Math.max(before.live, 1)) * table.live
      const actual = table.bytes + table.indexBytes
      return actual > expected * BLOAT_FACTOR + BLOAT_NOISE_BYTES
        ? [`${table.name}: ${mib(actual)} for ${table.live} rows, was ${mib(before.bytes + before.indexBytes)} for ${before.live}`]
        : []
    }),
  )
}

function mib(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`
}

import { createRandom } from './random.ts'

/** Everything that is broken on purpose, with how it is said in the report. */
export const FAULTS = {
  'worker-kill': 'a worker killed with SIGKILL',
  'worker-term': 'a worker asked to stop',
  'worker-stop': 'a worker stopped (SIGSTOP) beyond its lease, then woken',
  'api-kill': 'an API killed with SIGKILL',
  'api-term': 'an API asked to stop',
  'api-stop': 'an API stopped (SIGSTOP), then woken',
  'postgres-fast': 'PostgreSQL shut down (fast) and started again',
  'postgres-immediate': 'PostgreSQL shut down (immediate) and started again',
  'postgres-crash': 'PostgreSQL killed with SIGKILL and started again',
  backends: 'database sessions terminated',
  cut: 'database connections of processes cut',
  stall: 'database connections of a process silent for a while',
  'clock-on': 'the clock moved on',
  'clock-back': 'the clock put back',
  'disk-full': 'the disk of PostgreSQL full for a while',
  'read-only': 'PostgreSQL read-only for a while',
  partition: 'a machine cut off from PostgreSQL for a while, its connections open',
} as const

export type FaultKind = keyof typeof FAULTS

/** One thing that will be broken: what, when after the beginning of the load, and for how long. */
export interface Fault {
  number: number
  atMs: number
  kind: FaultKind
  /** Which of the processes of that kind; modulo how many there are. */
  target: number
  lastsMs: number
  /** How much of what is there is hit, between 0 and 1. */
  share: number
}

export interface PlanOptions {
  seed: number
  minutes: number
  leaseSeconds: number
  only: readonly string[]
  machines: boolean
}

/** Kinds with a schedule of their own, so that the schedule of the others does not depend on them. */
const WRITE_OUTAGES = ['disk-full', 'read-only'] as const satisfies readonly FaultKind[]
/** In each period of this length, every one of them happens once. */
const WRITE_OUTAGES_EVERY_MS = 56_000
/** Partitions begin this far apart, so that several machines may be away at once. */
const PARTITION_EVERY_MS = { from: 8_000, to: 16_000 }
const PARTITION_MS = { from: 5_000, to: 40_000 }
/** Of APIs there are few, and the work is on the workers. */
const PARTITIONED_API_SHARE = 0.2

const FIRST_MS = 3_000
const LAST_BEFORE_END_MS = 4_000
/** A run of at least this many minutes loses its database for a whole minute once. */
const LONG_OUTAGE_FROM_MINUTES = 5
export const LONG_OUTAGE_MS = 60_000

/** Computes all faults of a run up front, from the seed alone. */
export function planFaults(options: PlanOptions): Fault[] {
  const { only } = options
  const faults = [...planShuffled(options), ...planWriteOutages(options), ...planPartitions(options)]
  if (faults.length === 0 && only.length > 0) throw new Error(`--only names no fault; there are: ${Object.keys(FAULTS).join(', ')}`)
  return faults.sort((one, other) => one.atMs - other.atMs).map((fault, index) => ({ ...fault, number: index + 1 }))
}

function planWriteOutages({ seed, minutes, only }: PlanOptions): Fault[] {
  const random = createRandom(seed, 'write outages')
  const faults: Fault[] = []
  const lastMs = minutes * 60_000 - LAST_BEFORE_END_MS
  for (let fromMs = FIRST_MS; fromMs < lastMs; fromMs += WRITE_OUTAGES_EVERY_MS) {
    const share = Math.min(WRITE_OUTAGES_EVERY_MS, lastMs - fromMs) / WRITE_OUTAGES.length
    for (const [place, kind] of random.shuffled(WRITE_OUTAGES).entries()) {
      const atMs = Math.round(fromMs + (place + random.next()) * share)
      const fault = { number: 0, atMs, kind, target: 0, lastsMs: random.whole(2_000, 5_000), share: 1 }
      if (only.length === 0 || only.includes(kind)) faults.push(fault)
    }
  }
  return faults
}

/** Lasts no longer than the run, so that a short one has short partitions too. */
function planPartitions({ seed, minutes, only, machines }: PlanOptions): Fault[] {
  if (!machines || (only.length > 0 && !only.includes('partition'))) return []
  const random = createRandom(seed, 'partitions')
  const faults: Fault[] = []
  const endMs = minutes * 60_000
  for (let atMs = FIRST_MS + random.whole(0, 3_000); atMs + PARTITION_MS.from < endMs; atMs += random.whole(PARTITION_EVERY_MS.from, PARTITION_EVERY_MS.to)) {
    const lastsMs = Math.min(endMs - atMs, random.whole(PARTITION_MS.from, PARTITION_MS.to))
    faults.push({ number: 0, atMs, kind: 'partition', target: random.whole(0, 999), lastsMs, share: random.next() })
  }
  return faults
}

export function isOfApi({ share }: Fault): boolean {
  return share < PARTITIONED_API_SHARE
}

/** Every kind once before any comes again. */
function planShuffled({ seed, minutes, leaseSeconds, only }: PlanOptions): Fault[] {
  const random = createRandom(seed, 'faults')
  const kinds = (Object.keys(FAULTS) as FaultKind[]).filter(
    (kind) => kind !== 'partition' && !WRITE_OUTAGES.some((other) => other === kind) && (only.length === 0 || only.includes(kind)),
  )
  if (kinds.length === 0) return []
  const lastMs = minutes * 60_000 - LAST_BEFORE_END_MS
  const longOutageAtMs = minutes >= LONG_OUTAGE_FROM_MINUTES && kinds.includes('postgres-fast') ? random.whole(60_000, lastMs - 2 * LONG_OUTAGE_MS) : null
  const faults: Fault[] = []
  let bag: FaultKind[] = []
  let atMs = FIRST_MS
  while (atMs < lastMs) {
    if (longOutageAtMs !== null && atMs >= longOutageAtMs && !faults.some((fault) => fault.lastsMs === LONG_OUTAGE_MS)) {
      faults.push({ number: faults.length + 1, atMs, kind: 'postgres-fast', target: 0, lastsMs: LONG_OUTAGE_MS, share: 1 })
      atMs += LONG_OUTAGE_MS + 5_000
      continue
    }
    if (bag.length === 0) bag = random.shuffled(kinds)
    const kind = bag.pop() as FaultKind
    faults.push({ number: faults.length + 1, atMs, kind, target: random.whole(0, 999), lastsMs: lastsMs(kind), share: random.next() })
    // Mostly with time to recover, sometimes one into the other.
    atMs += random.chance(0.25) ? random.whole(100, 1_500) : random.whole(2_500, 6_500)
  }
  return faults

  function lastsMs(kind: FaultKind): number {
    if (kind.endsWith('-stop')) return random.whole(leaseSeconds * 1_000 + 500, leaseSeconds * 1_000 + 4_000)
    if (kind.startsWith('postgres-')) return random.whole(200, 5_000)
    if (kind === 'stall') return random.whole(500, leaseSeconds * 1_000 + 4_000)
    return 0
  }
}

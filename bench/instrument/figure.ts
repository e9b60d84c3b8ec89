import type { BenchServer } from './server.ts'
import { median } from './statistics.ts'

/** One thing that is measured, in a file of its own. */
export interface Figure {
  /** How it is asked for: `pnpm bench <name>`. */
  name: string
  /** What is measured, in one line. */
  title: string
  /** What is set otherwise than as shipped, by the names of the variables. */
  raised: string
  /** What its rows do not say by themselves, and a reader has to know. */
  notes?: string[]
  /** It takes hours at full size, so it is measured only when it is named. */
  isApart?: boolean
  /** What the embedded server is started with for it. */
  serverSettings?: Record<string, string>
  measure(bench: Bench): Promise<Row[]>
}

/** What a figure is given to measure with. */
export interface Bench {
  server: BenchServer
  /** How often everything is repeated. */
  runs: number
  isQuick: boolean
  /** How long a page is watched for its memory. */
  minutes: number
  /** Of the sizes of `growth`. */
  share: number
  /** The axes of `growth`; undefined for all. */
  axes: readonly string[] | undefined
  /** Where `growth` draws; undefined for the default folder. */
  plots: string | undefined
  /**
   * Measures a peer beside us: null where peers are left out, and where this one cannot be measured, which the table says, and which costs us
   * nothing of what we have measured of ourselves. In a quick run there is time only for those whom a goal is held against.
   */
  peer<T>(name: string, measure: () => Promise<T>, options?: { holdsGoal: boolean }): Promise<T | null>
  /** A size that depends on whether there is time. */
  size(full: number, quick: number): number
  log(line: string): void
  /** A folder for this run: logs of the processes, workspaces. Removed at the end. */
  folder: string
  /** Where processes leave their CPU profiles; undefined when none are wanted. */
  profileFolder: string | undefined
}

/** One line of the table. */
export interface Row {
  label: string
  unit: string
  /** One value a run. */
  ours: number[]
  /** The same of others, by their names, on the same PostgreSQL. */
  peers: Record<string, number[]>
  better: 'lower' | 'higher'
  goal: Goal | null
  /** Anything else that a reader of the JSON may want to know. */
  details?: Record<string, unknown>
}

export interface Goal {
  text: string
  isMet(ours: number, peers: Record<string, number>): boolean
}

export function atMost(limit: number, unit = ''): Goal {
  return { text: `≤ ${limit}${unit === '' ? '' : ` ${unit}`}`, isMet: (ours) => ours <= limit }
}

export function atLeast(limit: number, unit = ''): Goal {
  return { text: `≥ ${limit}${unit === '' ? '' : ` ${unit}`}`, isMet: (ours) => ours >= limit }
}

/** At least `factor` times what a peer made in the same run. */
export function timesPeer(factor: number, peer: string): Goal {
  return { text: `≥ ${factor} × ${peer}`, isMet: (ours, peers) => ours >= factor * (peers[peer] ?? Number.NaN) }
}

/** At most `factor` times what a peer took in the same run. */
export function withinPeer(factor: number, peer: string): Goal {
  return { text: `≤ ${factor} × ${peer}`, isMet: (ours, peers) => ours <= factor * (peers[peer] ?? Number.NaN) }
}

export function all(...goals: Goal[]): Goal {
  return { text: goals.map((goal) => goal.text).join(', '), isMet: (ours, peers) => goals.every((goal) => goal.isMet(ours, peers)) }
}

/** A row with what the table says of it, as files keep it: the values of all runs beside their medians. */
export interface JudgedRow extends Omit<Row, 'goal'> {
  goal: string | null
  /** A ratio above 1 says that ours is better. */
  medians: { ours: number; peers: Record<string, number>; ratios: Record<string, number>; met: boolean | null }
}

/** @param isFullSize goals are promises about full sizes: `met` is null at others */
export function judge(row: Row, isFullSize: boolean): JudgedRow {
  const ours = median(row.ours)
  const peers = Object.fromEntries(Object.entries(row.peers).map(([name, values]) => [name, median(values)]))
  const ratios = Object.fromEntries(Object.entries(peers).map(([name, value]) => [name, row.better === 'lower' ? value / ours : ours / value]))
  const met = row.goal === null || !isFullSize ? null : row.goal.isMet(ours, peers)
  return { ...row, goal: row.goal?.text ?? null, medians: { ours, peers, ratios, met } }
}

/** How many, as a label says it: 5,000. */
export function countText(count: number): string {
  return count.toLocaleString('en-US')
}

/** Collects rows over several runs: the same label again is another run of the same row. */
export class Rows {
  readonly #rows = new Map<string, Row>()

  add(row: Omit<Row, 'ours' | 'peers'>, contender: string | null, value: number): void {
    const known = this.#rows.get(row.label) ?? { ...row, ours: [], peers: {} }
    this.#rows.set(row.label, known)
    if (contender === null) known.ours.push(value)
    else known.peers[contender] = [...(known.peers[contender] ?? []), value]
  }

  list(): Row[] {
    return [...this.#rows.values()]
  }
}

import type postgres from 'postgres'
import type { ClockMoves } from '../clock.ts'
import type { Findings } from '../findings.ts'
import type { Ledger } from '../ledger.ts'
import type { Follower } from '../load/followers.ts'
import type { System } from '../system.ts'

/** What the checks after a run look at. */
export interface Evidence {
  system: System
  admin: postgres.Sql
  ledger: Ledger
  followers: readonly Follower[]
  findings: Findings
  clock: ClockMoves
}

/** Looks at a promise with a query that answers the rows that break it, and one that counts what was looked at. */
export async function checkRows(
  { findings }: Evidence,
  promise: string,
  lookedAt: postgres.PendingQuery<postgres.Row[]>,
  broken: postgres.PendingQuery<postgres.Row[]>,
): Promise<void> {
  const [counted] = await lookedAt
  const rows = await broken
  findings.none(
    promise,
    Number(counted?.count ?? 0),
    rows.map((row) => JSON.stringify(row)),
  )
}

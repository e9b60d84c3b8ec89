import type { Database, Tx } from '@muster/db'
import { type Db, PgBoss } from 'pg-boss'

/** What pg-boss needs of a connection. Statements with parameters are prepared; those without may hold several statements. */
interface Connection {
  unsafe(text: string, parameters?: never[], options?: { prepare?: boolean }): Promise<unknown>
}

function overConnection(connection: Connection): Db {
  return {
    async executeSql(text, values) {
      const hasValues = values !== undefined && values.length > 0
      const result = await (hasValues ? connection.unsafe(text, values as never[], { prepare: true }) : connection.unsafe(text))
      // Several statements answer with a list of results; pg-boss wants the rows of all of them.
      const rows = result as unknown[]
      return { rows: rows.some(Array.isArray) ? rows.flat() : rows }
    },
  }
}

/** Lets pg-boss work inside a transaction of ours, so that jobs and rows commit together or not at all. */
export function insideTransaction(tx: Tx): { db: Db } {
  return { db: overConnection(tx.sql as unknown as Connection) }
}

export interface BossOptions {
  /** Whether this process also does pg-boss's housekeeping: deleting finished jobs, watching its queues. */
  supervise: boolean
  onWarning: (warning: { message: string; data?: unknown }) => void
  onError: (error: Error) => void
}

/** pg-boss over one of our pools; it opens no connections of its own. */
export function createBoss(database: Database, options: BossOptions): PgBoss {
  const boss = new PgBoss({
    db: overConnection(database.sql as unknown as Connection),
    migrate: false,
    createSchema: false,
    schedule: false,
    supervise: options.supervise,
    superviseIntervalSeconds: 30,
    maintenanceIntervalSeconds: 60,
    // Ours is the only long-lived backlog, and it is meant to be long.
    warningQueueSize: 1_000_000,
  })
  boss.on('error', options.onError)
  boss.on('warning', options.onWarning)
  return boss
}

import type { Database, Tx } from '@muster/db'
import { type Db, PgBoss } from 'pg-boss'

/** pg-boss over a pool. Its maintenance sends several statements with their own BEGIN and COMMIT, and needs a reserved connection for them. */
export function overPool({ sql }: Pick<Database, 'sql'>): Db {
  return {
    async executeSql(text, values) {
      if (values !== undefined && values.length > 0) return { rows: await sql.unsafe(text, values as never[], { prepare: true }) }
      const connection = await sql.reserve()
      try {
        return { rows: allRows(await connection.unsafe(text)) }
      } catch (error) {
        // A statement that fails after BEGIN leaves its transaction open for the next user of the connection. A lost connection has none.
        await connection.unsafe('rollback').catch(() => {})
        throw error
      } finally {
        connection.release()
      }
    },
  }
}

/** Lets pg-boss work inside a transaction of ours, so that jobs and rows commit together or not at all. */
export function insideTransaction(tx: Tx): { db: Db } {
  return {
    db: {
      async executeSql(text, values) {
        return { rows: allRows(await tx.sql.unsafe(text, values as never[], { prepare: true })) }
      },
    },
  }
}

/** Several statements return a list of results; pg-boss expects the rows of all. */
function allRows(result: unknown[]): unknown[] {
  return result.some(Array.isArray) ? result.flat() : result
}

/** pg-boss, as processes hold it. */
export type Boss = PgBoss

export interface BossOptions {
  /** Whether this process also runs pg-boss's maintenance: deleting finished jobs, watching its queues. */
  supervise: boolean
  onWarning: (warning: { message: string; data?: unknown }) => void
  onError: (error: Error) => void
}

/** pg-boss over one of our pools; it opens no connections of its own. */
export function createBoss(database: Database, options: BossOptions): PgBoss {
  const boss = new PgBoss({
    db: overPool(database),
    migrate: false,
    createSchema: false,
    schedule: false,
    supervise: options.supervise,
    superviseIntervalSeconds: 30,
    maintenanceIntervalSeconds: 60,
    // A long backlog is normal here.
    warningQueueSize: 1_000_000,
  })
  boss.on('error', options.onError)
  boss.on('warning', options.onWarning)
  return boss
}

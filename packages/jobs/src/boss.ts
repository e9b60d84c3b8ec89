import type { Database, Tx } from '@muster/db'
import { type Db, PgBoss } from 'pg-boss'

/** pg-boss over a pool. Its maintenance sends several statements with their own BEGIN and COMMIT, which needs a reserved connection. */
function overPool({ sql }: Database): Db {
  return {
    async executeSql(text, values) {
      if (values !== undefined && values.length > 0) return { rows: await sql.unsafe(text, values as never[], { prepare: true }) }
      const connection = await sql.reserve()
      try {
        return { rows: allRows(await connection.unsafe(text)) }
      } catch (error) {
        // A statement that failed after BEGIN leaves its transaction open, and the next user of the connection in it. A connection that is lost has none.
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

/** Several statements answer with a list of results; pg-boss wants the rows of all of them. */
function allRows(result: unknown[]): unknown[] {
  return result.some(Array.isArray) ? result.flat() : result
}

/** pg-boss, as the processes hold it. */
export type Boss = PgBoss

export interface BossOptions {
  /** Whether this process also does pg-boss's maintenance: deleting finished jobs, watching its queues. */
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
    // Ours is the only long-lived backlog, and it is meant to be long.
    warningQueueSize: 1_000_000,
  })
  boss.on('error', options.onError)
  boss.on('warning', options.onWarning)
  return boss
}

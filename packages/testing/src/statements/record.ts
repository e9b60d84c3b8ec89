import { connect, type Database, type DatabaseRole } from '@muster/db'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import type { Ctx } from '@muster/usecases'
import type { Harness } from '../harness.ts'

/** A statement that a process has sent, as one of its roles. */
export interface Statement {
  text: string
  parameters: unknown[]
  role: DatabaseRole
}

/** What tests read of a plan. */
export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  'Actual Rows'?: number
  'Rows Removed by Filter'?: number
  'Shared Hit Blocks'?: number
  Plans?: PlanNode[]
}

/** An answer of `explain (format json)`. */
export type Explained = { 'QUERY PLAN': { Plan: PlanNode }[] }

export interface Recording {
  /** The caller of an open server. What it does is recorded. */
  ctx: Ctx
  /** Every statement so far, once for each role. */
  all(): Statement[]
  /** Those that read or change rows, without the driver's query of types. */
  ofRows(): Statement[]
  close(): Promise<void>
}

// Calls of functions, and the driver's query of types.
const NO_ROWS = /^\s*select (pg_notify|set_config)|advisory|pg_catalog/

/** Opens pools like those of a process that record their statements. Close it before the harness. */
export function recordStatements(harness: Harness): Recording {
  const statements = new Map<string, Statement>()
  const noting = (role: DatabaseRole): Database => {
    const pool = connect(harness.database.appUrl, { role, connectionsMax: 5, applicationName: 'test' })
    const options = pool.sql.options as { debug: unknown }
    options.debug = (_connection: number, text: string, parameters: unknown[]) => {
      const key = `${role} ${text.replaceAll(/\s+/g, ' ')}`
      if (!statements.has(key)) statements.set(key, { text, parameters, role })
    }
    return pool
  }
  const [db, dispatchDb] = [noting('muster_app'), noting('muster_dispatch')]
  const all = () => [...statements.values()]
  return {
    ctx: { ...harness.ctx, db, dispatchDb },
    all,
    ofRows: () => all().filter(({ text }) => /^\s*(select|insert|update|delete|with)\b/i.test(text) && !NO_ROWS.test(text)),
    close: async () => void (await Promise.all([db.close(), dispatchDb.close()])),
  }
}

/** The plan of a statement in the default project: for its parameters, or, as `isGeneric`, for any. */
export async function planOf({ deps }: Harness, { text, parameters, role }: Statement, isGeneric = false): Promise<PlanNode> {
  const { sql } = role === 'muster_app' ? deps.db : deps.dispatchDb
  let plan: PlanNode | undefined
  await sql
    .begin(async (tx) => {
      await tx`select set_config('muster.project_id', ${DEFAULT_PROJECT_ID}, true)`
      const [row] = isGeneric
        ? await tx.unsafe<Explained[]>(`explain (generic_plan, format json) ${text}`)
        : await tx.unsafe<Explained[]>(`explain (format json) ${text}`, parameters as never[])
      plan = row?.['QUERY PLAN'][0]?.Plan
      throw new Error('explained')
    })
    .catch((error: Error) => {
      if (error.message !== 'explained') throw new Error(`${error.message}: ${text}`)
    })
  return plan as PlanNode
}

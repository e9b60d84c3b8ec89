import { desc, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Tx } from '../../client.ts'

/** A column, and the value that a list keeps to. */
export type Filter = readonly [PgColumn, string]

/** Those of some filters that were asked for, in their order. */
export function given(filters: readonly (readonly [PgColumn, string | undefined])[]): Filter[] {
  return filters.flatMap(([column, value]) => (value === undefined || value === '' ? [] : [[column, value] as const]))
}

/**
 * A list along an index: the columns that lead in it, with their values, before the id. Said as a range of rows and ordered by, they leave the
 * planner no other index: for an equality it would take the primary key, which has the ids in order as well, and read the whole table backwards in
 * search of what is rare. Without columns it is simply newest first.
 */
export function along(columns: readonly Filter[], id: PgColumn, beforeId: string | undefined): { where: SQL[]; orderBy: SQL[] } {
  const names = columns.map(([column]) => sql`${column}`)
  const values = columns.map(([, value]) => sql`${value}`)
  const row = (parts: SQL[]) => sql`(${sql.join(parts, sql`, `)})`
  const before = beforeId === undefined ? [] : [sql`${row([...names, sql`${id}`])} < ${row([...values, sql`${beforeId}`])}`]
  const range = columns.length === 0 ? [] : [sql`${row(names)} >= ${row(values)}`, ...(beforeId === undefined ? [sql`${row(names)} <= ${row(values)}`] : [])]
  return { where: [...range, ...before], orderBy: [...columns.map(([column]) => desc(column)), desc(id)] }
}

/** Lets the statements that follow in this transaction be planned for the values that they come with: what is rare is not read like what is common. */
export async function planForValues(tx: Tx): Promise<void> {
  await tx.orm.execute(sql`set local plan_cache_mode = force_custom_plan`)
}

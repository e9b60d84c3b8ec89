// SQL: `planForValues` is first in a pipeline. Drizzle would send it after the SQL that follows.
import { desc, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Tx } from '../../client.ts'

/** A column, and the value that a list is limited to. */
export type Filter = readonly [PgColumn, string]

/** The filters that have a value, in their order. */
export function given(filters: readonly (readonly [PgColumn, string | undefined])[]): Filter[] {
  return filters.flatMap(([column, value]) => (value === undefined || value === '' ? [] : [[column, value] as const]))
}

/**
 * A list along an index: its leading columns with their values, then the id. As a range of rows, and in the order, they leave the planner no other
 * index. For an equality it would take the primary key, which has the ids in order as well, and read the whole table backwards in search of a rare
 * value. Without columns, the list is newest first.
 */
export function along(columns: readonly Filter[], id: PgColumn, beforeId: string | undefined): { where: SQL[]; orderBy: SQL[] } {
  const names = columns.map(([column]) => sql`${column}`)
  const values = columns.map(([column, value]) => sql`${sql.param(value, column)}`)
  const row = (parts: SQL[]) => sql`(${sql.join(parts, sql`, `)})`
  const before = beforeId === undefined ? [] : [sql`${row([...names, sql`${id}`])} < ${row([...values, sql`${beforeId}`])}`]
  const range = columns.length === 0 ? [] : [sql`${row(names)} >= ${row(values)}`, ...(beforeId === undefined ? [sql`${row(names)} <= ${row(values)}`] : [])]
  return { where: [...range, ...before], orderBy: [...columns.map(([column]) => desc(column)), desc(id)] }
}

/** Whether a column has one of some values. One parameter for all, where `inArray` would make another statement for each number of them. */
export function anyOf(column: PgColumn, values: readonly string[]): SQL {
  return sql`${column} = any(${sql.param(values)})`
}

/**
 * Plans the later statements of this transaction for their values, because a rare value has to be read another way than a frequent one, and because a
 * plan for all values locks every partition of a table.
 */
export async function planForValues(tx: Tx): Promise<void> {
  await tx.sql`set local plan_cache_mode = force_custom_plan`
}

import { sql } from 'drizzle-orm'
import { customType, timestamp, uuid } from 'drizzle-orm/pg-core'

/** The project of the row: first column of every table, and of every index that a request uses. */
export const projectId = () => uuid().notNull()

/** A point in time with milliseconds, as the API shows it. */
export const instant = (name = '') => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

/** Filled by the database's own clock, which tests can move. */
export const instantNow = () => instant().notNull().default(sql`muster_now()`)

export const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' })

/** Statuses are text with CHECK, never enums: enum comparison is not leakproof, so row-level security would keep its index unused. */
export const oneOf = (column: string, values: readonly string[]) => sql.raw(`${column} in (${values.map((value) => `'${value}'`).join(', ')})`)

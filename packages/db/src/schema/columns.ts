import { sql } from 'drizzle-orm'
import { customType, timestamp, uuid } from 'drizzle-orm/pg-core'

/** The tenant of the row: first column of every table and of every index that a request uses. */
export const projectId = () => uuid().notNull()

/** A point in time with milliseconds, as the API shows it. */
export const instant = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' })

/** Filled by the database's own clock, which tests can move. */
export const instantNow = () => instant().notNull().default(sql`muster_now()`)

export const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' })

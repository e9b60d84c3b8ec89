import type { ProjectSettings } from '@muster/domain'
import { bigint, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow } from './columns.ts'

/** The tenants. Every other table has their ids as `project_id`. */
export const projects = pgTable('projects', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  settings: jsonb().$type<ProjectSettings>().notNull().default({}),
  /** Grows with every change of a guide, under this row's lock. Processes keep guides in memory until it changes. */
  tsgRevision: bigint({ mode: 'number' }).notNull().default(0),
  /** The end of the last day that `spent_totals` contains; null if it contains none. */
  spentThrough: instant(),
  createdAt: instantNow(),
})

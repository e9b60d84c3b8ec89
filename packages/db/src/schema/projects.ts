import type { ProjectSettings } from '@muster/domain'
import { bigint, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow } from './columns.ts'

/** The tenants. Its `id` is what every other table calls `project_id`. */
export const projects = pgTable('projects', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  settings: jsonb().$type<ProjectSettings>().notNull().default({}),
  /** Grows with every change of a guide, under this row's lock: processes keep guides ready for as long as it stays the same. */
  tsgRevision: bigint({ mode: 'number' }).notNull().default(0),
  createdAt: instantNow(),
})

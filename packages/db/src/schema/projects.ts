import type { ProjectSettings } from '@muster/domain'
import { jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow } from './columns.ts'

/** The tenants. Its `id` is what every other table calls `project_id`. */
export const projects = pgTable('projects', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  settings: jsonb().$type<ProjectSettings>().notNull().default({}),
  createdAt: instantNow(),
})

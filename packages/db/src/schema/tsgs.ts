import { TSG_MATCHES, TSG_SEVERITIES, type TsgMatch, type TsgSeverity } from '@muster/domain'
import { check, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instantNow, oneOf, projectId } from './columns.ts'

/** Troubleshooting guides. */
export const tsgs = pgTable(
  'tsgs',
  {
    projectId: projectId(),
    tsgId: text().notNull(),
    title: text().notNull(),
    content: text().notNull(),
    patterns: text().array().notNull(),
    match: text().$type<TsgMatch>().notNull().default('substring'),
    technologies: text().array().notNull().default([]),
    severity: text().$type<TsgSeverity>().notNull().default('medium'),
    createdAt: instantNow(),
    updatedAt: instantNow(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.tsgId] }),
    check('tsgs_match', oneOf('match', TSG_MATCHES)),
    check('tsgs_severity', oneOf('severity', TSG_SEVERITIES)),
    index('tsgs_by_creation').on(table.projectId, table.createdAt, table.tsgId),
  ],
)

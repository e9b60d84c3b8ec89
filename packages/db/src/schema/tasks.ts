import {
  type BriefWarning,
  type Criterion,
  type Priority,
  REVIEW_MODES,
  type RequiredOutput,
  type ReviewMode,
  TASK_STATUSES,
  type TaskContext,
  type TaskStatus,
} from '@muster/domain'
import { sql } from 'drizzle-orm'
import { bigint, check, customType, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, oneOf, projectId } from './columns.ts'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })

/** As versions before the one scale store them, which run beside this one during an update. */
const STORED = { urgent: 'P0', high: 'P1', normal: 'P2', low: 'P3' } as const satisfies Record<Priority, string>
const READ = new Map<string, Priority>(Object.entries(STORED).map(([priority, stored]) => [stored, priority as Priority]))

/** The column has the former names: no row has to be rewritten, and processes of either version read what the other writes. */
const storedPriority = customType<{ data: Priority; driverData: string }>({
  dataType: () => 'text',
  toDriver: (priority) => STORED[priority],
  fromDriver: (stored) => READ.get(stored) as Priority,
})

/** Structured work with criteria, outputs and a revision number. Every change locks the row. */
export const tasks = pgTable(
  'tasks',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    title: text().notNull(),
    instructions: text().notNull(),
    description: text(),
    status: text().$type<TaskStatus>().notNull(),
    revision: integer().notNull().default(1),
    priority: storedPriority().notNull().default(sql`'P2'`),
    criteria: jsonb().$type<Criterion[]>().notNull().default([]),
    requiredOutputs: jsonb().$type<RequiredOutput[]>().notNull().default([]),
    context: jsonb().$type<TaskContext>(),
    warnings: jsonb().$type<BriefWarning[]>().notNull().default([]),
    completionOutputs: jsonb().$type<Record<string, unknown>>(),
    summary: text(),
    parentSessionId: text(),
    /** The session that holds it: that of its newest assignment. */
    subagentSessionId: text(),
    /** The subtask that runs it, or ran it last. */
    subtaskId: uuid(),
    review: text().$type<ReviewMode>().notNull().default('none'),
    /** What all of its subtasks, with their revision rounds, and its judgements may use; null for any amount. */
    budgetMaxTokens: bigint({ mode: 'number' }),
    budgetMaxCostMicros: bigint({ mode: 'number' }),
    clientCwd: text(),
    workspace: text(),
    metadata: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    lastError: text(),
    /** The next steps of the newest check-in that has any. */
    nextSteps: text().array().notNull().default(sql`'{}'`),
    /** Number of the last update. The next one gets its number under this row's lock. */
    updateSeq: integer().notNull().default(0),
    createdAt: instantNow(),
    updatedAt: instantNow(),
    completedAt: instant(),
    // Only the beginning, so that any text fits into a tsvector.
    search: tsvector().generatedAlwaysAs(sql`to_tsvector('simple', title || ' ' || left(coalesce(description, ''), 1000) || ' ' || left(instructions, 20000))`),
  },
  (table) => [
    check('tasks_status', oneOf('status', TASK_STATUSES)),
    check('tasks_priority', oneOf('priority', Object.values(STORED))),
    check('tasks_review', oneOf('review', REVIEW_MODES)),
    check('tasks_terminal', sql`(status in ('completed', 'failed', 'cancelled')) = (completed_at is not null)`),
    index('tasks_by_id').on(table.projectId, table.id),
    index('tasks_by_status').on(table.projectId, table.status, table.id),
    index('tasks_by_priority').on(table.projectId, table.priority, table.id),
    index('tasks_by_parent').on(table.projectId, table.parentSessionId, table.id).where(sql`parent_session_id is not null`),
    index('tasks_by_holder').on(table.projectId, table.subagentSessionId, table.id).where(sql`subagent_session_id is not null`),
    index('tasks_search').using('gin', table.search),
  ],
)

import { bigint, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, projectId } from './columns.ts'

/** One claim of a subtask by one worker. Checkpoints add usage, so that a crashed attempt is billed as well. */
export const attempts = pgTable(
  'attempts',
  {
    projectId: projectId(),
    subtaskId: uuid().notNull(),
    attempt: integer().notNull(),
    workerId: text().notNull(),
    startedAt: instantNow(),
    endedAt: instant(),
    /** Time from the last sign of life of a lost worker to `ended_at`; before that the attempt ran. */
    lostMs: bigint({ mode: 'number' }).notNull().default(0),
    outcome: text(),
    error: text(),
    /** The model that the runner used, the last one of several; null if it names none. */
    model: text(),
    inputTokens: bigint({ mode: 'number' }).notNull().default(0),
    /** Of the input tokens, as far as they are known. */
    cachedInputTokens: bigint({ mode: 'number' }).notNull().default(0),
    outputTokens: bigint({ mode: 'number' }).notNull().default(0),
    costMicros: bigint({ mode: 'number' }).notNull().default(0),
    toolCalls: integer().notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.subtaskId, table.attempt] })],
)

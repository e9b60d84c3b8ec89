import type { EvaluationRef, Subtask } from '@muster/domain'
import { getTableColumns } from 'drizzle-orm'
import { CasingCache } from 'drizzle-orm/casing'
import { subtasks } from '../../schema/subtasks.ts'

/**
 * The codec of a subtask's row. The statements that insert, claim, settle, copy and read rows take their lists of columns from here, and the types
 * of the columns come from the schema.
 *
 * To add a column, write the schema with its migration, and add the column to
 * - `REQUESTED` if a request sets it: `NewSubtaskRow` then demands it, and revision rounds copy it unless `NOT_COPIED` names it;
 * - `STATE` if Muster sets it and `Subtask` shows it;
 * - `INTERNAL` with the reason if no reader of a subtask sees it.
 *
 * Add it to `CLAIMED` if a run needs it, to `ENDING` if the end of a run is decided by it, and to `ENDED` if that sets it. The remaining places use
 * its value. A test fails while a column is in none of the first three lists.
 */
export type SubtaskRow = typeof subtasks.$inferSelect
type Key = keyof SubtaskRow

/** What a request sets, besides the id. */
export const REQUESTED = [
  'agentId',
  'parentSessionId',
  'task',
  'taskId',
  'taskRevision',
  'scheduleId',
  'subagentName',
  'subagentVersion',
  'resumeOf',
  'background',
  'priority',
  'runner',
  'model',
  'timeoutSeconds',
  'maxAttempts',
  'budgetMaxSteps',
  'budgetMaxTokens',
  'budgetMaxCostMicros',
  'notify',
  'requiredOutputs',
  'metadata',
  'traceparent',
  'maxRevisions',
] as const satisfies readonly Key[]

/** What a revision round does not take from the round before it: it starts at the newest revision, comes of no slot, resumes nothing, and may share a budget. */
const NOT_COPIED: readonly Key[] = ['taskRevision', 'scheduleId', 'resumeOf', 'budgetMaxTokens', 'budgetMaxCostMicros']
export const COPIED = REQUESTED.filter((key) => !NOT_COPIED.includes(key))

/** What Muster sets and shows. */
const STATE = [
  'id',
  'projectId',
  'status',
  'attempt',
  'failures',
  'workerId',
  'cancelRequestedAt',
  'stepSeq',
  'finalOutcome',
  'result',
  'resultBodyId',
  'resultTruncated',
  'summary',
  'error',
  'outputs',
  'inputTokens',
  'outputTokens',
  'costMicros',
  'toolCalls',
  'revisionOf',
  'revisionRound',
  'createdAt',
  'startedAt',
  'completedAt',
  'lostMs',
  'waitingFor',
  'waitedMs',
] as const satisfies readonly Key[]

export const SHOWN = [...STATE, ...REQUESTED] as const

/** What no reader of a subtask sees, and why. */
export const INTERNAL = {
  rankAt: 'the order of the queue',
  hasPermit: 'the permit, which moves between the rows of a lane',
  permitAt: 'the age of the permit, for the repair of idle ones',
  jobId: 'the queue has its own name for each attempt',
  feedback: 'part of the prompt of the next attempt',
  leaseExpiresAt: 'only the holder of the lease sees it',
  leaseRenewedAt: 'as leaseExpiresAt',
  leaseSeconds: 'as leaseExpiresAt',
  attemptStartedAt: 'the attempt has it',
  leaseTokenHash: 'a secret',
  credentialHash: 'a secret',
  updateSeq: 'the updates have it',
  waitingSince: 'the attempt before the wait has it, as its end',
  continuationBodyId: 'for the runner alone',
} as const satisfies Partial<Record<Key, string>>

/** What both the start and the end of a run take. */
const RUNNING = [
  'id',
  'agentId',
  'parentSessionId',
  'task',
  'taskId',
  'taskRevision',
  'subagentName',
  'subagentVersion',
  'runner',
  'jobId',
  'attempt',
  'timeoutSeconds',
  'requiredOutputs',
  'updateSeq',
  'continuationBodyId',
] as const satisfies readonly Key[]

/** What running a claimed subtask takes. Amounts and steps are those of earlier attempts. */
export const CLAIMED = [
  ...RUNNING,
  'projectId',
  'resumeOf',
  'revisionOf',
  'background',
  'model',
  'budgetMaxSteps',
  'budgetMaxTokens',
  'budgetMaxCostMicros',
  'inputTokens',
  'outputTokens',
  'costMicros',
  'stepSeq',
  'metadata',
  'traceparent',
  'createdAt',
  'feedback',
  'leaseExpiresAt',
] as const satisfies readonly Key[]

/** What the end of a run is decided by. */
export const ENDING = [
  ...RUNNING,
  'scheduleId',
  'priority',
  'failures',
  'maxAttempts',
  'revisionRound',
  'maxRevisions',
  'workerId',
  'notify',
  'budgetMaxTokens',
  'budgetMaxCostMicros',
  'inputTokens',
  'outputTokens',
  'costMicros',
] as const satisfies readonly Key[]

/** What the end of a subtask sets. */
export const ENDED = [
  'status',
  'finalOutcome',
  'result',
  'resultBodyId',
  'resultTruncated',
  'summary',
  'error',
  'outputs',
  'failures',
] as const satisfies readonly Key[]
/** What the return of a subtask to its queue sets. */
export const RETURNED = ['failures', 'feedback', 'jobId', 'continuationBodyId'] as const satisfies readonly Key[]
/** What a wait for an answer sets. */
export const WAITING = ['waitingFor', 'continuationBodyId'] as const satisfies readonly Key[]
/** What the end of an attempt adds to the rows of the subtask and of the attempt. */
export const USED = ['inputTokens', 'outputTokens', 'costMicros', 'toolCalls'] as const satisfies readonly Key[]
/** What the holder of an attempt has: its end clears all of it. */
export const HELD = ['leaseExpiresAt', 'leaseRenewedAt', 'leaseTokenHash', 'credentialHash'] as const satisfies readonly Key[]

const COLUMNS = getTableColumns(subtasks)
const casing = new CasingCache('snake_case')
const NAMES = Object.fromEntries(Object.entries(COLUMNS).map(([key, column]) => [key, casing.getColumnCasing(column)])) as Record<Key, string>
const list = (keys: readonly Key[], part: (name: string, key: Key) => string) => keys.map((key) => part(NAMES[key], key)).join(', ')

/** `s.agent_id, s.task` */
export const names = (keys: readonly Key[], table?: string) => list(keys, (name) => (table === undefined ? name : `${table}.${name}`))
/** `agent_id text, task text`: what `jsonb_to_recordset` makes of records of `toRecord`. */
export const types = (keys: readonly Key[]) => list(keys, (name, key) => `${name} ${COLUMNS[key].getSQLType()}`)
/** `s.agent_id as "agentId"` */
export const read = (keys: readonly Key[], table: string) => list(keys, (name, key) => `${table}.${name} as "${key}"`)
/** `status = e.status` */
export const assigned = (keys: readonly Key[], from: string) => list(keys, (name) => `${name} = ${from}.${name}`)
/** `tool_calls = s.tool_calls + e.tool_calls` */
export const added = (keys: readonly Key[], to: string, from: string) => list(keys, (name) => `${name} = ${to}.${name} + ${from}.${name}`)
/** `feedback = null` */
export const cleared = (keys: readonly Key[]) => list(keys, (name) => `${name} = null`)

/** Columns by their names, for JSON that a statement takes apart. */
export function toRecord<K extends Key>(keys: readonly K[], row: Readonly<Pick<SubtaskRow, K>>): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [NAMES[key], row[key]]))
}

/** Columns as the driver answers them: instants are texts. */
export type AsText<Row> = { [K in keyof Row]: Row[K] extends Date | null ? string | Exclude<Row[K], Date> : Row[K] }

const INSTANTS = (Object.keys(COLUMNS) as Key[]).filter((key) => COLUMNS[key].dataType === 'date')

/** Gives the instants of a row that was just read their type, in place. */
export function fromText<Row>(row: AsText<Row>): Row {
  const fields = row as Record<string, unknown>
  for (const key of INSTANTS) if (typeof fields[key] === 'string') fields[key] = new Date(fields[key])
  return row as Row
}

/** The columns of a subtask that is shown, with the latest evaluation of its result, and `xmin` where it was asked for. */
export type ShownRow = Pick<SubtaskRow, (typeof SHOWN)[number]> & { evaluation: EvaluationRef | null; rowVersion?: string }

/** The columns that `Subtask` has as parts of others, or not at all. */
const NESTED = {
  rowVersion: undefined,
  resultBodyId: undefined,
  budgetMaxSteps: undefined,
  budgetMaxTokens: undefined,
  budgetMaxCostMicros: undefined,
  inputTokens: undefined,
  outputTokens: undefined,
  costMicros: undefined,
  stepSeq: undefined,
  toolCalls: undefined,
}

/** A row as the domain has it. To set columns to undefined takes 1 µs a row, to remove them 7 µs, which a long list would notice. */
export function toSubtask(row: ShownRow): Subtask {
  const { inputTokens, outputTokens, costMicros, stepSeq, toolCalls } = row
  return {
    ...row,
    ...NESTED,
    budget: { maxSteps: row.budgetMaxSteps, maxTokens: row.budgetMaxTokens, maxCostUsdMicros: row.budgetMaxCostMicros },
    usage: { inputTokens, outputTokens, costUsdMicros: costMicros, steps: stepSeq, toolCalls },
  }
}

export type NewSubtaskRow = Pick<SubtaskRow, 'id' | 'projectId' | (typeof REQUESTED)[number]> & {
  /** The job that the row gets if its lane has a free permit. */
  jobId: string
  /** Not stored: only the answer that accepts the subtask has it. */
  runnerReason?: string
  /** Not stored, either. */
  warnings?: string[]
}

const INITIAL = Object.fromEntries(STATE.map((key) => [key, COLUMNS[key].default ?? null])) as Pick<SubtaskRow, (typeof STATE)[number]>

/** The subtask of a row that was just inserted: what `findSubtask` would read. */
export function toNewSubtask({ jobId: _, ...row }: NewSubtaskRow, createdAt: Date): Subtask {
  return toSubtask({ ...INITIAL, ...row, createdAt, evaluation: null })
}

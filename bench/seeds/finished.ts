import { DEFAULT_PROJECT_ID } from '@muster/domain'
import type postgres from 'postgres'
import { copyRows, type Field, uuidAt } from './copy.ts'

const COLUMNS = [
  ...['project_id', 'id', 'agent_id', 'parent_session_id', 'task', 'priority', 'runner', 'timeout_seconds', 'max_attempts'],
  ...['budget_max_steps', 'notify', 'rank_at', 'status', 'attempt', 'worker_id', 'final_outcome', 'result'],
  ...['created_at', 'started_at', 'attempt_started_at', 'completed_at'],
]
const RESULT = 'All 42 files were read. Three of them name the function, none calls it any more; it can be removed without a trace.'
const MONTH_MS = 30 * 86_400_000

/**
 * Puts subtasks there that ended within the last month, with their attempts. Answers some of their ids.
 *
 * @param resultOf the result of each, by its number
 */
export async function seedFinished(sql: postgres.Sql, count: number, agents: number, resultOf: (number: number) => string = () => RESULT): Promise<string[]> {
  const startMs = Date.now() - MONTH_MS
  const ids: string[] = []
  const kept = Math.max(1, Math.floor(count / 1_000))
  // Both tables are copied from the same ids, a part at a time, so that a million of them need not be held.
  const PART = 100_000
  for (let first = 0; first < count; first += PART) {
    const part = Array.from({ length: Math.min(PART, count - first) }, (_, place) => {
      const atMs = startMs + ((first + place) * MONTH_MS) / count
      return { id: uuidAt(atMs), at: new Date(atMs), ended: new Date(atMs + 2_000), number: first + place }
    })
    for (const { id, number } of part) if (number % kept === 0) ids.push(id)
    await copyRows(
      sql,
      'public.subtasks',
      COLUMNS,
      part.map(({ id, at, ended, number }): Field[] => [
        ...[DEFAULT_PROJECT_ID, id, `agent-${number % agents}`, `session-agent-${number % agents}`, `Look at part ${number}.`, 'normal', 'noop', 120, 2],
        ...[50, true, at, number % 20 === 0 ? 'failed' : 'completed', 1, 'seeded', number % 20 === 0 ? 'errored' : 'completed', resultOf(number)],
        ...[at, at, at, ended],
      ]),
    )
    await copyRows(
      sql,
      'public.attempts',
      ['project_id', 'subtask_id', 'attempt', 'worker_id', 'started_at', 'ended_at', 'outcome'],
      part.map(({ id, at, ended, number }): Field[] => [DEFAULT_PROJECT_ID, id, 1, 'seeded', at, ended, number % 20 === 0 ? 'errored' : 'completed']),
    )
  }
  return ids
}

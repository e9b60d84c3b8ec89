import { DEFAULT_PROJECT_ID } from '@muster/domain'
import type postgres from 'postgres'

/** Of ten tasks one is in progress, and the others are completed. */
const TASKS_PER_OPEN = 10
/** Tasks in progress that a session holds, beside those that it has completed. */
const OPEN_PER_SESSION = 2
const UPDATES_PER_TASK = 5
const MONTH_MS = 30 * 86_400_000
const HOUR_MS = 3_600_000

/** Sessions that know everything of what they hold. */
export interface SeededBriefs {
  sessions: number
  sessionId(session: number): string
  /** A task in progress that it holds. */
  taskId(session: number): string
  /** The newest update of that task. */
  updateId(session: number): string
}

/**
 * Puts tasks of the last month there, each with five updates that were delivered, and sessions of sub-agents of Claude Code that hold them. The
 * server makes the rows itself: five million need not pass through this process.
 */
export async function seedBriefs(sql: postgres.Sql, count: number): Promise<SeededBriefs> {
  const startMs = Date.now() - MONTH_MS
  const stepMs = Math.floor(MONTH_MS / count)
  const sessions = Math.floor(count / TASKS_PER_OPEN / OPEN_PER_SESSION)
  // What a row is follows from its number. Ids are UUIDv7 of their moments, so that they lie in their indexes as if made then.
  const numbered = sql`
    (select n, to_timestamp(ms / 1000.0) as at, (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid as id,
      n % ${TASKS_PER_OPEN} = ${TASKS_PER_OPEN - 1} as is_open, 'holder-' || n / ${TASKS_PER_OPEN} % ${sessions} || ':sub' as session_id, ms
    from (select n, ${startMs}::bigint + n * ${stepMs}::bigint as ms from generate_series(0, ${count - 1}) as n) as moments) as t`
  await sql`
    insert into tasks (project_id, id, title, instructions, status, criteria, parent_session_id, subagent_session_id, update_seq, created_at, updated_at, completed_at)
    select ${DEFAULT_PROJECT_ID}::uuid, id, 'Look at part ' || n, 'Read all files of part ' || n || ', and say which of them name the function and which call it.',
      case when is_open then 'in_progress' else 'completed' end,
      jsonb_build_array(jsonb_build_object('id', id, 'text', 'Every file was read', 'source', 'acceptance', 'required', true, 'state', 'open')),
      'controller-' || n % 1000, session_id, ${UPDATES_PER_TASK}, at, at, case when not is_open then at + interval '6 hours' end
    from ${numbered}`
  await sql`
    insert into assignments (project_id, task_id, session_id, assigned_at, introduced_at, delivered_seq, delivered_revision, has_news, ended_at)
    select ${DEFAULT_PROJECT_ID}::uuid, id, session_id, at, at, ${UPDATES_PER_TASK}, 1, false, case when not is_open then at + interval '6 hours' end
    from ${numbered}`
  // One round after the other: updates of a task are not neighbours on the disk, since they were not made at once.
  for (let seq = 1; seq <= UPDATES_PER_TASK; seq += 1) {
    await sql`
      insert into updates (project_id, id, task_id, seq, update_type, content, revision, sender_kind, sender_id, status, delivered_to, created_at, delivered_at)
      select ${DEFAULT_PROJECT_ID}::uuid, (lpad(to_hex(ms + ${seq * HOUR_MS}), 12, '0') || '70008' || lpad(${String(seq)}, 3, '0') || lpad(to_hex(n), 12, '0'))::uuid,
        id, ${seq}, 'note', 'The files in legacy/ of part ' || n || ' are known to call it; leave them out.', 1, 'key', 'seeded', 'delivered', session_id,
        at + ${seq} * interval '1 hour', at + ${seq} * interval '1 hour'
      from ${numbered}`
  }
  await sql`vacuum (analyze) tasks, assignments, updates`
  await sql`checkpoint`
  const idOf = (n: number, seq = 0) => {
    const time = (startMs + n * stepMs + seq * HOUR_MS).toString(16).padStart(12, '0')
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8${String(seq).padStart(3, '0')}-${n.toString(16).padStart(12, '0')}`
  }
  const openOf = (session: number) => session * TASKS_PER_OPEN + TASKS_PER_OPEN - 1
  return {
    sessions,
    sessionId: (session) => `holder-${session}:sub`,
    taskId: (session) => idOf(openOf(session)),
    updateId: (session) => idOf(openOf(session), UPDATES_PER_TASK),
  }
}

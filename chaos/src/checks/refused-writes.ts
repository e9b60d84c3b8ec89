import { DATABASE_TEXT } from '../client.ts'
import { checkRows, type Evidence } from './check.ts'

/** Ends that a program which never fails of its own can come to: its worker was lost or stopped, or it was cancelled. */
const OUTCOMES = ['completed', 'lost', 'worker_lost', 'released', 'cancelled']

/** What the database could not store for a while did not fail for that, and no error mentions it. */
export async function checkRefusedWrites(evidence: Evidence): Promise<void> {
  const { admin, findings } = evidence
  const stored = await admin<{ place: string; error: string }[]>`
    select 'subtask ' || id as place, error from subtasks where error is not null
    union all select 'attempt ' || subtask_id || '#' || attempt, error from attempts where error is not null
    union all select 'task ' || id, last_error from tasks where last_error is not null`
  findings.none(
    'no stored error carries text of the database',
    stored.length,
    stored.filter(({ error }) => DATABASE_TEXT.test(error)).map(({ place, error }) => `${place}: ${error.slice(0, 200)}`),
  )
  await checkRows(
    evidence,
    // A change of a brief may ask for outputs that its run did not know of.
    'a program that always succeeds and runs no brief has no attempt that failed, whatever the database refused meanwhile',
    admin`select count(*) from attempts a join subtasks s on s.id = a.subtask_id where s.runner = 'quick' and s.task_id is null`,
    admin`
      select a.subtask_id, a.attempt, a.outcome, a.error from attempts a join subtasks s on s.id = a.subtask_id
      where s.runner = 'quick' and s.task_id is null and a.outcome <> all(${OUTCOMES})`,
  )
}

// SQL: reads tables of `muster_system`, which triggers write.
import type { Tx } from '../../client.ts'

/** The row of a whole project among those of its runs. */
const WHOLE_PROJECT = '00000000-0000-0000-0000-000000000000'

/** What is stored and how much may be, in bytes; null where the project sets no limit. */
export interface StoredBytes {
  project: number
  run: number
  /** Changes of all projects that are not added up yet: as many rows were read. */
  waiting: number
  projectLimit: number | null
  runLimit: number | null
}

/**
 * The bytes of the project of the transaction, and of one of its runs: those that are committed at this moment. What is not added up yet is read once for all sums, whichever transaction wrote it: an index
 * on it would make each write dearer than the reads are, as long as few changes wait.
 */
export async function readStoredBytes({ sql }: Pick<Tx, 'sql'>, projectId: string, runId: string | null): Promise<StoredBytes> {
  const added = (id: string) => sql`(select s.bytes from muster_system.stored_bytes s where s.project_id = ${projectId} and s.run_id = ${id}::uuid)`
  // What is deleted may have been counted as slightly longer than what was added.
  const [row] = await sql<StoredBytes[]>`
    select greatest(0, coalesce(${added(WHOLE_PROJECT)}, 0) + c.project)::bigint as project,
      ${runId === null ? sql`0::bigint` : sql`greatest(0, coalesce(${added(runId)}, 0) + c.run)::bigint`} as run, c.waiting,
      (p.settings -> 'limits' ->> 'stored_bytes')::bigint as "projectLimit", (p.settings -> 'limits' ->> 'run_stored_bytes')::bigint as "runLimit"
    from projects p, (
      select coalesce(sum(bytes) filter (where project_id = ${projectId}), 0) as project,
        coalesce(sum(bytes) filter (where project_id = ${projectId} and run_id = ${runId}::uuid), 0) as run, count(*) as waiting
      from muster_system.byte_changes
    ) as c
    where p.id = ${projectId}`
  return row ?? { project: 0, run: 0, waiting: 0, projectLimit: null, runLimit: null }
}

/** The runs that have stored most, as far as it is added up: of those that have not ended, and of those that ended a short time ago. */
export async function largestRuns({ sql }: Pick<Tx, 'sql'>, projectId: string, most: number): Promise<{ id: string; bytes: number }[]> {
  return await sql<{ id: string; bytes: number }[]>`
    select s.run_id as id, s.bytes from muster_system.stored_bytes s where s.project_id = ${projectId} and s.run_id <> ${WHOLE_PROJECT}::uuid
    order by s.bytes desc, s.run_id limit ${most}`
}

/** What the transaction writes from here on counts for a run as well. */
export async function countForRun({ sql }: Pick<Tx, 'sql'>, runId: string): Promise<void> {
  await sql`select set_config('muster.run_id', ${runId}, true)`
}

/** Adds up what has changed. */
export async function addUpBytes({ sql }: Pick<Tx, 'sql'>): Promise<void> {
  await sql`select muster_add_up_bytes()`
}

/** Removes what runs have stored that have ended, unless changes are being added up: both lock many of the same rows, in no order. */
export async function forgetEndedRuns({ sql }: Pick<Tx, 'sql'>): Promise<void> {
  // The lock of muster_add_up_bytes.
  await sql`select muster_forget_ended_runs() from (select pg_try_advisory_xact_lock(7300, 4) as is_free) as l where l.is_free`
}

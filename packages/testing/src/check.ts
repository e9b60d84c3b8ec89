import type postgres from 'postgres'

export interface InvariantOptions {
  /** The server's own running limit (`SUBTASK_MAX_CONCURRENT`), for lanes whose project sets none. */
  runningPerAgent?: number
  /**
   * Whether limits were raised or lowered after work was accepted. Lowering one stops no run, so slots above it are no fault
   * then, and how many should be granted at the moment cannot be known.
   */
  limitsHaveChanged?: boolean
  /**
   * Whether work goes on meanwhile. A claim that has fetched a job whose row is being cancelled, or loses its slot, removes that
   * job itself; a slot that becomes free passes by a row that is just being cancelled. Both can be seen for a moment.
   */
  whileBusy?: boolean
}

export interface Check {
  /** What must hold, in words. */
  claim: string
  /** Rows that break it, each as a text that names it. */
  find: (sql: postgres.Sql, options: Required<InvariantOptions>) => Promise<{ broken: string }[]>
}

/** The log and what is on its way into it, in the order in which readers see it. */
export const announced = (sql: postgres.Sql, kind: 'subtask' | 'task' | 'schedule' | 'evaluation' = 'subtask') => sql`
  select subject_id, type, row_number() over (partition by subject_id order by is_waiting, place, place_in_batch) as nth, count(*) over (partition by subject_id) as total
  from (
    select subject_id, type, false as is_waiting, seq as place, 1 as place_in_batch from events where subject_kind = ${kind} and type like ${`${kind}.%`}
    union all
    select subject_id, type, true, id, place from muster_system.waiting_events where subject_kind = ${kind} and type like ${`${kind}.%`}
  ) as announcement`

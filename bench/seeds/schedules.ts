import { DEFAULT_PROJECT_ID } from '@muster/domain'
import type postgres from 'postgres'

export interface ScheduleSeed {
  count: number
  /** Agents that take turns. */
  agents: number
  /** When the first one is due, in milliseconds since 1970, and how long after it each next one. */
  firstAtMs: number
  everyMs: number
}

/** Puts one-shot schedules there as creating them would have. The server makes the rows itself: a million need not pass through this process. */
export async function seedSchedules(sql: postgres.Sql, { count, agents, firstAtMs, everyMs }: ScheduleSeed): Promise<void> {
  await sql`
    insert into schedules (project_id, id, agent_id, task, phrase_kind, phrase, canonical, reading, timezone, timing, anchor_at, next_fire_at,
      overlap, missed, grace_seconds, notify, timeout_seconds, priority, runner, budget_max_steps)
    select ${DEFAULT_PROJECT_ID}::uuid, gen_random_uuid(), 'agent-' || n % ${agents}, 'Do nothing, and say so.', 'when', iso, iso, 'Once, at ' || iso, 'UTC',
      jsonb_build_object('kind', 'once', 'at', iso), now(), at, 'skip', 'run_once', 60, true, 120, 'normal', 'noop', 50
    from (
      select n, at, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as iso
      from (select n, to_timestamp((${firstAtMs}::bigint + n::bigint * ${everyMs}::bigint) / 1000.0) as at from generate_series(0, ${count - 1}) as n) as moments
    ) as due`
}

// SQL: the comparison and the new number are one statement, so that workers of one folder can count at once.

import type { Tx } from '../client.ts'

/** A restore that no operator has looked at. */
export interface NoticedRestore {
  noticedAt: Date
  /** The last moment of which the database knows. */
  lostSince: Date
}

/** What a data folder keeps of its count. */
export interface FolderNote {
  id: string
  beat: number
}

/** A place in the count of a data folder: a database that has not come as far was restored to an earlier time. */
export interface FolderPlace extends FolderNote {
  place: string
}

/** Whether the database has come as far as a folder, as a condition. A look at one row, which does not depend on the rows of the statement. */
export function hasComeAsFar(sql: Tx['sql'], { place, id, beat }: FolderPlace): ReturnType<Tx['sql']> {
  return sql`exists (select from muster_system.data_folders f where f.place = ${place}::uuid and f.id = ${id}::uuid and f.beat >= ${beat}::bigint)`
}

/** Whether the database has come as far as a folder. */
export async function isAsFar({ sql }: Pick<Tx, 'sql'>, reached: FolderPlace): Promise<boolean> {
  const [row] = await sql<{ is_as_far: boolean }[]>`select ${hasComeAsFar(sql, reached)} as is_as_far`
  return row?.is_as_far === true
}

/** Counts one further for a data folder, and notes a restore if the database has not come as far in the same count as the folder. */
export async function beat({ sql }: Pick<Tx, 'sql'>, place: string, noted: FolderNote | null): Promise<FolderNote> {
  const [row] = await sql<FolderNote[]>`
    insert into muster_system.data_folders as f (place, beat) values (${place}, 1)
    on conflict (place) do update set (beat, beaten_at, restore_noticed_at, lost_since) = (
      select greatest(f.beat, seen.beat) + 1,
        muster_now(),
        case when f.beat < seen.beat then muster_now() else f.restore_noticed_at end,
        case when f.beat < seen.beat then least(f.lost_since, f.beaten_at) else f.lost_since end
      from (select case when f.id = ${noted?.id ?? null}::uuid then ${noted?.beat ?? 0}::int else 0 end as beat) as seen)
    returning id, beat::int`
  if (row === undefined) throw new Error('the heartbeat of a data folder returned no row')
  return { id: row.id, beat: row.beat }
}

/** The earliest of the restores that no operator has looked at, or null. */
export async function findNoticedRestore({ sql }: Pick<Tx, 'sql'>): Promise<NoticedRestore | null> {
  const [row] = await sql<{ noticed_at: string; lost_since: string }[]>`
    select restore_noticed_at as noticed_at, lost_since from muster_system.data_folders
    where restore_noticed_at is not null order by lost_since limit 1`
  return row === undefined ? null : { noticedAt: new Date(row.noticed_at), lostSince: new Date(row.lost_since) }
}

/** What follows runs, and has not ended. */
export interface PendingFollowUps {
  checks: number
  judgements: number
  deliveries: number
}

/** Counts checks, judgements and deliveries that have not ended. */
export async function countPendingFollowUps({ sql }: Pick<Tx, 'sql'>, projectId: string): Promise<PendingFollowUps> {
  const [row] = await sql<[PendingFollowUps]>`
    select
      (select count(*)::int from check_runs where project_id = ${projectId} and status in ('pending', 'running')) as checks,
      (select count(*)::int from judgements where project_id = ${projectId} and status = 'pending') as judgements,
      (select count(*)::int from deliveries where project_id = ${projectId} and status in ('pending', 'sending')) as deliveries`
  return row
}

/** An operator has looked at all of them. Returns how many there were. */
export async function acknowledgeRestores({ sql }: Pick<Tx, 'sql'>): Promise<number> {
  const { count } = await sql`update muster_system.data_folders set restore_noticed_at = null, lost_since = null where restore_noticed_at is not null`
  return count
}

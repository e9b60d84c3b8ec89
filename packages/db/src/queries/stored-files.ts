// SQL: the turn of a look is one statement, and what the tables take up are functions of PostgreSQL.
import type { Tx } from '../client.ts'

/** Files, or texts of the database that are stored beside their rows, and the bytes that they take up. */
export interface FileSize {
  files: number
  bytes: number
}

/** Of all data folders. */
export interface StoredFiles {
  kind: string
  kept: FileSize
  /** From the beginning. */
  swept: FileSize
}

/** In place of a data folder. */
const DATABASE = '00000000-0000-0000-0000-000000000000'
const BODIES = 'bodies'

/** Takes the turn of looking at one kind of folder in a data folder. False if another process has begun less than `everyMs` ago. */
export async function beginSweep({ sql }: Pick<Tx, 'sql'>, place: string, kind: string, everyMs: number): Promise<boolean> {
  const rows = await sql`
    insert into muster_system.stored_files as s (place, kind) values (${place}, ${kind})
    on conflict (place, kind) do update set begun_at = muster_now() where s.begun_at <= muster_now() - ${everyMs} * interval '1 millisecond'
    returning true`
  return rows.length > 0
}

/** Notes what a complete look has found and removed. */
export async function noteSweep({ sql }: Pick<Tx, 'sql'>, place: string, kind: string, kept: FileSize, swept: FileSize): Promise<void> {
  await sql`
    update muster_system.stored_files set measured_at = muster_now(), files = ${kept.files}, bytes = ${kept.bytes},
      swept_files = swept_files + ${swept.files}, swept_bytes = swept_bytes + ${swept.bytes}
    where place = ${place} and kind = ${kind}`
}

/** Adds to the count of bodies that retention has dropped. */
export async function addSweptBodies({ sql }: Pick<Tx, 'sql'>, { files, bytes }: FileSize): Promise<void> {
  await sql`
    insert into muster_system.stored_files as s (place, kind, swept_files, swept_bytes) values (${DATABASE}, ${BODIES}, ${files}, ${bytes})
    on conflict (place, kind) do update set swept_files = s.swept_files + excluded.swept_files, swept_bytes = s.swept_bytes + excluded.swept_bytes`
}

/** What all data folders keep, without those at which no process has looked for a day, and bodies, whose number is that of the planner's statistics. */
export async function readStoredFiles({ sql }: Pick<Tx, 'sql'>): Promise<StoredFiles[]> {
  const rows = await sql<{ kind: string; files: number; bytes: number; swept_files: number; swept_bytes: number }[]>`
    select kind, coalesce(sum(files) filter (where measured_at > muster_now() - interval '1 day'), 0)::bigint as files,
      coalesce(sum(bytes) filter (where measured_at > muster_now() - interval '1 day'), 0)::bigint as bytes,
      sum(swept_files)::bigint as swept_files, sum(swept_bytes)::bigint as swept_bytes
    from muster_system.stored_files where kind <> ${BODIES} group by kind
    union all
    select ${BODIES}, greatest(c.reltuples, 0)::bigint, pg_table_size(c.oid), coalesce(s.swept_files, 0), coalesce(s.swept_bytes, 0)
    from pg_class c left join muster_system.stored_files s on s.place = ${DATABASE} and s.kind = ${BODIES} where c.oid = 'public.bodies'::regclass`
  return rows.map((row) => ({ kind: row.kind, kept: { files: row.files, bytes: row.bytes }, swept: { files: row.swept_files, bytes: row.swept_bytes } }))
}

import type { Archive, ArchivedRow } from '@muster/domain'
import type postgres from 'postgres'
import { open } from './open.ts'

const ROWS_AT_ONCE = 500

/** What an import did. */
export interface ImportReport {
  files: number
  /** Rows of each table that were not there. */
  inserted: Record<string, number>
  /** Rows that were there already. */
  present: number
  /** The projects that the archive has rows of. */
  projectIds: string[]
}

/**
 * Inserts the rows of an archive that are missing, in a database of this version. What is there stays as it is, so an import may be repeated. Makes the
 * partitions that rows of the log and of transcripts need.
 *
 * @param adminUrl a login that owns the tables, to the database itself
 * @throws Error if a file is damaged, or of a table that there is not
 */
export async function importArchive(adminUrl: string, archive: Archive, log: (message: string) => void = () => {}): Promise<ImportReport> {
  const sql = open(adminUrl, { max: 1, connection: { application_name: 'muster-import' } })
  const report: Omit<ImportReport, 'projectIds'> = { files: 0, inserted: {}, present: 0 }
  const projectIds = new Set<string>()
  try {
    const columns = await columnsByTable(sql)
    for await (const entry of archive.entries()) {
      const byTable = Map.groupBy(await archive.read(entry), ({ table }) => table)
      for (const [table, rows] of byTable) {
        const names = columns.get(table)
        if (names === undefined) throw new Error(`${entry.name} has rows of ${table}, and this version has no such table.`)
        for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
          const batch = rows.slice(at, at + ROWS_AT_ONCE)
          const inserted = await insertRows(sql, table, names, batch)
          for (const { line } of batch) projectIds.add(projectOf(table, line))
          report.inserted[table] = (report.inserted[table] ?? 0) + inserted
          report.present += batch.length - inserted
        }
      }
      report.files += 1
      log(`${entry.name}: ${entry.rows} rows`)
    }
    await sql`select setval('muster_system.event_seq', greatest((select last_value from muster_system.event_seq), (select coalesce(max(seq), 1) from events)))`
    return { ...report, projectIds: [...projectIds] }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** The columns that a row may name, of each table with projects: not those that the database computes. */
async function columnsByTable(sql: postgres.Sql): Promise<Map<string, string[]>> {
  const rows = await sql<{ name: string; columns: string[] }[]>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition group by 1`
  return new Map(rows.map(({ name, columns }) => [name, columns]))
}

/** The project that a row belongs to; a project belongs to itself. */
function projectOf(table: string, line: string): string {
  const row = JSON.parse(line) as { id: string; project_id: string }
  return table === 'projects' ? row.id : row.project_id
}

async function insertRows(sql: postgres.Sql, table: string, columns: readonly string[], rows: readonly ArchivedRow[]): Promise<number> {
  const list = `[${rows.map(({ line }) => line).join(',')}]`
  return await sql.begin(async (transaction) => {
    if (table === 'events') await makePartitions(transaction as unknown as postgres.Sql, list, 'seq')
    if (table === 'steps') await makePartitions(transaction as unknown as postgres.Sql, list, 'at')
    const names = transaction(columns as string[])
    const result = await transaction`
      insert into ${transaction(table)} (${names}) select ${names} from jsonb_populate_recordset(null::${transaction(table)}, ${list}::text::jsonb) on conflict do nothing`
    return result.count
  })
}

/** Ranges of half a million places of the log, or of a day, without what other partitions have of them. */
async function makePartitions(sql: postgres.Sql, list: string, key: 'seq' | 'at'): Promise<void> {
  const [parent, size] = key === 'seq' ? ['events', 500_000] : ['steps', 86_400]
  const keyOf = key === 'seq' ? sql`(r ->> 'seq')::bigint` : sql`floor(extract(epoch from (r ->> 'at')::timestamptz))::bigint`
  await sql`
    select muster_system.add_partition(${parent}, ${`${parent}_import_`} || gap.from_key, gap.from_key, gap.to_key)
    from (
      select distinct greatest(k / ${size} * ${size}, (select coalesce(max(p.to_key), 0) from muster_system.partitions p where p.parent = ${parent} and p.to_key <= k)) as from_key,
        least(k / ${size} * ${size} + ${size}, (select coalesce(min(p.from_key), 9223372036854775807) from muster_system.partitions p where p.parent = ${parent} and p.from_key > k)) as to_key
      from (select ${keyOf} as k from jsonb_array_elements(${list}::text::jsonb) as r) as keys
      where not exists (select from muster_system.partitions p where p.parent = ${parent} and p.from_key <= k and p.to_key > k)
    ) as gap`
}

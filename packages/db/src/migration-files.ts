import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const MIGRATIONS = fileURLToPath(new URL('../../../drizzle/', import.meta.url))

/** The schema, and the parts of it that drizzle-kit does not know. They replace the migrations of earlier versions. */
export const SQUASHED_MIGRATIONS = ['0000_schema', '0001_security_and_functions'] as const

/**
 * The migrations of earlier versions, oldest first. A database that was taken over keeps their names, because running processes of an earlier version look
 * for them. A later migration must not reuse a name.
 */
export const REPLACED_MIGRATIONS: readonly string[] = `
  0000_foundation 0001_main_job 0002_security 0003_lease_length 0004_briefs 0005_briefs_security 0006_check_ins 0007_check_ins_security 0008_tsgs
  0009_tsgs_search 0010_fewer_indexes 0011_statistics 0012_dispatch_sees_assignments 0013_statistics_of_all 0014_schedules 0015_schedules_security 0016_relay
  0017_lists_at_scale 0018_subagents 0019_subagents_security 0020_subagent_runs 0021_evaluations 0022_evaluations_security 0023_memory 0024_next_steps
  0025_turns_of_assignments 0026_time_lost_to_outages 0027_inbox_of_tasks 0028_sender_names 0029_write_checks 0030_parts_of_names
  0031_memory_renewal_beside_the_log
`
  .trim()
  .split(/\s+/)

/** A database can be taken over if it has this migration. `drizzle/takeover` has the SQL of the replaced migrations after it. */
export const TAKEOVER_FROM = '0025_turns_of_assignments'

/** Names of the migrations of this version, in the order in which they apply. */
export async function knownMigrations(): Promise<string[]> {
  const journal = JSON.parse(await readFile(`${MIGRATIONS}meta/_journal.json`, 'utf8')) as { entries: { tag: string }[] }
  return journal.entries.map((entry) => entry.tag)
}

/** The SQL of one migration. */
export function migrationText(name: string): Promise<string> {
  return readFile(`${MIGRATIONS}${REPLACED_MIGRATIONS.includes(name) ? 'takeover/' : ''}${name}.sql`, 'utf8')
}

import { readFile } from 'node:fs/promises'
import type { Harness } from '@muster/testing'
import { planOf, type Recording, recordEverything } from '@muster/testing/statements'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let harness: Harness
let recording: Recording

beforeAll(async () => {
  // Some rows, because a few statements are sent only where there is something to read.
  ;({ harness, recording } = await recordEverything(400))
}, 180_000)

afterAll(async () => {
  await recording.close()
  await harness.close()
})

/**
 * Statements that do not name the project, each with its reason: what would have to change before the tables are distributed by `project_id`. Everything else
 * names it, or is confined to one project by row-level security. docs/sharding.md goes by this list.
 */
const ACROSS_PROJECTS: readonly [statement: RegExp, reason: string][] = [
  [/\bpgboss\./, 'the queue of pg-boss is one for all projects: a table of one node'],
  [/"?projects"? /, 'projects are found by their id, which is the key itself'],
  [
    /muster_find_(api_key|subtask_credential|assignment_credential)/,
    'a credential is looked up by its hash before its project is known: a reference table, or a hash that begins with the project',
  ],
  [/muster_(relay|log_ends)\b/, 'the outbox and the order of the event log are one for all projects'],
  [
    /muster_(forget_ended_runs|delete_audit|add_up_bytes)\b|delete from (idempotency_keys|muster_system\.)/,
    'maintenance deletes what is old, of all projects in turn',
  ],
  [/^\s*with own as materialized/, 'the heartbeat of a worker renews the leases of all its runs, of several projects'],
  [/^\s*select id, attempt, status = 'running' as is_running/, 'a worker looks at all its runs at once, of several projects'],
  [/update check_runs/, 'a worker holds and returns checks of several projects'],
  [/muster_search_(tasks|tsgs)\b/, 'a function reads the project from its session, as row-level security does'],
  [/muster_(spawn|end)_alone\b/, 'a function that is given the project, and uses the queue of pg-boss'],
  [/muster_system\.data_folders\b/, 'a restore is of the whole database, and holds the runs of all projects'],
  [/^\s*select muster_now\(\)/, 'it reads no table'],
]

describe('under a distribution by project_id', () => {
  it('every statement names the project, is confined to one by row-level security, or is listed with its reason', async () => {
    const used = new Set<RegExp>()
    const unexplained: string[] = []
    for (const statement of recording.ofRows()) {
      const { text, role } = statement
      if (text.includes('project_id')) continue
      const found = ACROSS_PROJECTS.find(([pattern]) => pattern.test(text))
      if (found !== undefined) used.add(found[0])
      // The policy of each table adds the condition, and the plan shows it.
      else if (role !== 'muster_app' || !JSON.stringify(await planOf(harness, statement)).includes('project_id'))
        unexplained.push(`${role}: ${text.replaceAll(/\s+/g, ' ').slice(0, 300)}`)
    }
    expect(unexplained).toEqual([])
    expect(ACROSS_PROJECTS.flatMap(([pattern]) => (used.has(pattern) ? [] : String(pattern)))).toEqual([])
  })

  it('the keys that would have to begin with the project are those that docs/sharding.md names', async () => {
    const rows = await harness.admin<{ name: string }[]>`
      select distinct c.relname as name from pg_index i
      join pg_class c on c.oid = i.indrelid
      join pg_attribute key on key.attrelid = c.oid and key.attname = 'project_id'
      where i.indisunique and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace and not key.attnum = any(i.indkey)
      order by 1`
    const text = await readFile(new URL('../../../docs/sharding.md', import.meta.url), 'utf8')
    const named = /\*\*Keys without the project\*\*: (.+?)\.\n/
      .exec(text)?.[1]
      ?.match(/`\w+`/g)
      ?.map((name) => name.slice(1, -1))
    expect(named).toEqual(rows.map(({ name }) => name))
  })

  it('the tables to distribute are those that docs/sharding.md names', async () => {
    const rows = await harness.admin<{ name: string }[]>`
      select c.relname as name from pg_class c join pg_attribute key on key.attrelid = c.oid and key.attname = 'project_id'
      where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace order by 1`
    const text = await readFile(new URL('../../../docs/sharding.md', import.meta.url), 'utf8')
    const named = /\*\*By `project_id`\*\*: (.+?)\.\n/
      .exec(text)?.[1]
      ?.match(/`\w+`/g)
      ?.map((name) => name.slice(1, -1))
    expect(named).toEqual(rows.map(({ name }) => name))
  })
})

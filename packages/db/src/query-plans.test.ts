import type { Harness } from '@muster/testing'
import { type PlanNode, planOf, type Recording, recordEverything, STORED_ROWS, type Statement } from '@muster/testing/statements'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let harness: Harness
let recording: Recording

/** Every statement, with enough rows that its plan is meaningful. */
beforeAll(async () => {
  ;({ harness, recording } = await recordEverything(STORED_ROWS))
}, 180_000)

afterAll(async () => {
  await recording.close()
  await harness.close()
})

/** Tables that a plan reads from end to end. */
function scanned(node: PlanNode): string[] {
  const own = node['Node Type'] === 'Seq Scan' && node['Relation Name'] !== undefined ? [node['Relation Name']] : []
  return [...own, ...(node.Plans ?? []).flatMap(scanned)]
}

/** Indexes of a plan that are not read by their first columns, with the condition. Of its index, such a read goes through all that the project has. */
function skipped(node: PlanNode, columnsOf: ReadonlyMap<string, readonly string[]>): string[] {
  const condition = node['Index Cond'] ?? ''
  const isGiven = (columnsOf.get(node['Index Name'] ?? '') ?? []).map((column) => new RegExp(`[(.]${column} (=|<|>|IS)`).test(condition))
  const own = isGiven.indexOf(false) < isGiven.lastIndexOf(true) && isGiven.includes(false) ? [`${node['Index Name']} by ${condition}`] : []
  return [...own, ...(node.Plans ?? []).flatMap((each) => skipped(each, columnsOf))]
}

/**
 * Indexes of a plan that are read for all that a project has, or for everything, unless a limit ends that. Where rows of a list of ids are wanted, the plan
 * reads these and throws the others away.
 */
function readWhole(node: PlanNode, columnsOf: ReadonlyMap<string, readonly string[]>): string[] {
  if (node['Node Type'] === 'Limit') return []
  const [name, condition] = [node['Index Name'] ?? '', node['Index Cond'] ?? '']
  const given = columnsOf.get(name)?.filter((column) => new RegExp(`[(.]${column} (=|<|>|IS)`).test(condition))
  const own = given !== undefined && (given.length === 0 || given.join() === 'project_id') ? [`${name} by ${condition}`] : []
  return [...own, ...(node.Plans ?? []).flatMap((each) => readWhole(each, columnsOf))]
}

/** Statistics of a project, which read all that they count. */
const COUNTS = [/^select "status", count\(\*\) from "tasks"/, /^\s*with counted as materialized \(\s*select e\.id, e\.score/]

/** Tables that are always small or empty, so that reading them whole is right. */
const SMALL = new Set(['byte_changes', 'clock', 'workers', 'projects', 'outbox', 'queue', 'pg_database', 'pg_roles'])

/** Deletions of a large part of a table may read it whole. */
const judged = (): Statement[] => recording.ofRows().filter(({ text }) => !text.includes('delete from idempotency_keys'))

describe('every statement', () => {
  it('finds its rows by an index, however much has been stored', async () => {
    const asked = judged()
    expect(asked.length).toBeGreaterThan(50)
    // Partitions that were created in advance, for example.
    const unused = await harness.admin<{ name: string }[]>`select relname as name from pg_class where relkind = 'r' and reltuples = 0`
    const empty = new Set(unused.map(({ name }) => name))
    const slow: string[] = []
    for (const statement of asked) {
      const tables = scanned(await planOf(harness, statement)).filter((table) => !SMALL.has(table) && !empty.has(table))
      if (tables.length > 0) slow.push(`${tables.join(', ')} for ${statement.text.replaceAll(/\s+/g, ' ').slice(0, 1200)}`)
    }
    expect(slow).toEqual([])
  })
})

describe('every statement of a project among thousands', () => {
  it('reads indexes by their first columns, and not all that its project has in one', async () => {
    const indexes = await harness.admin<{ name: string; columns: string[] }[]>`
      select c.relname as name, array(select pg_get_indexdef(i.indexrelid, k, true) from generate_series(1, i.indnkeyatts) as k) as columns
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am am on am.oid = c.relam
      -- One that is nearly empty may be read as it is, and so may the guides and the keys of a project, which are few.
      where am.amname = 'btree' and c.reltuples > ${STORED_ROWS / 10} and i.indrelid not in ('tsgs'::regclass, 'api_keys'::regclass) and c.relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace)`
    const columnsOf = new Map(indexes.map(({ name, columns }) => [name, columns]))
    const asked = judged()
    const slow: string[] = []
    for (const statement of asked) {
      // Lists that find the ids of a page first are planned for their values; all others are planned once.
      const plan = await planOf(harness, statement, !statement.text.includes('= any(array('))
      const found = [...skipped(plan, columnsOf), ...(COUNTS.some((text) => text.test(statement.text)) ? [] : readWhole(plan, columnsOf))]
      if (found.length > 0) slow.push(`${found.join(', ')} for ${statement.text.replaceAll(/\s+/g, ' ').slice(0, 1200)}`)
    }
    expect(slow).toEqual([])
  })
})

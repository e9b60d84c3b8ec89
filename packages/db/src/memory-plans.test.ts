import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { type Harness, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory, type Tx, transaction } from './index.ts'

const ROWS = 30_000
const OTHERS = '00000000-0000-7000-9000-000000000001'

let harness: Harness

/** Memories of two projects, with one frequent and one rare word. */
beforeAll(async () => {
  harness = await startHarness()
  const { admin } = harness
  await admin`
    insert into episode_words (project_id, subtask_id, agent_id, search)
    select case when n % 3 = 0 then ${OTHERS}::uuid else ${DEFAULT_PROJECT_ID}::uuid end, gen_random_uuid(), 'agent-' || n % 40,
      to_tsvector('simple', 'everywhere ' || n || case when n % 5000 in (1, 2, 3) then ' seldom' else '' end || repeat(' filling', 40))
    from generate_series(1, ${ROWS}) as n`
  await admin`
    insert into facts (project_id, id, content, tags, author_kind, author_id)
    select case when n % 3 = 0 then ${OTHERS}::uuid else ${DEFAULT_PROJECT_ID}::uuid end, gen_random_uuid(),
      'everywhere ' || n || case when n % 5000 in (1, 2, 3) then ' seldom' else '' end, '{}', 'key', 'k'
    from generate_series(1, ${ROWS}) as n`
  await admin`vacuum analyze`
})
afterAll(() => harness.close())

/** What a search as muster_app finds, and how many rows of the two tables it reads, by any plan. */
async function search(wanted: string, words: string[] = []) {
  return await transaction(harness.deps.db, DEFAULT_PROJECT_ID, async (tx) => {
    const before = await rowsRead(tx)
    const found = await memory.searchMemory(tx, { wanted, words, without: '', kind: null, agentId: null, limit: 20 })
    return { found: found.map(({ id }) => id), read: (await rowsRead(tx)) - before }
  })
}

/** By this transaction, so far. */
async function rowsRead(tx: Tx): Promise<number> {
  // For a table this counts full and bitmap reads, for an index the entries that were read.
  const [row] = await tx.sql<{ read: number }[]>`
    select sum(pg_stat_get_xact_tuples_fetched(oid) + case relkind when 'r' then pg_stat_get_xact_tuples_returned(oid) else 0 end) as read
    from pg_class where relname ~ '^(facts|episode_words)'`
  return Number(row?.read)
}

describe('a search of memory, as muster_app', () => {
  it('reads by the index of words what few have, and no more than they are', async () => {
    const { found, read } = await search('seldom')
    expect(found).toHaveLength(20)
    // Rows of both projects, because the full-text index does not contain the project.
    expect(read).toBeGreaterThanOrEqual(20)
    expect(read).toBeLessThanOrEqual(36)
  })

  it('reads the newest alone of what every one has', async () => {
    const { found, read } = await search('everywhere')
    expect(found).toHaveLength(20)
    expect(read).toBeGreaterThanOrEqual(2_000)
    expect(read).toBeLessThanOrEqual(2_100)
  })

  it('reads by the index of words a name of which one part is rare', async () => {
    const { found, read } = await search('"everywhere 5002"')
    expect(found).toHaveLength(2)
    expect(read).toBeLessThanOrEqual(4)
  })

  it('looks at no more than a few of each common word of a question', async () => {
    const { found, read } = await search('everywhere filling seldom missing', ['everywhere', 'filling', 'seldom', 'missing'])
    const having = await harness.admin<{ id: string }[]>`
      select id from facts where content like '%seldom%' union all select subtask_id from episode_words where search @@ 'seldom'`
    expect(found).toHaveLength(20)
    expect(having.map(({ id }) => id)).toEqual(expect.arrayContaining(found))
    expect(read).toBeLessThanOrEqual(1_000)
  })
})

import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { type Harness, startHarness } from '@muster/testing'
import { storeGuides, storeTasks } from '@muster/testing/statements'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
  await storeTasks(harness.admin, 5_000)
  await storeGuides(harness.admin)
  await harness.admin`vacuum analyze`
})

afterAll(() => harness.close())

describe('a search for guides', () => {
  it('finds words by their index', async () => {
    const literals: Record<string, string> = {
      wanted: `'known'`,
      of_technology: 'null::text',
      of_severity: 'null::text',
      before_at: 'null::timestamptz',
      before_id: `''`,
      most: '20',
    }
    const [search] = await harness.admin<{ body: string }[]>`select prosrc as body from pg_proc where proname = 'muster_search_tsgs'`
    const text = search?.body.replaceAll(/\b\w+\b/g, (word) => literals[word] ?? word) as string
    const plan = await harness.admin.begin(async (sql) => {
      await sql`select set_config('muster.project_id', ${DEFAULT_PROJECT_ID}, true)`
      return await sql.unsafe(`explain (format json) ${text}`)
    })
    expect(JSON.stringify(plan)).toContain('"Index Name":"tsgs_search"')
  })
})

import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { type Harness, startHarness } from '@muster/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { deliveries, sending, type Tx, transaction } from './index.ts'

const ROWS = 100_000
const OTHERS = '00000000-0000-7000-9000-000000000001'
/** Receivers that take nothing now: one hangs with all that may be sent to it at once, another is left alone after failures. */
const [HANGING, PAUSED] = ['00000000-0000-7000-a000-000000000001', '00000000-0000-7000-a000-000000000002']

let harness: Harness

/** A log of two projects, of which a tenth is open: most of it waits for two receivers that cannot take it now. */
beforeAll(async () => {
  harness = await startHarness()
  const { admin } = harness
  await admin`
    insert into receivers (project_id, id, kind, destination_id, url, events)
    select ${DEFAULT_PROJECT_ID}, id, 'webhook', id, 'https://example.com', '{*}'
    from (select ('00000000-0000-7000-a000-' || lpad(n::text, 12, '0'))::uuid as id from generate_series(1, 50) as n) as r`
  await admin`
    insert into deliveries (project_id, id, receiver_id, destination_id, kind, event_seq, type, subject_id, is_ordered, body, status, due_at, give_up_at, ended_at)
    select case when n % 3 = 0 then ${OTHERS}::uuid else ${DEFAULT_PROJECT_ID}::uuid end,
      (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - ${ROWS} + n), 12, '0') || '7000' || '8' || lpad(n::text, 15, '0'))::uuid, r.id, r.id,
      (array['webhook', 'webhook', 'webhook', 'callback', 'telegram'])[1 + n % 5], n, 'subtask.completed',
      case when r.id = ${PAUSED} then ${PAUSED}::uuid else gen_random_uuid() end, false, '{"subject": {"kind": "subtask", "id": "x"}}', d.status,
      now() - interval '1 minute', now() + interval '1 day', case when d.status in ('delivered', 'failed') then now() end
    from (
      select n, case when n <= ${ROWS * 0.9} then case when n % 50 = 0 then 'failed' else 'delivered' end else 'pending' end as status,
        case when n <= ${ROWS * 0.9} then 3 + n % 48 when n % 100 = 0 then 3 + n / 100 % 48 else 1 + n % 2 end as receiver
      from generate_series(1, ${ROWS}::int) as n
    ) as d join receivers r on r.id = ('00000000-0000-7000-a000-' || lpad(receiver::text, 12, '0'))::uuid`
  await admin`
    insert into deliveries (project_id, id, receiver_id, destination_id, kind, type, is_ordered, body, status, lease_expires_at, give_up_at)
    select ${DEFAULT_PROJECT_ID}, gen_random_uuid(), ${HANGING}, ${HANGING}, 'webhook', 'x', false, '{}', 'sending', now() + interval '1 hour', now() + interval '1 day'
    from generate_series(1, 20)`
  await admin`insert into destinations (project_id, id, failures, paused_until) values (${DEFAULT_PROJECT_ID}, ${PAUSED}, 9, now() + interval '1 hour')`
  await admin`vacuum analyze`
})
afterAll(() => harness.close())

/** What a statement reads of the deliveries: rows and entries of indexes, and how often it reads the table from end to end. */
async function reading<T>(tx: Pick<Tx, 'sql'>, work: () => Promise<T>): Promise<{ found: T; rows: number; scans: number }> {
  const soFar = async () => {
    // For a table that counts full and bitmap reads, for an index the entries that were read.
    const [row] = await tx.sql<{ rows: number; scans: number }[]>`
      select sum(case relkind when 'i' then pg_stat_get_xact_tuples_returned(oid) else pg_stat_get_xact_tuples_fetched(oid) + pg_stat_get_xact_tuples_returned(oid) end)::int as rows,
        sum(pg_stat_get_xact_numscans(oid)) filter (where relkind = 'r')::int as scans
      from pg_class where relname = 'deliveries' or relname like 'deliveries\\_%'`
    return row as { rows: number; scans: number }
  }
  const before = await soFar()
  const found = await work()
  const after = await soFar()
  return { found, rows: after.rows - before.rows, scans: after.scans - before.scans }
}

it('a claim of due deliveries reads what it takes, however many wait for receivers that cannot take them', async () => {
  const limits = { limit: 50, leaseSeconds: 60, perDestination: 20, breakerFailures: 5 }
  const { found, rows, scans } = await transaction(harness.deps.dispatchDb, null, (tx) => reading(tx, () => sending.claimDeliveries(tx, limits)))
  // The last place is left for a destination that has none.
  expect(found).toHaveLength(49)
  expect(scans).toBe(0)
  expect(rows).toBeLessThan(2_000)
})

const since = new Date(Date.now() - 60_000)
it.each<[string, Partial<deliveries.DeliveryFilter>]>([
  ['of all', {}],
  ['of a status that few have', { status: 'pending' }],
  ['that failed', { status: 'failed' }],
  ['of a kind', { receiverKind: 'callback' }],
  ['of a receiver', { receiverId: PAUSED }],
  ['of a subject', { subject: PAUSED }],
  ['of a time', { since }],
  ['of a time and a kind', { since, receiverKind: 'telegram' }],
])('a page %s reads what it shows, and another from its end on as well', async (_, filter) => {
  const page = async (beforeId?: string) =>
    await transaction(harness.deps.db, DEFAULT_PROJECT_ID, (tx) =>
      reading(tx, () => deliveries.listDeliveries(tx, DEFAULT_PROJECT_ID, { ...filter, beforeId, limit: 20 })),
    )
  const first = await page()
  for (const { found, rows, scans } of [first, await page(first.found.at(-1)?.id)]) {
    expect(found).toHaveLength(20)
    expect(scans).toBe(0)
    expect(rows).toBeLessThan(1_000)
  }
})

// The last two, because their rows would change the plans of the others.
it('a claim of a message of a bot reads what it takes, however many wait for a chat of it that is gone', async () => {
  const [BOT, GONE, CHAT] = ['00000000-0000-7000-b000-000000000001', '00000000-0000-7000-b000-000000000002', '00000000-0000-7000-b000-000000000003']
  await harness.admin.begin(async (sql) => {
    await sql`
      insert into receivers (project_id, id, kind, destination_id, events)
      select ${DEFAULT_PROJECT_ID}, id, 'telegram', ${BOT}, '{*}' from unnest(${[GONE, CHAT]}::uuid[]) as id`
    await sql`
      insert into deliveries (project_id, id, receiver_id, destination_id, kind, event_seq, type, is_ordered, body, due_at, give_up_at)
      select ${DEFAULT_PROJECT_ID}, gen_random_uuid(), case when n <= 10000 then ${GONE} else ${CHAT} end::uuid, ${BOT}, 'telegram', n, 'x', false, '{}',
        now() - interval '2 hours' + n * interval '1 millisecond', now() + interval '1 day'
      from generate_series(1, 10005) as n`
    await sql`insert into destinations (project_id, id, failures, paused_until) values (${DEFAULT_PROJECT_ID}, ${GONE}, 9, now() + interval '1 hour')`
  })
  await harness.admin`vacuum analyze deliveries`
  const limits = { limit: 1_000, leaseSeconds: 60, perDestination: 20, breakerFailures: 5 }
  const claimed = await transaction(harness.deps.dispatchDb, null, (tx) => reading(tx, () => sending.claimDeliveries(tx, limits)))
  const ofBot = claimed.found?.filter(({ destinationId }) => destinationId === BOT) ?? []
  expect(ofBot.map(({ receiverId }) => receiverId)).toEqual([CHAT])
  expect(claimed.scans).toBe(0)
  expect(claimed.rows - (claimed.found?.length ?? 0) * 20).toBeLessThan(2_000)
  const [held] = ofBot as [sending.ClaimedDelivery]
  const companions = await transaction(harness.deps.dispatchDb, null, (tx) =>
    reading(tx, () => sending.takeCompanions(tx as never, held, { limit: 14, leaseSeconds: 60 })),
  )
  expect(companions.found).toHaveLength(4)
  expect(companions.scans).toBe(0)
  expect(companions.rows).toBeLessThan(200)
})

it('a claim reads what it takes, however many wait behind others of their subject', async () => {
  const ORDERED = '00000000-0000-7000-a000-000000000003'
  await harness.admin.begin(async (sql) => {
    await sql`delete from deliveries where receiver_id = ${ORDERED}`
    await sql`update receivers set is_ordered = true where id = ${ORDERED}`
    await sql`
      insert into deliveries (project_id, id, receiver_id, destination_id, kind, event_seq, type, subject_id, is_ordered, body, status, lease_expires_at, due_at, give_up_at)
      select ${DEFAULT_PROJECT_ID}, gen_random_uuid(), ${ORDERED}, ${ORDERED}, 'webhook', n, 'x', case when n <= 30000 then ${PAUSED}::uuid else gen_random_uuid() end, true, '{}',
        case when n = 1 then 'sending' else 'pending' end, case when n = 1 then now() + interval '1 hour' end,
        now() - interval '2 hours' + n * interval '1 millisecond', now() + interval '1 day'
      from generate_series(1, 30005) as n`
  })
  await harness.admin`vacuum analyze deliveries`
  const limits = { limit: 1_000, leaseSeconds: 60, perDestination: 20, breakerFailures: 5 }
  const claim = () => transaction(harness.deps.dispatchDb, null, (tx) => reading(tx, () => sending.claimDeliveries(tx, limits)))
  const isOfThem = ({ receiverId }: { receiverId: string }) => receiverId === ORDERED
  const taken: string[] = []
  for (let claims = 0; taken.length < 5; claims += 1) {
    // Each parks what it looks at in vain.
    expect(claims).toBeLessThan(300)
    taken.push(...((await claim()).found ?? []).filter(isOfThem).map(({ id }) => id))
  }
  // The first one after that passes over the entries of the index that parking has left, and so does each one while a snapshot from before is open: autovacuum
  // may be analyzing.
  await expect.poll(async () => (await claim()).rows, { timeout: 10_000, interval: 100 }).toBeLessThan(2_000)
  expect((await claim()).scans).toBe(0)
  // Its turn has come: the one that was under way has ended.
  await harness.admin`update deliveries set status = 'delivered', lease_expires_at = null, ended_at = now() where receiver_id = ${ORDERED} and status = 'sending'`
  const next = await claim()
  expect(next.found?.filter(isOfThem)).toHaveLength(1)
  expect(next.rows).toBeLessThan(2_000)
})

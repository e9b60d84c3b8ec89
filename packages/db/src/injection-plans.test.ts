import { type Harness, makeTask, startHarness } from '@muster/testing'
import { type Explained, type Recording, recordStatements, type Statement, storeTasks } from '@muster/testing/statements'
import { assignTask, injectSession, noteTask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let harness: Harness
let recording: Recording

beforeAll(async () => {
  harness = await startHarness()
  await storeTasks(harness.admin, 10_000)
  await harness.admin`
    insert into assignments (project_id, task_id, session_id, introduced_at, delivered_seq, has_news, ended_at)
    select project_id, id, subagent_session_id, now(), 5, false, now() from tasks`
  await harness.admin`
    insert into updates (project_id, id, task_id, seq, update_type, content, sender_kind, sender_id, status)
    select project_id, gen_random_uuid(), id, seq, 'note', 'Leave out legacy/.', 'key', 'seeded', 'delivered' from tasks cross join generate_series(1, 5) as seq`
  await harness.admin`vacuum analyze`
  recording = recordStatements(harness)
})

afterAll(async () => {
  await recording.close()
  await harness.close()
})

/** The first deliveries of a session read the catalog as well. */
const WARM_UPS = 2

describe('an injection of an update', () => {
  it('is a look and one statement, without a transaction, and touches as few pages as its rows and their index entries have', async () => {
    const { id } = await makeTask(harness.ctx)
    await assignTask(harness.ctx, id, 'holder')
    const inject = (ctx = harness.ctx) => injectSession(ctx, 'holder', { ack: 'auto', messages: [] })
    await inject()
    await noteTask(harness.ctx, id, 'Leave out generated/ as well.')
    expect((await inject(recording.ctx)).items).toHaveLength(1)
    const [look, delivery, ...others] = recording.all().filter(({ text }) => !text.includes('pg_catalog'))
    expect([look?.text.includes('as task_updates'), delivery?.text.includes('muster_deliver_updates'), others]).toEqual([true, true, []])
    expect(await pagesOf(delivery as Statement, id)).toBeLessThan(50)
  })

  /** Pages touched by a delivery, in a session that has planned its statements. Each delivers a note. */
  async function pagesOf({ text, parameters }: Statement, taskId: string): Promise<number> {
    const session = await harness.deps.db.sql.reserve()
    try {
      let pages = Number.NaN
      for (let turn = 0; turn <= WARM_UPS; turn += 1) {
        await noteTask(harness.ctx, taskId, 'Once more.')
        const [row] = await session.unsafe<Explained[]>(`explain (analyze, buffers, format json) ${text}`, parameters as never[])
        pages = row?.['QUERY PLAN'][0]?.Plan['Shared Hit Blocks'] as number
      }
      return pages
    } finally {
      session.release()
    }
  }
})

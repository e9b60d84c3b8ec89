import { randomUUID } from 'node:crypto'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { claimOne, drain, type Harness, readSubtaskRow, settleOne, spawn, startHarness } from '@muster/testing'
import { type Explained, recordStatements, type Statement } from '@muster/testing/statements'
import { getSubtask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterAll(() => harness.close())

describe('a session that has planned its statements while little was stored', () => {
  let session: Awaited<ReturnType<typeof harness.deps.db.sql.reserve>>
  let calls: Statement[]
  beforeAll(async () => {
    session = await harness.deps.db.sql.reserve()
    const recording = recordStatements(harness)
    await spawn(recording.ctx, { agentId: 'recorded' })
    const run = await claimOne(recording.ctx)
    await settleOne(recording.ctx, run)
    await getSubtask(recording.ctx, run.id)
    calls = recording.all()
    await recording.close()
  })
  afterAll(() => session.release())

  /** Pages touched by a call like the one that was recorded, with other parameters in some places. */
  async function pagesOf(name: string, others: Record<number, unknown>): Promise<number> {
    const { text, parameters } = calls.find((call) => call.text.includes(name)) as Statement
    const changed = parameters.map((parameter, place) => others[place] ?? parameter)
    const [answer] = await session.unsafe<Explained[]>(`explain (analyze, buffers, format json) ${text}`, changed as never[])
    return answer?.['QUERY PLAN'][0]?.Plan['Shared Hit Blocks'] as number
  }
  async function pagesOfSpawn() {
    const wanted = calls.find(({ text }) => text.includes('muster_spawn_alone'))?.parameters[1] as string
    return await pagesOf('muster_spawn_alone', {
      1: JSON.stringify({ ...JSON.parse(wanted), id: harness.deps.newId(), job_id: randomUUID(), agent_id: `agent-${randomUUID()}` }),
    })
  }
  async function pagesOfEnd() {
    const { id, agentId, jobId } = await spawn(harness.ctx, { agentId: `agent-${randomUUID()}` }).then(() => claimOne(harness.ctx))
    const [row] = await harness.admin<{ version: string }[]>`select xmin::text as version from subtasks where id = ${id}`
    const { parameters } = calls.find(({ text }) => text.includes('muster_end_alone')) as Statement
    const subtaskPlace = (calls.find(({ text }) => text.includes('as has_waiting')) as Statement).parameters.indexOf(JSON.parse(parameters[2] as string).id)
    const [ended, evaluation] = parameters.slice(2, 4) as [string, string]
    const others = {
      1: row?.version,
      2: JSON.stringify({ ...JSON.parse(ended), id }),
      3: JSON.stringify({ ...JSON.parse(evaluation), id: harness.deps.newId(), subtask_id: id }),
      5: agentId,
      7: jobId,
    }
    const read = calls.find(({ text }) => text.includes('"rowVersion"')) as Statement
    const pages = {
      read: await pagesOf('as has_waiting', { [subtaskPlace]: id }),
      end: await pagesOf('muster_end_alone', others),
      show: await pagesOf('"rowVersion"', { [read.parameters.findIndex(Array.isArray)]: [id] }),
    }
    expect((await readSubtaskRow(harness.admin, id)).status).toBe('completed')
    return pages
  }

  it('touches as few pages with each of them once much is stored', async () => {
    // Some calls read the catalog as well: the first ones of a session, and those after a change of it by autovacuum.
    const fewest = async (turns: number) => {
      const each: { spawn: number; read: number; end: number; show: number }[] = []
      for (let turn = 0; turn < turns; turn += 1) {
        const spawn = await pagesOfSpawn()
        await drain(harness.ctx)
        each.push({ spawn, ...(await pagesOfEnd()) })
      }
      const least = (call: keyof (typeof each)[0]) => Math.min(...each.map((pages) => pages[call]))
      return { spawn: least('spawn'), read: least('read'), end: least('end'), show: least('show') }
    }
    const few = await fewest(7)
    await harness.admin`
      insert into subtasks (project_id, id, agent_id, task, runner, priority, status, timeout_seconds, max_attempts, budget_max_steps, notify, required_outputs, metadata,
        rank_at, completed_at, final_outcome)
      select ${DEFAULT_PROJECT_ID}, gen_random_uuid(), 'agent-' || n % 100, 'x', 'own', 'normal', 'completed', 60, 2, 50, true, '[]', '{}', now(), now(), 'completed'
      from generate_series(1, 30000) as n`
    // As `muster_analyze` does within seconds.
    await harness.admin`analyze subtasks`
    const many = await fewest(3)
    for (const call of ['spawn', 'read', 'end', 'show'] as const) expect(many[call], call).toBeLessThan(few[call] + 20)
  }, 60_000)
})

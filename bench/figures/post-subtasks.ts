import { startApi } from '../contenders/api.ts'
import { installPgBoss, PG_BOSS_QUEUE } from '../contenders/pg-boss.ts'
import { startServing } from '../instrument/child.ts'
import { type Bench, type Figure, Rows, timesPeer } from '../instrument/figure.ts'
import { type HttpLoad, sendHttpLoad } from '../instrument/http-load.ts'
import type { BenchDatabase } from '../instrument/server.ts'

const CONNECTIONS = 32
const BARE = 'bare Fastify + send'
/** Enough that each subtask finds a free permit, and is given a job: without one there would be less to do. */
const AGENTS = 50_000

/** The request that spawns a subtask of one of so many agents. */
export function newSubtask(
  index: number,
  { agents, prefix = 'agent-', runner = 'noop' }: { agents: number; prefix?: string; runner?: string },
): ReturnType<HttpLoad['request']> {
  const agent = `${prefix}${index % agents}`
  const body = { task: 'Do nothing, and say so.', agent_id: agent, parent_session_id: `session-${agent}`, runner }
  return { method: 'POST', path: '/subtasks', body: JSON.stringify(body) }
}

async function measure(bench: Bench, load: Pick<HttpLoad, 'url' | 'headers' | 'request'>) {
  await sendHttpLoad({ ...load, connections: CONNECTIONS, seconds: bench.size(3, 1) })
  return await sendHttpLoad({ ...load, connections: CONNECTIONS, seconds: bench.size(7, 1) })
}

async function measureOurs(bench: Bench, database: BenchDatabase, agents: number, raised: Record<string, string> = {}) {
  const api = await startApi(bench, database, raised)
  await using _ = api.process
  let sent = 0
  return await measure(bench, {
    url: api.address,
    headers: api.headers,
    request: () => {
      sent += 1
      return newSubtask(sent, { agents })
    },
  })
}

async function measureBare(bench: Bench) {
  await using database = await bench.server.emptyDatabase()
  await installPgBoss(database, { notify: true })
  await using server = await startServing(bench, 'bare-fastify', 'bare-fastify.ts', { url: database.adminUrl, queue: PG_BOSS_QUEUE })
  return await measure(bench, { url: await server.call<string>('address'), request: (index) => ({ ...newSubtask(index, { agents: AGENTS }), path: '/jobs' }) })
}

export const postSubtasks: Figure = {
  name: 'post-subtasks',
  title: `POST /subtasks over HTTP, ${CONNECTIONS} connections, with key check, row-level security, event and job; the peer's route does one send with notify`,
  raised: 'for the line of one agent: SUBTASK_MAX_PENDING and SUBTASK_MAX_CONCURRENT=1000000',
  async measure(bench) {
    const rows = new Rows()
    const rate = { label: 'POST /subtasks, an agent each', unit: '/s', better: 'higher', goal: timesPeer(1, BARE) } as const
    const late = { label: 'POST /subtasks, an agent each, p99', unit: 'ms', better: 'lower', goal: null } as const
    const single = { label: 'POST /subtasks, all of one agent', unit: '/s', better: 'higher', goal: null } as const
    for (let run = 1; run <= bench.runs; run += 1) {
      await using ourDatabase = await bench.server.musterDatabase()
      const ours = await measureOurs(bench, ourDatabase, AGENTS)
      rows.add(rate, null, ours.perSecond)
      rows.add(late, null, ours.p99)
      const bare = await bench.peer(BARE, () => measureBare(bench), { holdsGoal: true })
      if (bare !== null) {
        rows.add(rate, BARE, bare.perSecond)
        rows.add(late, BARE, bare.p99)
      }
      await using singleDatabase = await bench.server.musterDatabase()
      const one = await measureOurs(bench, singleDatabase, 1, { SUBTASK_MAX_PENDING: '1000000', SUBTASK_MAX_CONCURRENT: '1000000' })
      rows.add(single, null, one.perSecond)
      bench.log(`run ${run}: ours ${Math.round(ours.perSecond)}/s, bare ${Math.round(bare?.perSecond ?? 0)}/s, one agent ${Math.round(one.perSecond)}/s`)
    }
    return rows.list()
  },
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Evidence } from './check.ts'

/** Most that the processes may hold when all is quiet: pools, listeners, presence. */
const API_CONNECTIONS_MAX = 10 + 3 + 1
const WORKER_CONNECTIONS_MAX = 6 + 6 + 1 + 1

/** While everything is up and quiet: no more connections than the pools have, and every worker's row is a living worker's. */
export async function checkQuietSystem({ system, admin, findings }: Evidence): Promise<void> {
  const most = system.apis.length * API_CONNECTIONS_MAX + system.workers.length * WORKER_CONNECTIONS_MAX
  const count = async () => {
    const rows = await admin<{ name: string; count: number }[]>`
      select application_name as name, count(*)::int as count from pg_stat_activity where usename = ${system.login} group by 1`
    return { rows, total: rows.reduce((sum, row) => sum + row.count, 0) }
  }
  // The server may still be ending sessions of connections that were lost.
  let { rows, total } = await count()
  for (let looks = 0; total > most && looks < 15; looks += 1) {
    await sleep(1_000)
    ;({ rows, total } = await count())
  }
  findings.none('the processes hold no more connections than their pools', total, total > most ? [`${total} of ${most}: ${JSON.stringify(rows)}`] : [])
  const programs = findPrograms(system.programMark)
  findings.none('no program runs when nothing is to be run', system.workers.length, programs)
}

/** After every process was asked to stop. */
export async function checkEmptySystem(evidence: Evidence): Promise<void> {
  const { system, admin, findings } = evidence
  const connections = await admin<{ pid: number; name: string; query: string }[]>`
    select pid, application_name as name, left(query, 100) as query from pg_stat_activity where usename = ${system.login}`
  findings.none(
    'no connection outlives its process',
    system.apis.length + system.workers.length,
    connections.map((row) => JSON.stringify(row)),
  )
  const locks = await admin<
    { objid: string }[]
  >`select objid::text from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`
  findings.none(
    'no session lock outlives its worker',
    system.workers.length,
    locks.map((row) => row.objid),
  )
  findings.none('no program outlives its worker', system.workers.length, findPrograms(system.programMark))
  // A killed process could not sign off; its row is forgotten after a day.
  const killed = new Set(
    system.workers.flatMap((worker) => worker.lives.filter((life) => life.endedBy === 'SIGKILL' || life.how !== 'code 0').map((life) => life.workerId)),
  )
  // The same if the database became unavailable just then; the log says so.
  const logs = system.workers.flatMap((worker) => readFileSync(worker.options.logFile, 'utf8').split('\n'))
  const couldNot = logs.filter((line) => line.includes('could not sign this worker off'))
  const registered = await admin<{ id: string }[]>`select id from muster_system.workers`
  findings.none(
    'a worker that ended in order has signed off',
    system.workers.reduce((sum, worker) => sum + worker.lives.filter((life) => life.how === 'code 0').length, 0),
    registered.filter(({ id }) => !killed.has(id) && !couldNot.some((line) => line.includes(id))).map(({ id }) => id),
  )
  const attempts = await admin<{ name: string; worker_id: string }[]>`
    select a.subtask_id || '-' || a.attempt as name, a.worker_id from attempts a join subtasks s on s.id = a.subtask_id where s.runner <> 'external'`
  // The folder of a run that waited, or whose wait came too late to be stored. Once the subtask has ended, the sweep of folders removes it.
  const ended = await admin<{ name: string }[]>`
    select id || '-0' as name from subtasks s where completed_at is not null and continuation_body_id is null
      and (final_outcome = 'budget_exceeded' or exists (select from questions where subtask_id = s.id))`
  const swept = new Set(ended.map(({ name }) => name))
  const workerOf = new Map(attempts.map(({ name, worker_id }) => [name, worker_id]))
  findings.none(
    'no workspace outlives its attempt, apart from those of workers that were killed and of runs that were to wait',
    attempts.length,
    // Those are removed by maintenance, every ten minutes.
    listWorkspaces(evidence).filter((name) => !swept.has(name) && (!workerOf.has(name) || !killed.has(workerOf.get(name) as string))),
  )
  const bodies = await admin<{ id: string; is_orphan: boolean }[]>`
    select id, not exists (select from subtasks where result_body_id = b.id) and not exists (select from session_messages where body_id = b.id)
      and not exists (select from evaluations where output_body_id = b.id) as is_orphan
    from bodies b`
  findings.none(
    'every body belongs to something',
    bodies.length,
    bodies.filter((body) => body.is_orphan).map(({ id }) => id),
  )
}

/** The workspaces of attempts that are left in the folders of the workers. */
export function listWorkspaces({ system }: Evidence): string[] {
  return system.workers.flatMap((worker) => {
    try {
      return readdirSync(join(worker.options.environment.DATA_DIR as string, 'workspaces'))
    } catch {
      return []
    }
  })
}

/** Programs of this run that are alive, by their environment; none where the system does not tell. */
function findPrograms(mark: string): string[] {
  const found: string[] = []
  for (const entry of listProcesses()) {
    try {
      if (!readFileSync(`/proc/${entry}/environ`, 'latin1').split('\0').includes(`CHAOS_RUN=${mark}`)) continue
      // One that has ended and was not collected yet has an empty command line.
      const command = readFileSync(`/proc/${entry}/cmdline`, 'latin1').replaceAll('\0', ' ').trim()
      if (command !== '') found.push(`${entry}: ${command}`)
    } catch {
      // Gone, or of another owner.
    }
  }
  return found
}

function listProcesses(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

import type { Database, Tx } from '@muster/db'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { PgBoss } from 'pg-boss'
import { overPool } from './boss.ts'

/**
 * The queue of the subtasks of one runner. Muster's workers serve all projects from one queue. Outside workers may see only one project, so each
 * project has a queue for them.
 */
export function runQueue(runner: string, projectId: string): string {
  return runner === 'external' ? `run.external.${projectId}` : `run.${runner}`
}

/** The payload of a `run` notification about a subtask that only outside workers take: it calls none of Muster's own. */
const FOR_OUTSIDE = 'outside'

/** The payload of a `run` notification about a subtask that waits now. */
export function runCall({ runner, id }: { runner: string; id: string }): string {
  return runner === 'external' ? FOR_OUTSIDE : `${runner}:${id}`
}

/** The subtask that such a payload is about, and its queue; undefined for one of outside workers. */
export function readRunCall(payload: string): { subtaskId: string; queue: string } | undefined {
  const end = payload.lastIndexOf(':')
  if (payload === FOR_OUTSIDE || end === -1) return undefined
  return { subtaskId: payload.slice(end + 1), queue: runQueue(payload.slice(0, end), DEFAULT_PROJECT_ID) }
}

/** The queue of a row `g` in SQL. */
export function runQueueOf(sql: Tx['sql']) {
  return sql`case g.runner when 'external' then 'run.external.' || g.project_id else 'run.' || g.runner end`
}

/**
 * pg-boss itself never moves run jobs: no retries, no expiry within a day, no heartbeat, no notification. Each job moves in the transaction that moves
 * its row.
 */
const RUN_QUEUE_OPTIONS = { retryLimit: 0, expireInSeconds: 86_400, retentionSeconds: 315_360_000, deleteAfterSeconds: 60, notify: false } as const

/** The queue of judgements, of all projects. */
export const JUDGE_QUEUE = 'judge'

/**
 * A judgement is a request over the network, so pg-boss handles it: tries with growing waits, and heartbeats that reveal a lost worker within seconds.
 * Expiry is for a worker that lives and never ends the request.
 */
const JUDGE_QUEUE_OPTIONS = {
  retryLimit: 5,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 120,
  heartbeatSeconds: 20,
  expireInSeconds: 900,
  retentionSeconds: 315_360_000,
  deleteAfterSeconds: 86_400,
  notify: false,
} as const

/**
 * Our own index of pg-boss's waiting jobs: by project, each in order. So a claim finds the best jobs of each project, however many another one has. Made
 * under a lock that stops writes to the queue, which holds only what waits.
 */
const JOBS_BY_PROJECT = `create index if not exists muster_job_by_project on pgboss.job
  (name, (data ->> 'project_id'), priority desc, created_on, id) where state < 'active' and not blocked`

/** The rights to the tables come last: by them a process knows that the migrate step has ended (`requireUsableDatabase`). */
const GRANTS = [
  'grant usage on schema pgboss to muster_app, muster_dispatch',
  'grant usage on all sequences in schema pgboss to muster_app, muster_dispatch',
  'grant select, insert, update, delete on all tables in schema pgboss to muster_app, muster_dispatch',
]

/**
 * Installs pg-boss's schema and lets the processes' roles use it. Part of the migrate step; safe to repeat.
 *
 * @param database the migrated database, as the role that migrated it
 */
export async function installQueues(database: Pick<Database, 'sql'>): Promise<void> {
  const boss = new PgBoss({ db: overPool(database), supervise: false, schedule: false })
  const failures: Error[] = []
  boss.on('error', (error) => failures.push(error))
  await boss.start()
  await boss.createQueue(runQueue('external', DEFAULT_PROJECT_ID), RUN_QUEUE_OPTIONS)
  await boss.createQueue(JUDGE_QUEUE, JUDGE_QUEUE_OPTIONS)
  for (const statement of [JOBS_BY_PROJECT, ...GRANTS]) await boss.getDb().executeSql(statement)
  await boss.stop({ graceful: false })
  if (failures[0] !== undefined) throw failures[0]
}

/** Makes sure that the queues of these runners exist for a project, before anything is sent to them. Safe to repeat. */
export async function ensureRunQueues(boss: PgBoss, projectId: string, runners: readonly string[]): Promise<void> {
  for (const runner of runners) await boss.createQueue(runQueue(runner, projectId), RUN_QUEUE_OPTIONS)
}

/** The queues of these runners for a project, and that of judgements, as far as they do not exist. */
export async function findMissingQueues(boss: PgBoss, projectId: string, runners: readonly string[]): Promise<string[]> {
  const needed = [...runners.map((runner) => runQueue(runner, projectId)), JUDGE_QUEUE]
  const found = new Set((await boss.getQueues(needed)).map(({ name }) => name))
  return needed.filter((name) => !found.has(name))
}

import { randomUUIDv7 } from 'node:crypto'
import { connect } from '@muster/db'
import { DEFAULT_PROJECT_ID, type Settings } from '@muster/domain'
import { createBoss, createJudgeJobs, createNotifier, createRunJobs } from '@muster/jobs'
import { type Ctx, WriteWatch } from '@muster/usecases'

/** What the audit log says of a command: its name, and the names of what it was given. */
export interface OperatorCommand {
  operation: string
  fields: string[]
}

/**
 * Runs use-cases on the database of API and worker as its operator: with every right, in the default project unless `work` sets another one as
 * `ctx.actor.projectId`.
 */
export async function asOperator<Result>(
  settings: Settings,
  appUrl: string,
  { operation, fields }: OperatorCommand,
  work: (ctx: Ctx, boss: ReturnType<typeof createBoss>) => Promise<Result>,
): Promise<Result> {
  const pool = { connectionsMax: 2, applicationName: 'muster-operator' }
  const [db, dispatchDb] = [connect(appUrl, { ...pool, role: 'muster_app' }), connect(appUrl, { ...pool, role: 'muster_dispatch' })]
  const ignore = (): void => undefined
  const boss = createBoss(dispatchDb, { supervise: false, onWarning: ignore, onError: ignore })
  const ctx: Ctx = {
    db,
    dispatchDb,
    runJobs: createRunJobs(),
    judgeJobs: createJudgeJobs(boss),
    writes: new WriteWatch(),
    notifier: createNotifier(dispatchDb, ignore),
    settings,
    newId: randomUUIDv7,
    archive: null,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    origin: { door: 'script', address: null, operation, requestId: null, ids: {}, fields },
    actor: { kind: 'system', id: 'operator', projectId: DEFAULT_PROJECT_ID, scopes: ['admin'], agentId: null, lineage: null },
  }
  try {
    return await work(ctx, boss)
  } finally {
    await Promise.all([db.close(), dispatchDb.close()])
  }
}

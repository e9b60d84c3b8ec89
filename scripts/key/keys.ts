import { randomUUIDv7 } from 'node:crypto'
import { connect } from '@muster/db'
import { DEFAULT_PROJECT_ID, type Settings } from '@muster/domain'
import { createBoss, createJudgeJobs, createNotifier, createRunJobs, ensureRunQueues } from '@muster/jobs'
import { type ApiKey, type Ctx, createApiKey, createProject, getProject, listApiKeys, revokeApiKey, WriteWatch } from '@muster/usecases'
import type { KeyCommand } from './options.ts'

/** The result of a command. `secret` is the key itself, which only its creation returns. */
export type KeyResult = { made: ApiKey; secret: string } | { list: ApiKey[] } | { revoked: ApiKey }

const PAGE = 200

/** Runs a command on the database of API and worker, through the same use-cases as the API. */
export async function runKeyCommand(command: Exclude<KeyCommand, { verb: 'help' }>, settings: Settings, appUrl: string): Promise<KeyResult> {
  const pool = { connectionsMax: 2, applicationName: 'muster-key' }
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
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    origin: {
      door: 'script',
      address: null,
      operation: `key ${command.verb}`,
      requestId: null,
      ids: {},
      fields: Object.keys(command).filter((name) => name !== 'verb'),
    },
    actor: {
      kind: 'system',
      id: 'operator',
      projectId: ('project' in command ? command.project : undefined) ?? DEFAULT_PROJECT_ID,
      scopes: ['admin'],
      agentId: null,
      lineage: null,
    },
  }
  try {
    if (command.verb === 'create' && command.newProject !== undefined) {
      const project = await createProject(ctx, command.newProject)
      await ensureRunQueues(boss, project.id, [...Object.keys(settings.COMMAND_RUNNERS), 'external'])
      ctx.actor.projectId = project.id
    }
    await getProject(ctx, ctx.actor.projectId)
    return await carryOut(ctx, command)
  } finally {
    await Promise.all([db.close(), dispatchDb.close()])
  }
}

async function carryOut(ctx: Ctx, command: Exclude<KeyCommand, { verb: 'help' }>): Promise<KeyResult> {
  switch (command.verb) {
    case 'create': {
      const { apiKey, secret } = await createApiKey(ctx, {
        name: command.name,
        scopes: command.scopes,
        agentId: command.agentId,
        expiresAt: command.expiresAt,
      })
      return { made: apiKey, secret }
    }
    case 'list':
      return { list: (await listApiKeys(ctx, { limit: PAGE })).items }
    case 'revoke':
      return { revoked: await revokeApiKey(ctx, command.id) }
  }
}

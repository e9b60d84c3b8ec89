import { DEFAULT_PROJECT_ID, type Settings } from '@muster/domain'
import { ensureRunQueues } from '@muster/jobs'
import { type ApiKey, type Ctx, createApiKey, createProject, getProject, listApiKeys, revokeApiKey } from '@muster/usecases'
import { asOperator } from '../system/operator.ts'
import type { KeyCommand } from './options.ts'

/** The result of a command. `secret` is the key itself, which only its creation returns. */
export type KeyResult = { made: ApiKey; secret: string } | { list: ApiKey[] } | { revoked: ApiKey }

const PAGE = 200

/** Runs a command on the database of API and worker, through the same use-cases as the API. */
export async function runKeyCommand(command: Exclude<KeyCommand, { verb: 'help' }>, settings: Settings, appUrl: string): Promise<KeyResult> {
  return await asOperator(
    settings,
    appUrl,
    { operation: `key ${command.verb}`, fields: Object.keys(command).filter((name) => name !== 'verb') },
    async (ctx, boss) => {
      ctx.actor.projectId = ('project' in command ? command.project : undefined) ?? DEFAULT_PROJECT_ID
      if (command.verb === 'create' && command.newProject !== undefined) {
        const project = await createProject(ctx, command.newProject)
        await ensureRunQueues(boss, project.id, [...Object.keys(settings.COMMAND_RUNNERS), 'external'])
        ctx.actor.projectId = project.id
      }
      await getProject(ctx, ctx.actor.projectId)
      return await carryOut(ctx, command)
    },
  )
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

import { type ApiKey, apiKeys, clock } from '@muster/db'
import { DomainError, requireFound, requireScope, SCOPES, type Scope } from '@muster/domain'
import { type Ctx, inProject, reading } from '../core/ctx.ts'
import { idInCursor, type Page, page } from '../core/page.ts'
import { newApiKeySecret } from '../core/secrets.ts'

export interface NewApiKey {
  name: string
  scopes: readonly string[]
  agentId?: string | undefined
  expiresAt?: Date | undefined
}

/**
 * Makes a key for the actor's project. The secret is in this answer and nowhere else.
 *
 * @throws DomainError `validation_failed` for unknown scopes, and for an `expiresAt` that is over
 */
export async function createApiKey(ctx: Ctx, input: NewApiKey): Promise<{ apiKey: ApiKey; secret: string }> {
  requireScope(ctx.actor, 'admin')
  const unknown = input.scopes.filter((scope) => !(SCOPES as readonly string[]).includes(scope))
  if (unknown.length > 0 || input.scopes.length === 0) {
    const problem = unknown.length > 0 ? `There is no scope ${unknown.join(', ')}.` : 'A key needs at least one scope.'
    throw new DomainError('validation_failed', `${problem} Scopes are: ${SCOPES.join(', ')}.`, {
      errors: [{ pointer: '/scopes', field: 'scopes', reason: problem, value: input.scopes }],
    })
  }
  const secret = newApiKeySecret()
  return await inProject(ctx, async (tx) => {
    if (input.expiresAt !== undefined) requireFuture(input.expiresAt, await clock.readClock(tx))
    const apiKey = await apiKeys.insertApiKey(tx, {
      id: ctx.newId(),
      projectId: ctx.actor.projectId,
      name: input.name,
      keyHash: secret.hash,
      keyPrefix: secret.prefix,
      scopes: [...new Set(input.scopes)] as Scope[],
      agentId: input.agentId ?? null,
      expiresAt: input.expiresAt ?? null,
    })
    return { apiKey, secret: secret.token }
  })
}

function requireFuture(expiresAt: Date, now: Date): void {
  if (expiresAt > now) return
  const reason = `must be in the future; it is ${now.toISOString()} now`
  throw new DomainError('validation_failed', `The key would have expired already: expires_at ${reason}.`, {
    errors: [{ pointer: '/expires_at', field: 'expires_at', reason, value: expiresAt.toISOString() }],
  })
}

/** Newest first, revoked ones included. */
export async function listApiKeys(ctx: Ctx, query: { limit: number; cursor?: string | undefined }): Promise<Page<ApiKey>> {
  requireScope(ctx.actor, 'admin')
  const beforeId = idInCursor(query.cursor)
  const items = await reading(ctx, (tx) => apiKeys.listApiKeys(tx, ctx.actor.projectId, beforeId, query.limit + 1))
  return page(items, query.limit, (last) => last.id)
}

/** Ends a key at once. Repeating it changes nothing. @throws DomainError `not_found` */
export async function revokeApiKey(ctx: Ctx, id: string): Promise<ApiKey> {
  requireScope(ctx.actor, 'admin')
  return requireFound(await inProject(ctx, (tx) => apiKeys.revokeApiKey(tx, ctx.actor.projectId, id)), 'API key')
}

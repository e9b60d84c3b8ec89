import { createHash } from 'node:crypto'
import { type StoredSubagent, subagents, type Tx } from '@muster/db'
import {
  isSubagentName,
  parseSubagentMarkdown,
  requireController,
  requireDefinition,
  requireScope,
  type SubagentDefinition,
  type SubagentProblem,
  subagentNotFound,
} from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import type { Precondition } from '../core/precondition.ts'
import { requireReachable } from '../deliveries/change-webhooks.ts'
import { defineCallback } from '../deliveries/insert-callback.ts'
import { findSubagent, isSameVersion } from './find-subagent.ts'

export interface PutSubagent {
  definition: SubagentDefinition
  /** What its author may not have meant. */
  warnings: SubagentProblem[]
  /** Whether the API had nothing there before. */
  created: boolean
}

/**
 * Puts a definition under a name, where it counts before files and built-ins. What is there already in the same words stays the version that it
 * is; runs under way keep the version that they were started with.
 *
 * @throws DomainError `subagent_invalid` with the line of everything that is wrong, also for a name that is none, or another one in the text;
 *   `validation_failed` for a callback that deliveries may not reach, `secrets_not_configured` for one with a secret
 */
export async function putSubagent(ctx: Ctx, name: string, text: string, precondition?: Precondition<SubagentDefinition>): Promise<PutSubagent> {
  requireScope(ctx.actor, 'subagents:write')
  requireController(ctx.actor)
  const reading = parseSubagentMarkdown(text, { name, source: 'api' })
  const definition = requireDefinition(reading)
  const contentHash = createHash('sha256').update(text).digest()
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const newest = await subagents.lockSubagent(tx, projectId, name, 'api')
    await requireCurrent(ctx, tx, name, precondition)
    if (definition.callback !== undefined) await requireReachable(ctx, tx, projectId, definition.callback.url, '/callback/url')
    const created = newest === null || newest.put === null
    return {
      definition: await putVersion(ctx, tx, { definition, callbackSecret: reading.callbackSecret, contentHash }, newest),
      warnings: reading.problems,
      created,
    }
  })
}

/** Stores a definition as the next version of its name, whose row is locked, unless the newest that was put has the same text. */
export async function putVersion(
  ctx: Ctx,
  tx: Tx,
  { definition, callbackSecret, contentHash }: { definition: SubagentDefinition; callbackSecret: string | null | undefined; contentHash: Buffer },
  newest: StoredSubagent | null,
): Promise<SubagentDefinition> {
  const { projectId } = ctx.actor
  if (newest !== null && newest.put !== null && isSameVersion(newest, { source: 'api', contentHash })) return newest.put
  const next = { ...definition, version: (newest?.version ?? 0) + 1 }
  await subagents.insertSubagentVersion(tx, projectId, next, contentHash)
  await defineCallback(ctx, tx, projectId, next, callbackSecret)
  return next
}

/**
 * Deletes the definition that was put under a name through the API; a file or a built-in of that name counts again. Its versions stay, since runs name them.
 *
 * @throws DomainError `subagent_not_found` where the API has put nothing, also where there is a file or a built-in
 */
export async function deleteSubagent(ctx: Ctx, name: string, precondition?: Precondition<SubagentDefinition>): Promise<void> {
  requireScope(ctx.actor, 'subagents:write')
  requireController(ctx.actor)
  if (!isSubagentName(name)) throw subagentNotFound(name)
  const { projectId } = ctx.actor
  await inProject(ctx, async (tx) => {
    const known = await subagents.lockKnownSubagent(tx, projectId, name)
    if (known === null || known.put === null) throw subagentNotFound(name)
    await requireCurrent(ctx, tx, name, precondition)
    await subagents.deleteSubagent(tx, projectId, name)
    await defineCallback(ctx, tx, projectId, { name })
  })
}

/** What counts under a locked name, wherever it is from. */
async function requireCurrent(ctx: Ctx, tx: Tx, name: string, precondition: Precondition<SubagentDefinition>): Promise<void> {
  if (precondition === undefined) return
  const { found } = await findSubagent(ctx, tx, ctx.actor.projectId, name)
  precondition(found?.reading.definition ?? null)
}

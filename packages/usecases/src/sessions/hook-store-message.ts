import { hooks } from '@muster/db'
import { cutToCodePoints, toStorableText } from '@muster/domain'
import { type Ctx, reading } from '../core/ctx.ts'
import { postMessage } from './post-message.ts'

/**
 * Stores what an agent said last. Where its session holds one task, it is about that one, and its check-ins count as such.
 *
 * @throws DomainError as `postMessage`
 */
export async function storeHookMessage(ctx: Ctx, sessionId: string, said: { content: string; agentType: string | null; event: string }): Promise<void> {
  const content = toStorableText(said.content)
  if (!/\S/.test(content)) return
  const taskId = await reading(ctx, (tx) => hooks.findOnlyTaskOfSession(tx, ctx.actor.projectId, sessionId))
  await postMessage(ctx, sessionId, {
    role: 'assistant',
    content,
    taskId: taskId ?? undefined,
    agentName: said.agentType === null ? undefined : cutToCodePoints(toStorableText(said.agentType), 128),
    metadata: { source: 'claude-code', hook_event_name: said.event },
  })
}

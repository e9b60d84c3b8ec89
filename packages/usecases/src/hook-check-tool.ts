import { hooks } from '@muster/db'
import { checkTool, type ToolAnswer, toolUseOf } from '@muster/domain'
import { type Ctx, reading } from './ctx.ts'

/**
 * Whether whoever calls may use a tool, by the definition that its subtask is a run of: the version that it was started with, whatever the
 * sub-agent is by now. Null where no definition is bound: everybody but a subtask, and a subtask that is no sub-agent's.
 */
export async function checkHookTool(ctx: Ctx, use: { toolName: string; toolInput: unknown }): Promise<ToolAnswer | null> {
  const subtaskId = ctx.actor.lineage?.subtaskId ?? null
  if (subtaskId === null) return null
  const bound = await reading(ctx, (tx) => hooks.findDefinitionOfSubtask(tx, subtaskId))
  return bound === null ? null : checkTool(bound.definition, { toolName: toolUseOf(use), background: bound.background })
}

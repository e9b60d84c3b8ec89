import { hooks } from '@muster/db'
import { checkTool, type SubagentDefinition, type ToolAnswer, toolUseOf } from '@muster/domain'
import { type Ctx, reading } from '../core/ctx.ts'

/**
 * Whether whoever calls may use a tool, by the definition that its subtask is a run of: the version that it was started with, whatever the
 * sub-agent is by now. Null where no definition is bound: everybody but a subtask, and a subtask that is no sub-agent's.
 */
export async function checkHookTool(ctx: Ctx, use: HookedUse): Promise<ToolAnswer | null> {
  const subtaskId = ctx.actor.lineage?.subtaskId ?? null
  if (subtaskId === null) return null
  const bound = await reading(ctx, (tx) => hooks.findDefinitionOfSubtask(tx, subtaskId))
  return bound === null ? null : checkUse(bound.definition, use, bound.background)
}

export interface HookedUse {
  toolName: string
  toolInput: unknown
  /** The folder that the session is in. It may be one below its workspace. */
  cwd?: string | null
}

function checkUse(definition: SubagentDefinition, use: HookedUse, background: boolean): ToolAnswer {
  const answer = checkTool(definition, { toolName: toolUseOf(use), background })
  if (!answer.allowed) return answer
  // What is denied is denied from each folder of the workspace, so the whole path is held against those rules, too.
  const denials = { ...definition, tools: ['*'], mcpServers: [] }
  const whole = checkTool(denials, { toolName: toolUseOf({ ...use, cwd: null }), background })
  return whole.allowed ? answer : whole
}

import { hooks, type Tx } from '@muster/db'
import { agentCallOf, checkTool, DomainError, effectiveTools, type HookCall, type SubagentDefinition, type ToolAnswer, toolUseOf } from '@muster/domain'
import { type Ctx, reading } from '../core/ctx.ts'
import { findSubagent } from '../subagents/find-subagent.ts'

/**
 * Why the agent that makes a call of Claude Code may not use a tool; null if it may. A subtask is bound to the version of the definition that it was started
 * with. A sub-agent of Claude Code itself, and a session that `claude --agent` has started, are bound to the definition of their name that Muster has by
 * now from the API or a file. A call of the Agent tool is also refused if the definition of the sub-agent that it would start does not permit that start.
 */
export async function findToolDenial(ctx: Ctx, call: HookCall): Promise<string | null> {
  const { toolName } = call
  if (toolName === null) return null
  const subtaskId = ctx.actor.lineage?.subtaskId ?? null
  const isCallOfAgent = agentCallOf(call) !== null
  if (subtaskId === null && call.agentType === null && !isCallOfAgent) return null
  return await reading(ctx, async (tx) => {
    if (subtaskId !== null) {
      const bound = await hooks.findDefinitionOfSubtask(tx, subtaskId)
      return bound === null ? null : denialOf(checkUse(bound.definition, { ...call, toolName }, { background: bound.background, inSubagent: true }))
    }
    const bound = call.agentType === null ? null : await findOwnDefinition(ctx, tx, call.agentType)
    // Where a sub-agent runs is not said in its events: what the background denies is decided at its start.
    const inSubagent = call.agentId !== null
    const denied = bound === null ? null : denialOf(checkUse(bound.definition, { ...call, toolName }, { background: false, inSubagent }))
    return denied ?? (isCallOfAgent ? await findStartDenial(ctx, tx, call) : null)
  })
}

const denialOf = (answer: ToolAnswer) => (answer.allowed ? null : answer.reason)

/** The definition that an operator has given Muster under a name; null where Muster has none, or only brings one of its own. */
async function findOwnDefinition(ctx: Ctx, tx: Tx, name: string) {
  const { found, policy } = await findSubagent(ctx, tx, ctx.actor.projectId, name)
  const definition = found === null || found.source === 'builtin' ? null : found.reading.definition
  return definition === null ? null : { definition, policy }
}

/** Why a call of the Agent tool may not start its sub-agent in the background. */
async function findStartDenial(ctx: Ctx, tx: Tx, call: HookCall): Promise<string | null> {
  const name = agentCallOf(call)?.subagentType
  const bound = name === undefined ? null : await findOwnDefinition(ctx, tx, name)
  if (bound === null) return null
  const { definition, policy } = bound
  const inBackground = (call.toolInput as { run_in_background?: unknown } | null)?.run_in_background === true
  try {
    effectiveTools(definition, [], { background: inBackground || definition.background, policy })
    return null
  } catch (error) {
    if (error instanceof DomainError) return error.message
    throw error
  }
}

interface ToolUse {
  toolName: string
  toolInput: unknown
  /** The folder that the session is in. It may be one below its workspace. */
  cwd?: string | null
}

function checkUse(definition: SubagentDefinition, use: ToolUse, where: { background: boolean; inSubagent: boolean }): ToolAnswer {
  const answer = checkTool(definition, { toolName: toolUseOf(use), ...where })
  if (!answer.allowed) return answer
  // What is denied is denied from each folder of the workspace, so the whole path is held against those rules, too.
  const denials = { ...definition, tools: ['*'], mcpServers: [] }
  const whole = checkTool(denials, { toolName: toolUseOf({ ...use, cwd: null }), ...where })
  return whole.allowed ? answer : whole
}

import type { HookCall } from '@muster/domain'
import type { HookAnswer } from '@muster/usecases'
import { z } from 'zod'
import { component, printableId, requestComponent } from '../http/schemas.ts'

/** One event as Claude Code sends it: every field that is of use here, and whatever else it sends. */
export const hookInputSchema = requestComponent(
  'ClaudeCodeHookInput',
  z
    .looseObject({
      hook_event_name: z.string().describe('What has happened.'),
      session_id: printableId('Claude Code’s own session.', '0b4c4a1e-7d2f-4f6e-9a53-1d6b1f1f7a11'),
      agent_id: printableId('The sub-agent inside of it that this is about.', 'a1b2c3d').nullish(),
      agent_type: z.string().nullish().describe('What kind of sub-agent that is.'),
      tool_name: z.string().nullish(),
      tool_input: z.unknown().optional(),
      tool_use_id: z.string().nullish().describe('Names one use of a tool in all events about it.'),
      tool_response: z.unknown().optional().describe('What the tool answered.'),
      cwd: z.string().nullish().describe('The folder of the session.'),
      error: z.string().nullish().describe('Why a tool failed.'),
      last_assistant_message: z.string().nullish(),
      stop_hook_active: z.boolean().nullish().describe('Whether an earlier Stop made the agent go on.'),
    })
    .describe('`HookInput` of `@anthropic-ai/claude-agent-sdk`. Other fields are ignored.'),
  {
    session_id: '0b4c4a1e-7d2f-4f6e-9a53-1d6b1f1f7a11',
    transcript_path: '/home/me/.claude/projects/app/0b4c4a1e.jsonl',
    cwd: '/home/me/app',
    hook_event_name: 'PreToolUse',
    tool_name: 'Agent',
    tool_input: {
      subagent_type: 'general-purpose',
      description: 'Document the functions',
      prompt: 'Do what your brief says.\nmuster-task: 0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31',
    },
    tool_use_id: 'toolu_01A',
  },
)

export function toHookCall(input: z.output<typeof hookInputSchema>): HookCall {
  return {
    event: input.hook_event_name,
    sessionId: input.session_id,
    agentId: input.agent_id ?? null,
    agentType: input.agent_type ?? null,
    toolName: input.tool_name ?? null,
    toolInput: input.tool_input,
    toolUseId: input.tool_use_id ?? null,
    toolResponse: input.tool_response,
    cwd: input.cwd ?? null,
    error: input.error ?? null,
    lastAssistantMessage: input.last_assistant_message ?? null,
    isStopHookActive: input.stop_hook_active === true,
  }
}

export const hookAnswerSchema = component(
  'ClaudeCodeHookAnswer',
  z
    .object({
      hookSpecificOutput: component(
        'ClaudeCodeHookOutput',
        z.object({
          hookEventName: z.string(),
          additionalContext: z.string().optional().describe('What is new, for the model to read.'),
          updatedInput: z.record(z.string(), z.unknown()).optional().describe('The input of the Agent tool, with the brief at the end of its prompt.'),
          permissionDecision: z.literal('deny').optional(),
          permissionDecisionReason: z.string().optional(),
        }),
      ).optional(),
      decision: z.literal('block').optional().describe('With Stop and SubagentStop: the agent goes on for one more turn.'),
      reason: z.string().optional().describe('What is new, for that turn.'),
    })
    .describe('`HookJSONOutput` of `@anthropic-ai/claude-agent-sdk`.'),
  { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: '[Task Update: Note]\n…' } },
)

export function presentHookAnswer({ event, denied, context, updatedInput }: HookAnswer): z.output<typeof hookAnswerSchema> {
  if (event === 'Stop' || event === 'SubagentStop') return { decision: 'block', reason: context }
  const decision = denied === null ? {} : { permissionDecision: 'deny' as const, permissionDecisionReason: denied }
  const added = context === '' ? {} : { additionalContext: context }
  return { hookSpecificOutput: { hookEventName: event, ...added, ...(updatedInput === null ? {} : { updatedInput }), ...decision } }
}

import { z } from 'zod'
import { isOutboundEntry, OUTBOUND_ALLOW_MAX } from '../core/outbound-allow.ts'
import { channelSettings } from '../deliveries/channel-settings.ts'
import { evaluationSettingsSchema } from '../evaluations/settings.ts'
import { loopSettingsSchema } from '../loops/settings.ts'
import { retentionSchema } from '../retention/retention.ts'
import { isTimeZone } from '../schedules/wall-clock.ts'
import { BACKGROUND_MCP_POLICIES } from '../subagents/spawn-policy.ts'
import { ASK_RULES_MAX, isAskRule } from '../tools/ask-rules.ts'
import { agentBudgetSchema, projectBudgetSchema } from '../usage/budgets.ts'

const limit = z.int().min(0).max(10_000_000)
const bytesLimit = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

/** Settings of a project, as they are stored. Absent fields fall back to the server's own. */
export const projectSettingsSchema = z.strictObject({
  limits: z
    .strictObject({
      pending_per_agent: limit.optional(),
      running_per_agent: limit.optional(),
      pending: limit.describe('Of all agents together; SUBTASK_PROJECT_MAX_PENDING of the server where it is absent').optional(),
      running: limit.describe('Of all agents together; SUBTASK_PROJECT_MAX_CONCURRENT of the server where it is absent').optional(),
      stored_bytes: bytesLimit.describe('Bytes that the project may store; PROJECT_STORED_BYTES_CEILING of the server where it is absent').optional(),
      run_stored_bytes: bytesLimit.describe('Bytes that one run may store; RUN_STORED_BYTES_CEILING of the server where it is absent').optional(),
      agents: z
        .record(z.string().min(1).max(128), z.strictObject({ pending: limit.optional(), running: limit.optional(), budget: agentBudgetSchema.optional() }))
        .optional(),
      budget: projectBudgetSchema.describe('What subtasks and judgements may use; without limits where it is absent').optional(),
    })
    .optional(),
  timezone: z
    .string()
    .refine(isTimeZone, {
      error: 'must be the IANA name of a region, such as "America/New_York", or "UTC"; abbreviations and offsets ("EST", "+02:00") do not change their clocks',
    })
    .describe('IANA name, for schedules that name none; UTC where it is absent')
    .optional(),
  background_mcp: z
    .enum(BACKGROUND_MCP_POLICIES)
    .describe('Background sub-agents with MCP tools: reject refuses to start them, strip starts them without the tools. Default: BACKGROUND_MCP of the server')
    .optional(),
  evaluation: evaluationSettingsSchema.describe('By what outputs are judged; what is absent is as in the defaults').optional(),
  ask: z
    .array(z.string().refine(isAskRule, { error: 'must name a tool or some of its uses, such as "Bash(git push:*)" or "mcp__*__delete_*"' }))
    .max(ASK_RULES_MAX)
    .describe('Uses of tools to ask the parent session about before they are executed, beside those of each definition')
    .optional(),
  outbound_allow: z
    .array(z.string().max(253).refine(isOutboundEntry, { error: 'must be an IP address, a range such as "10.0.0.0/8", or the name of a host in lower case' }))
    .max(OUTBOUND_ALLOW_MAX)
    .describe('Addresses besides the public internet that deliveries may reach, as far as OUTBOUND_ALLOW names them as well')
    .optional(),
  ...channelSettings,
  retention_days: retentionSchema.describe('Days for which things are kept; RETENTION_DAYS of the server where it is absent').optional(),
  loops: loopSettingsSchema.describe('When work counts as going in circles, and what happens then').optional(),
})

export type ProjectSettings = z.infer<typeof projectSettingsSchema>

/** The project that exists from the first migration on, for installations that need only one. */
export const DEFAULT_PROJECT_ID = '00000000-0000-7000-8000-000000000001'

export interface Project {
  id: string
  name: string
  settings: ProjectSettings
  createdAt: Date
  /** Another one after every write, also of what is not shown. */
  version: string
}

import { agentBudgetSchema, budgetAmountsSchema, judgeSettingsSchema, type Project, projectSettingsSchema } from '@muster/domain'
import { z } from 'zod'
import type { Answer } from '../../http/endpoint.ts'
import { contentTag } from '../../http/entity-tag.ts'
import { component, requestComponent, storable, text, time, toTime } from '../../http/schemas.ts'

const { evaluation, limits, loops, background_mcp, telegram, slack, email, retention_days } = projectSettingsSchema.shape
const limitFields = limits.unwrap().shape
const agentLimits = limitFields.agents.unwrap().valueType
component('ProjectLimits', limits.unwrap())
component('ProjectBudget', limitFields.budget.unwrap())
component('AgentLimits', agentLimits)
component('AgentBudget', agentBudgetSchema)
component('BudgetAmounts', budgetAmountsSchema)
component('LoopSettings', loops.unwrap())
component('LoopAction', loops.unwrap().shape.action.unwrap())
component('BackgroundMcpPolicy', background_mcp.unwrap())
component('EvaluationGates', evaluation.unwrap().shape.gates.unwrap())
component('JudgeSettings', judgeSettingsSchema)
// The channels share their rules.
component('MessageOccasion', telegram.unwrap().shape.on.element)
component('QuietHours', telegram.unwrap().shape.quiet_hours.unwrap())
component('TelegramSettings', telegram.unwrap())
component('SlackSettings', slack.unwrap())
component('EmailSettings', email.unwrap())
component('RetentionDays', retention_days.unwrap())
component('EvaluationSettings', evaluation.unwrap(), {
  approve_at: 0.85,
  threshold: 0.6,
  weights: { refactor: 0 },
  gates: { security: true },
  judge: false,
})

const settingsSchema = component('ProjectSettings', storable(projectSettingsSchema).describe('What is absent is as in the defaults of the server.'))

export const projectSchema = component(
  'Project',
  z.object({
    id: z.uuid(),
    name: z.string(),
    settings: settingsSchema,
    created_at: time(),
  }),
  {
    id: '00000000-0000-7000-8000-000000000001',
    name: 'default',
    settings: { limits: { running_per_agent: 5, agents: { 'docs-writer': { running: 2 } } }, timezone: 'America/New_York', evaluation: { threshold: 0.5 } },
    created_at: '2026-03-01T09:00:00.000Z',
  },
)

export const projectPatchSchema = requestComponent(
  'ProjectPatch',
  z.strictObject({
    name: text(128).optional(),
    settings: settingsSchema.optional().describe('Replaces the settings as a whole.'),
  }),
  { settings: { limits: { pending_per_agent: 100, running_per_agent: 5 }, evaluation: { approve_at: 0.85, gates: { security: true } } } },
)

/** Changes with every write: one of a secret shows nowhere else. */
export const projectTag = (project: Project): string => contentTag(`${JSON.stringify(presentProject(project))} ${project.version}`)

export function projectAnswer(project: Project): Answer {
  return { status: 200, headers: { etag: projectTag(project) }, body: presentProject(project) }
}

function presentProject(project: Project): z.output<typeof projectSchema> {
  return { id: project.id, name: project.name, settings: project.settings, created_at: toTime(project.createdAt) }
}

import {
  cutToCodePoints,
  defaultRunner,
  isTerminal,
  SUBAGENT_SOURCES,
  type SubagentDefinition,
  type SubagentProblem,
  type Subtask,
  type ToolAnswer,
  toolWarnings,
} from '@muster/domain'
import type { PutSubagent, SubagentList, SubagentSummary } from '@muster/usecases'
import { z } from 'zod'
import type { ApiDeps } from '../../api-deps.ts'
import { contentTag } from '../../http/entity-tag.ts'
import { component, printableId, requestComponent, text } from '../../http/schemas.ts'
import { newSubtaskSchema } from '../subtasks/new-subtask-schema.ts'
import { durationMs } from '../subtasks/subtask-schema.ts'

const EXAMPLE_NAME = 'memory-specialist'
/** More of a result is read at its subtask. The last character says that there is more. */
const SUMMARY_LENGTH_MAX = 4_000

/** Whatever can stand in a path: what is no name of a sub-agent is one that there is none of, in whichever way it is spelt. */
export const subagentParams = z.strictObject({
  name: z
    .string()
    .min(1)
    .describe('Name of the sub-agent: at most 64 lower-case letters, digits and dashes, starting with a letter; or Explore, Plan, general-purpose.')
    .meta({ examples: [EXAMPLE_NAME] }),
})

export const subagentMarkdownSchema = requestComponent(
  'SubagentMarkdown',
  z.string().describe('Front matter as in Claude Code with the instructions below, or the sections `## Role`, `## Model`, `## Allowed Tools`, `## Protocol`.'),
  '---\ndescription: Answers from memory, quickly.\nmodel: haiku\ntools: Read, Grep, recall_deep, learn_fact\ntarget_latency_ms: 500\n---\n\nAnswer from what is remembered, in at most three sentences.\n',
)

const sourceSchema = component(
  'SubagentSource',
  z.enum(SUBAGENT_SOURCES).describe('For one name, the API takes precedence over files, and files over built-in definitions.'),
)

export const problemSchema = component(
  'SubagentProblem',
  z.object({ line: z.int().describe('The line in the text, starting at 1.'), field: z.string(), pointer: z.string(), reason: z.string() }),
)

const summary = {
  name: z.string(),
  title: z.string().nullable().describe('The original name, if it was changed to a valid one.'),
  description: z.string().describe('What the sub-agent is for. Callers choose a sub-agent by this text.'),
  model: z.string().describe('haiku, sonnet, opus, `inherit` (the default of the runner), or the name of a provider’s model.'),
  tools: z.array(z.string()).describe('Allowed tools, as rules: `Read`, `Bash(git:*)`, `mcp__server__*`; `*` allows every tool.'),
  disallowed_tools: z.array(z.string()).describe('Denied tools. They take precedence over `tools`.'),
  ask: z.array(z.string()).describe('Uses of tools that are asked about before they are executed.'),
  definition_path: z.string().nullable(),
  version: z.int().describe('The version that a run started now would use.'),
  source: sourceSchema,
  target_latency_ms: z.int().nullable().describe('The target duration; the run is not stopped.'),
  max_turns: z.int().nullable().describe('The maximum number of model requests of one run.'),
  background: z.boolean().describe('Whether it always runs in the background.'),
  mcp_servers: z.array(z.string()),
  skills: z.array(z.string()),
  callback_url: z.string().nullable().describe('Where the end of each run is sent to that names no callback itself. Its secret is not shown.'),
  unknown_keys: z.array(z.string()).describe('Front matter keys that Muster does not use. They are kept.'),
}

const EXAMPLE_SUMMARY = {
  name: EXAMPLE_NAME,
  title: null,
  description: 'Answers from memory, quickly.',
  model: 'haiku',
  tools: ['Read', 'Grep', 'recall_deep', 'learn_fact'],
  disallowed_tools: [],
  ask: [],
  definition_path: null,
  version: 1,
  source: 'api' as const,
  target_latency_ms: 500,
  max_turns: null,
  background: false,
  mcp_servers: [],
  skills: [],
  callback_url: null,
  unknown_keys: [],
}
const EXAMPLE = { ...EXAMPLE_SUMMARY, instructions: 'Answer from what is remembered, in at most three sentences.' }

const subagentSummarySchema = component('SubagentSummary', z.object(summary), EXAMPLE_SUMMARY)

export const subagentSchema = component(
  'Subagent',
  z.object({
    ...summary,
    instructions: z.string(),
    runner: z.string().nullable().describe('The runner of a run that names none; null if no runner can run sub-agents.'),
    warnings: z.array(z.string()).describe('Tools that the definition lists and a run by that runner does not have.'),
  }),
  { ...EXAMPLE, runner: 'ai', warnings: [] },
)

export const putSubagentSchema = component(
  'PutSubagent',
  z.object({ ...summary, instructions: z.string(), warnings: z.array(problemSchema).describe('Possible mistakes in the definition.') }),
  { ...EXAMPLE, warnings: [] },
)

const brokenSchema = component('BrokenSubagent', z.object({ name: z.string(), errors: z.array(problemSchema) }))

export const subagentListSchema = component(
  'SubagentList',
  z.object({
    items: z.array(subagentSummarySchema),
    next_cursor: z.string().nullable(),
    broken: z.array(brokenSchema).describe('All unusable files, on every page.'),
  }),
  { items: [EXAMPLE_SUMMARY], next_cursor: null, broken: [] },
)

const WAIT_SECONDS_MAX = 60

export const subagentSpawnSchema = requestComponent(
  'SubagentSpawn',
  z.strictObject({
    prompt: text(100_000).describe('The instructions, complete: the sub-agent has only its definition besides.'),
    description: text(200).describe('For people; stored as `metadata.description` of the subtask.'),
    model: newSubtaskSchema.shape.model.describe('Overrides the model of the definition.'),
    run_in_background: z.boolean().default(false).describe('Return without waiting. In the background, only Muster’s own MCP tools are available.'),
    resume: z.uuid().nullish().describe('An ended subtask of the same sub-agent that the new one continues.'),
    wait_seconds: z.number().min(0).max(WAIT_SECONDS_MAX).optional().describe('Seconds to wait for the end. Default: 60, in the background 0.'),
    agent_id: printableId('The agent on whose behalf it runs. Default: that of `resume`, else `default`.', 'default').optional(),
    parent_session_id: newSubtaskSchema.shape.parent_session_id,
    timeout_seconds: newSubtaskSchema.shape.timeout_seconds,
    runner: newSubtaskSchema.shape.runner,
    callback: newSubtaskSchema.shape.callback,
  }),
  { prompt: 'What is known of the release of 2 March?', description: 'Look up the release', run_in_background: false },
)

export const spawnResultSchema = component(
  'SpawnResult',
  z.object({
    success: z.boolean().describe('Whether the subtask completed. True while it has not ended.'),
    subagent_type: z.string(),
    summary: z.string().nullable().describe('The summary of the result, otherwise the result, cut to 4,000 characters. Null until the end.'),
    duration_ms: z.int().describe('As of the subtask; 0 until it has ended.'),
    background: z.boolean(),
    error: z.string().nullable().describe('Why the subtask did not complete.'),
    subtask_id: z.uuid(),
    runner: z.string(),
    runner_reason: z.string().optional().describe('Why this runner, in one sentence.'),
    warnings: z.array(z.string()).describe('Tools that the definition lists and this run does not have.'),
  }),
  {
    success: true,
    subagent_type: EXAMPLE_NAME,
    summary: 'The release of 2 March was put off for a day.',
    duration_ms: 420,
    background: false,
    error: null,
    subtask_id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47',
    runner: 'ai',
    runner_reason: 'A model provider is set.',
    warnings: [],
  },
)

export const toolCheckSchema = requestComponent(
  'ToolCheck',
  z.strictObject({
    tool_name: text(4_000).describe('The name of a tool, or one use of it, as in `Bash(git status)`.'),
    background: z.boolean().default(false).describe('Whether the run is in the background.'),
  }),
  { tool_name: 'mcp__github__create_issue', background: true },
)

export const toolAnswerSchema = component(
  'ToolAnswer',
  z.object({
    allowed: z.boolean(),
    reason: z.string(),
    always_allowed: z.array(z.string()).describe('Tools that are always allowed in the background.'),
  }),
  { allowed: false, reason: 'No MCP tool works in the background, but mcp__muster__get_task.', always_allowed: ['Read', 'Grep', 'Glob'] },
)

function presentSubagent(definition: SubagentDefinition, runner: string | null, warnings: string[]): z.output<typeof subagentSchema> {
  return { ...presentSubagentSummary(definition), instructions: definition.instructions, runner, warnings }
}

/** A definition as it is read here: with the runner of its runs, and what that lacks. */
export function readSubagent({ runners, settings }: ApiDeps, definition: SubagentDefinition): z.output<typeof subagentSchema> {
  const runner = defaultRunner(runners(), { subagent: true, configured: settings.DEFAULT_RUNNER })?.runner.name ?? null
  const warnings = runner === null ? [] : toolWarnings(definition, { runner, background: definition.background, settings })
  return presentSubagent(definition, runner, warnings)
}

export const subagentTag = (deps: ApiDeps, definition: SubagentDefinition): string => contentTag(JSON.stringify(readSubagent(deps, definition)))

export function presentPut({ definition, warnings }: PutSubagent): z.output<typeof putSubagentSchema> {
  return { ...presentSubagentSummary(definition), instructions: definition.instructions, warnings: warnings.map(presentProblem) }
}

export function presentSubagentList({ items, nextCursor, broken }: SubagentList): z.output<typeof subagentListSchema> {
  return {
    items: items.map(presentSubagentSummary),
    next_cursor: nextCursor,
    broken: broken.map(({ name, problems }) => ({ name, errors: problems.map(presentProblem) })),
  }
}

function presentSubagentSummary(definition: SubagentSummary): z.output<typeof subagentSummarySchema> {
  return {
    name: definition.name,
    // Versions that were stored before titles have none.
    title: definition.title ?? null,
    description: definition.description,
    model: definition.model,
    tools: definition.tools,
    disallowed_tools: definition.disallowedTools,
    ask: definition.ask ?? [],
    definition_path: definition.definitionPath,
    version: definition.version,
    source: definition.source,
    target_latency_ms: definition.targetLatencyMs,
    max_turns: definition.maxTurns,
    background: definition.background,
    mcp_servers: definition.mcpServers,
    skills: definition.skills,
    callback_url: definition.callback?.url ?? null,
    unknown_keys: definition.unknownKeys,
  }
}

export function presentProblem({ line, field, pointer, reason }: SubagentProblem): z.output<typeof problemSchema> {
  return { line, field, pointer, reason }
}

export function presentSpawn(subtask: Subtask): z.output<typeof spawnResultSchema> {
  const { status, summary, result } = subtask
  const hasEnded = isTerminal(status)
  return {
    success: !hasEnded || status === 'completed',
    subagent_type: subtask.subagentName as string,
    summary: hasEnded ? (summary ?? (result === null ? null : cutToCodePoints(result, SUMMARY_LENGTH_MAX - 1))) : null,
    duration_ms: durationMs(subtask) ?? 0,
    background: subtask.background,
    error: subtask.error ?? (status === 'cancelled' ? 'It was cancelled.' : null),
    subtask_id: subtask.id,
    runner: subtask.runner,
    ...(subtask.runnerReason === undefined ? {} : { runner_reason: subtask.runnerReason }),
    warnings: subtask.warnings ?? [],
  }
}

export function presentToolAnswer({ allowed, reason, alwaysAllowed }: ToolAnswer): z.output<typeof toolAnswerSchema> {
  return { allowed, reason, always_allowed: alwaysAllowed }
}

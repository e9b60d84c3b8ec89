import { cutToCodePoints, isTerminal, SUBAGENT_SOURCES, type SubagentDefinition, type SubagentProblem, type Subtask, type ToolAnswer } from '@muster/domain'
import type { PutSubagent, SubagentList, SubagentSummary } from '@muster/usecases'
import { z } from 'zod'
import { component, requestComponent } from '../../http/components-schemas.ts'
import { printableId, text } from '../../http/fields-schemas.ts'
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
    .describe('Name of the sub-agent: lower-case letters, digits and dashes, at most 64, beginning with a letter; or Explore, Plan, general-purpose.')
    .meta({ examples: [EXAMPLE_NAME] }),
})

export const subagentMarkdownSchema = requestComponent(
  'SubagentMarkdown',
  z
    .string()
    .describe(
      'A definition in either form: front matter as Claude Code has it (`description`, `tools`, `disallowedTools`, `model`, `maxTurns`, `background`, `mcpServers`, `skills`) with the instructions below it, or the sections `## Role`, `## Model`, `## Allowed Tools`, `## Protocol`.',
    ),
  '---\ndescription: Answers from memory, quickly.\nmodel: haiku\ntools: Read, Grep, recall_deep, learn_fact\ntarget_latency_ms: 500\n---\n\nAnswer from what is remembered, in at most three sentences.\n',
)

const sourceSchema = component(
  'SubagentSource',
  z.enum(SUBAGENT_SOURCES).describe('Of definitions of one name, that of the API counts before a file, and that before what Muster brings itself.'),
)

export const problemSchema = component(
  'SubagentProblem',
  z.object({ line: z.int().describe('Of the text, from 1.'), field: z.string(), pointer: z.string(), reason: z.string() }),
)

const summary = {
  name: z.string(),
  title: z.string().nullable().describe('The name as its author wrote it, where that cannot be one here.'),
  description: z.string().describe('What it is for: whoever spawns it chooses by this.'),
  model: z.string().describe('haiku, sonnet, opus, `inherit` for the default of the runner, or what a provider calls its model.'),
  tools: z.array(z.string()).describe('What it may use, as rules: `Read`, `Bash(git:*)`, `mcp__server__*`; `*` is everything.'),
  disallowed_tools: z.array(z.string()).describe('What it may not use, whatever `tools` says.'),
  definition_path: z.string().nullable().describe('The file that it was read from.'),
  version: z.int().describe('The one that a run started now would name. It grows with every change that is put or run.'),
  source: sourceSchema,
  target_latency_ms: z.int().nullable().describe('A run that takes longer says so in its last event, and is not ended.'),
  max_turns: z.int().nullable().describe('Model requests of one run, at most.'),
  background: z.boolean().describe('Whether it runs in the background even where nobody asks for it.'),
  mcp_servers: z.array(z.string()),
  skills: z.array(z.string()),
  unknown_keys: z.array(z.string()).describe('Keys of the front matter that mean nothing here, and are kept.'),
}

const EXAMPLE_SUMMARY = {
  name: EXAMPLE_NAME,
  title: null,
  description: 'Answers from memory, quickly.',
  model: 'haiku',
  tools: ['Read', 'Grep', 'recall_deep', 'learn_fact'],
  disallowed_tools: [],
  definition_path: null,
  version: 1,
  source: 'api' as const,
  target_latency_ms: 500,
  max_turns: null,
  background: false,
  mcp_servers: [],
  skills: [],
  unknown_keys: [],
}
const EXAMPLE = { ...EXAMPLE_SUMMARY, instructions: 'Answer from what is remembered, in at most three sentences.' }

const subagentSummarySchema = component('SubagentSummary', z.object(summary), EXAMPLE_SUMMARY)

export const subagentSchema = component(
  'Subagent',
  z.object({
    ...summary,
    instructions: z.string(),
    runner: z.string().nullable().describe('The runner that a run gets where it names none; null where there is none for sub-agents.'),
    warnings: z.array(z.string()).describe('Tools that the definition lists and a run in the foreground by that runner will not have, a sentence each.'),
  }),
  { ...EXAMPLE, runner: 'ai', warnings: [] },
)

export const putSubagentSchema = component(
  'PutSubagent',
  z.object({ ...summary, instructions: z.string(), warnings: z.array(problemSchema).describe('What its author may not have meant.') }),
  { ...EXAMPLE, warnings: [] },
)

const brokenSchema = component(
  'BrokenSubagent',
  z.object({ name: z.string(), errors: z.array(problemSchema) }).describe('A file that cannot be used: asking for it answers `subagent_invalid`.'),
)

export const subagentListSchema = component(
  'SubagentList',
  z.object({
    items: z.array(subagentSummarySchema),
    next_cursor: z.string().nullable().describe('Pass as `cursor` to read on; null on the last page.'),
    broken: z.array(brokenSchema).describe('Files that cannot be used, all of them on every page.'),
  }),
  { items: [EXAMPLE_SUMMARY], next_cursor: null, broken: [] },
)

const WAIT_SECONDS_MAX = 60

export const subagentSpawnSchema = requestComponent(
  'SubagentSpawn',
  z.strictObject({
    prompt: text(100_000).describe('What to do, complete in itself: the sub-agent knows nothing else but its definition.'),
    description: text(200).describe('The same in a few words, for people; kept as `metadata.description` of the subtask.'),
    model: newSubtaskSchema.shape.model.describe('In place of the model of the definition.'),
    run_in_background: z.boolean().default(false).describe('Nobody waits for it, and no MCP tool works in it but those of Muster for sub-agents.'),
    resume: z.uuid().nullish().describe('An ended subtask of the same sub-agent, which the new one goes on from.'),
    wait_seconds: z.number().min(0).max(WAIT_SECONDS_MAX).optional().describe('How long to wait for its end. Default: 60, and in the background 0.'),
    agent_id: printableId('The agent on whose behalf it runs. Default: that of `resume`, else `default`.', 'default').optional(),
    parent_session_id: newSubtaskSchema.shape.parent_session_id,
    timeout_seconds: newSubtaskSchema.shape.timeout_seconds,
    runner: newSubtaskSchema.shape.runner,
  }),
  { prompt: 'What is known of the release of 2 March?', description: 'Look up the release', run_in_background: false },
)

export const spawnResultSchema = component(
  'SpawnResult',
  z.object({
    success: z.boolean().describe('Of one that has ended, whether it completed; else true, since it was accepted.'),
    subagent_type: z.string().describe('Its name.'),
    summary: z
      .string()
      .nullable()
      .describe('What it says of its result, else the result, cut to 4,000 characters; null until it has ended. The whole is at its subtask.'),
    duration_ms: z.int().describe('From the start of its first attempt to its end, without the time for which it had no live worker; 0 until it has ended.'),
    background: z.boolean(),
    error: z.string().nullable().describe('Why it did not complete.'),
    subtask_id: z.uuid().describe('The subtask that it is: follow, steer or cancel it there.'),
    runner: z.string().describe('The runner that it was given to.'),
    runner_reason: z.string().optional().describe('Why this runner, in one sentence.'),
    warnings: z.array(z.string()).describe('Tools that the definition lists and this run will not have, a sentence each.'),
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
    tool_name: text(4_000).describe('A tool by its name, or one use of it, as in `Bash(git status)`.'),
    background: z.boolean().default(false).describe('Whether the run is in the background.'),
  }),
  { tool_name: 'mcp__github__create_issue', background: true },
)

export const toolAnswerSchema = component(
  'ToolAnswer',
  z.object({
    allowed: z.boolean(),
    reason: z.string(),
    always_allowed: z.array(z.string()).describe('What needs no list in the background.'),
  }),
  { allowed: false, reason: 'No MCP tool works in the background, but mcp__muster__get_task.', always_allowed: ['Read', 'Grep', 'Glob'] },
)

export function presentSubagent(definition: SubagentDefinition, runner: string | null, warnings: string[]): z.output<typeof subagentSchema> {
  return { ...presentSubagentSummary(definition), instructions: definition.instructions, runner, warnings }
}

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
    definition_path: definition.definitionPath,
    version: definition.version,
    source: definition.source,
    target_latency_ms: definition.targetLatencyMs,
    max_turns: definition.maxTurns,
    background: definition.background,
    mcp_servers: definition.mcpServers,
    skills: definition.skills,
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

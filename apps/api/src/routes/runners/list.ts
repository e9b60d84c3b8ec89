import type { RunnerDescription } from '@muster/runners'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { component } from '../../http/schemas.ts'

const runnerSchema = component(
  'Runner',
  z.object({
    name: z.string(),
    available: z.boolean(),
    default: z.boolean().describe('True for the runner of a subtask that names no runner and no sub-agent.'),
    default_for_subagents: z.boolean().describe('True for the runner of a sub-agent whose caller names none.'),
    follows_definitions: z.boolean().describe('Whether it applies the definition of a sub-agent. Only such runners run sub-agents.'),
    missing: z.array(z.string()).describe('What the operator must install or set before the runner is available.'),
    steerable: z.boolean().describe('Whether updates reach a subtask that is already running.'),
    version: z.string().optional().describe('For claude-code: the version of the program, once known.'),
    sandbox: component('RunnerSandbox', z.enum(['program', 'commands', 'none'])).describe(
      'What of a run is confined: the whole program, the commands that its model runs, or nothing.',
    ),
    sandbox_problem: z.string().optional().describe('Why nothing is confined, where something could be. See docs/sandbox.md.'),
    sandbox_limits: component(
      'SandboxLimits',
      z.object({
        memory_bytes: z.number().int().nullable().describe('Null: not limited.'),
        processes: z.number().int().nullable().describe('Processes and threads at once. Null: not limited.'),
        problem: z.string().nullable().describe('Which setting does not hold on this machine, and why.'),
      }),
    )
      .optional()
      .describe('What everything in one sandbox may use together. Absent where nothing is confined.'),
  }),
  { name: 'scout', available: true, default: true, default_for_subagents: false, follows_definitions: false, missing: [], steerable: true, sandbox: 'program' },
)

const runnerListSchema = component('RunnerList', z.object({ items: z.array(runnerSchema) }), {
  items: [
    {
      name: 'scout',
      available: true,
      default: true,
      default_for_subagents: false,
      follows_definitions: false,
      missing: [],
      steerable: true,
      sandbox: 'program',
    },
    {
      name: 'external',
      available: true,
      default: false,
      default_for_subagents: false,
      follows_definitions: true,
      missing: [],
      steerable: true,
      sandbox: 'none',
    },
  ],
})

function presentRunner(runner: RunnerDescription): z.output<typeof runnerSchema> {
  const {
    name,
    available,
    default: isDefault,
    defaultForSubagents,
    followsDefinitions,
    missing,
    steerable,
    version,
    sandbox,
    sandboxProblem,
    sandboxLimits: limits,
  } = runner
  const defaults = { default: isDefault, default_for_subagents: defaultForSubagents, follows_definitions: followsDefinitions }
  return {
    name,
    available,
    ...defaults,
    missing: [...missing],
    steerable,
    ...(version !== undefined && { version }),
    sandbox,
    ...(sandboxProblem !== undefined && { sandbox_problem: sandboxProblem }),
    ...(limits !== undefined && { sandbox_limits: { memory_bytes: limits.memoryBytes, processes: limits.processes, problem: limits.problem } }),
  }
}

export const listRunnersEndpoint = endpoint({
  operationId: 'listRunners',
  method: 'GET',
  path: '/runners',
  tag: 'Runners',
  summary: 'List the runners',
  description: 'The runners of this server, and what unavailable runners lack.',
  access: 'subtasks:read',
  answers: { 200: { description: 'All runners.', schema: runnerListSchema } },
  handle: async ({ deps }) => deps.runners(),
  answer: (runners) => ({ status: 200, body: { items: runners.map(presentRunner) } }),
})

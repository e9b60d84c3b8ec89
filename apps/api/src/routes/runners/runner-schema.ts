import type { RunnerDescription } from '@muster/runners'
import { z } from 'zod'
import { component } from '../../http/components-schemas.ts'

const runnerSchema = component(
  'Runner',
  z.object({
    name: z.string(),
    available: z.boolean(),
    default: z.boolean().describe('True for the runner of a plain subtask that names none.'),
    default_for_subagents: z.boolean().describe('True for the runner of a sub-agent that names none. Where no runner has it, a sub-agent has to name one.'),
    follows_definitions: z
      .boolean()
      .describe('Whether it acts on the role, the instructions and the tools of a sub-agent definition. Only such a runner is given sub-agents.'),
    missing: z.array(z.string()).describe('What the operator has to install or set before it can run anything.'),
    steerable: z.boolean().describe('Whether updates reach a subtask that is already running.'),
    version: z.string().optional().describe('Of claude-code: which version the program says that it is, once it has been asked.'),
  }),
  { name: 'scout', available: true, default: true, default_for_subagents: false, follows_definitions: false, missing: [], steerable: true },
)

export const runnerListSchema = component('RunnerList', z.object({ items: z.array(runnerSchema) }), {
  items: [
    { name: 'scout', available: true, default: true, default_for_subagents: false, follows_definitions: false, missing: [], steerable: true },
    { name: 'external', available: true, default: false, default_for_subagents: false, follows_definitions: true, missing: [], steerable: true },
  ],
})

export function presentRunner(runner: RunnerDescription): z.output<typeof runnerSchema> {
  const { name, available, default: isDefault, defaultForSubagents, followsDefinitions, missing, steerable, version } = runner
  const defaults = { default: isDefault, default_for_subagents: defaultForSubagents, follows_definitions: followsDefinitions }
  return { name, available, ...defaults, missing: [...missing], steerable, ...(version !== undefined && { version }) }
}

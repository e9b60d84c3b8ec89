import type { RunnerDescription } from '@muster/runners'
import { z } from 'zod'
import { component } from './components.ts'

const runnerSchema = component(
  'Runner',
  z.object({
    name: z.string(),
    available: z.boolean(),
    default: z.boolean().describe('True for the runner of a subtask that names none.'),
    missing: z.array(z.string()).describe('What the operator has to install or set before it can run anything.'),
    steerable: z.boolean().describe('Whether updates reach a subtask that is already running.'),
    version: z.string().optional().describe('Of claude-code: which version the program says that it is, once it has been asked.'),
  }),
  { name: 'scout', available: true, default: true, missing: [], steerable: true },
)

export const runnerListSchema = component('RunnerList', z.object({ items: z.array(runnerSchema) }), {
  items: [
    { name: 'scout', available: true, default: true, missing: [], steerable: true },
    { name: 'external', available: true, default: false, missing: [], steerable: true },
  ],
})

export function presentRunner(runner: RunnerDescription): z.output<typeof runnerSchema> {
  const { name, available, default: isDefault, missing, steerable, version } = runner
  return { name, available, default: isDefault, missing: [...missing], steerable, ...(version !== undefined && { version }) }
}

/**
 * Spawns subtasks as an API process does, with everything that goes on in the background of one, but without HTTP: so that the
 * moment of the commit is known to this process, and the same is measured of peers, which have no API.
 */
import { createBackground } from '@muster/api/background'
import { createDeps } from '@muster/api/deps'
import { parseProcessSettings } from '@muster/domain'
import { createApiKey, createSubtask, openActor } from '@muster/usecases'
import pino from 'pino'
import { type Load, produceAtRate } from '../instrument/open-loop.ts'
import { serve } from '../instrument/serve.ts'

export interface Spawning {
  /** Agents that take turns. */
  agents: string[]
  metadata?: Record<string, unknown>
}

const settings = parseProcessSettings(process.env)
const stopping = new AbortController()
const log = pino({ level: settings.LOG_LEVEL, base: { process: 'api' } })
const deps = createDeps({ settings, environment: process.env, log, stopping: stopping.signal })
const background = createBackground(deps)
await background.start()
const ctx = { ...deps, actor: openActor() }

async function spawn({ agents, metadata }: Spawning, index: number): Promise<string> {
  const agentId = agents[index % agents.length] as string
  const subtask = await createSubtask(ctx, { task: 'Do nothing, and say so.', agentId, runner: 'noop', parentSessionId: `session-${agentId}`, metadata })
  return subtask.id
}

serve(
  {
    load: ({ perSecond, seconds, ...spawning }: Spawning & { perSecond: number; seconds: number }): Promise<Load> =>
      produceAtRate(perSecond, seconds, (index) => spawn(spawning, index)),
    /** Those of an agent one after the other, so that they are in order; of all agents at once. */
    async spawn({ count, ...spawning }: Spawning & { count: number }): Promise<string[]> {
      const ids: string[] = []
      while (ids.length < count) {
        const first = ids.length
        const atOnce = Math.min(spawning.agents.length, count - first)
        ids.push(...(await Promise.all(Array.from({ length: atOnce }, (_, place) => spawn(spawning, first + place)))))
      }
      return ids
    },
    /** Follows the event log from now on, as an API process does while a stream is open. */
    async follow() {
      deps.feed.subscribe({ projectId: ctx.actor.projectId }, () => {})
      await deps.feed.ready()
    },
    createKey: async () =>
      (await createApiKey(ctx, { name: 'bench', scopes: ['subtasks:read', 'events:read', 'subtasks:write', 'tasks:read', 'tasks:write', 'sessions:write'] }))
        .secret,
  },
  async () => {
    stopping.abort()
    await background.stop()
    await deps.close()
  },
)

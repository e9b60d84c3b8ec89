import { isTerminal, type Subtask } from '@muster/domain'
import { getSpawned, Replay, spawnSubagent } from '@muster/usecases'
import { type Answer, endpoint } from '../../http/endpoint.ts'
import { pickRunner, requireTimeout, SPAWN_ERRORS } from '../subtasks/new-subtask-schema.ts'
import { inTimeForLook, onlyAccepted, spawnAndWait, WAIT_BODY_DEADLINE_MS, WAIT_DEADLINE_MS, WAIT_SECONDS_MAX } from '../subtasks/wait-for-end.ts'
import { presentSpawn, spawnResultSchema, subagentParams, subagentSpawnSchema } from './subagent-schema.ts'

const toAnswer = (subtask: Subtask): Answer => ({
  status: isTerminal(subtask.status) ? 200 : 202,
  headers: { location: `/subtasks/${subtask.id}` },
  body: presentSpawn(subtask),
})

const LOCATION = ['Location'] as const

export const spawnSubagentEndpoint = endpoint({
  operationId: 'spawnSubagent',
  method: 'POST',
  path: '/subagents/{name}/spawn',
  tag: 'Sub-agents',
  summary: 'Spawn a sub-agent',
  description: 'Starts a sub-agent as a subtask, in the current version of its definition, and waits up to `wait_seconds` for its end.',
  access: 'subagents:spawn',
  spawns: true,
  params: subagentParams,
  body: subagentSpawnSchema,
  answers: {
    200: { description: 'The sub-agent has ended, with its result.', schema: spawnResultSchema, headers: LOCATION },
    202: { description: 'Accepted and stored; the sub-agent has not ended yet.', schema: spawnResultSchema, headers: LOCATION },
  },
  errors: [...SPAWN_ERRORS, 'pending_limit_reached', 'budget_exhausted', 'not_found', 'invalid_transition', 'subtasks_disabled'],
  deadlineMs: WAIT_DEADLINE_MS,
  bodyDeadlineMs: WAIT_BODY_DEADLINE_MS,
  async handle({ ctx, deps, params, body, gone, elapsedMs, authorizeAgain }) {
    const { wait_seconds } = body
    const wait = async (subtask: Subtask): Promise<Subtask> => {
      const waitMs = (wait_seconds ?? (subtask.background ? 0 : WAIT_SECONDS_MAX)) * 1_000
      if (waitMs === 0 || isTerminal(subtask.status)) return subtask
      const read = () => getSpawned(ctx, subtask.id)
      return await spawnAndWait(deps, subtask.id, () => Promise.resolve(subtask), read, { ms: waitMs, gone: gone(), authorizeAgain })
    }
    requireTimeout(deps, body.timeout_seconds)
    try {
      const spawning = spawnSubagent(ctx, params.name, {
        prompt: body.prompt,
        description: body.description,
        model: body.model ?? undefined,
        runInBackground: body.run_in_background,
        resume: body.resume ?? undefined,
        agentId: body.agent_id,
        parentSessionId: body.parent_session_id ?? undefined,
        timeoutSeconds: body.timeout_seconds,
        runner: pickRunner(deps, body.runner),
        callback: body.callback,
      })
      return await wait(await inTimeForLook(spawning, elapsedMs()))
    } catch (error) {
      if (!(error instanceof Replay)) throw error
      const { subtask_id, runner_reason, warnings } = error.answer.body as { subtask_id: string; runner_reason?: string; warnings?: string[] }
      const accepted = onlyAccepted({ runnerReason: runner_reason, warnings })
      const { status, headers = {}, body: replayed } = toAnswer(await wait({ ...(await inTimeForLook(getSpawned(ctx, subtask_id))), ...accepted }))
      throw new Replay({ status, headers, body: replayed })
    }
  },
  answer: toAnswer,
})

import { subtasks, type Tx } from '@muster/db'
import { DomainError, isTerminal, notFound, requireFound, requireScope, requireSpawnAllowed, type Subtask } from '@muster/domain'
import { type Ctx, inProject, reading } from '../core/ctx.ts'
import { engageSubagent } from '../subagents/engage-subagent.ts'
import { insertWithCallback, type NewSubtask, prepareRun } from './create-subtask.ts'

/** What a sub-agent is to do, and how. [S10] TaskToolParams */
export interface SubagentSpawn extends Pick<NewSubtask, 'agentId' | 'parentSessionId' | 'timeoutSeconds' | 'runner' | 'model' | 'callback'> {
  prompt: string
  /** A few words for people, kept as `metadata.description`. */
  description: string
  runInBackground: boolean
  /** An ended subtask of the same sub-agent, which the new one goes on from. */
  resume?: string | undefined
}

/**
 * Starts a sub-agent. Only the caller and the definition decide whether it may run. [S10] spawn
 *
 * @throws DomainError `spawn_blocked`, `subagent_not_found`, `subagent_invalid`, `background_mcp_blocked`, `subtasks_disabled`,
 *   `pending_limit_reached`; of `resume` `not_found`, `invalid_transition` while it goes on, `validation_failed` for one of another sub-agent
 */
export async function spawnSubagent(ctx: Ctx, name: string, input: SubagentSpawn): Promise<Subtask> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'subagents:spawn')
  return await inProject(ctx, async (tx) => {
    const earlier = input.resume === undefined ? null : await requireResumable(tx, name, input.resume)
    const { prompt: task, description, runInBackground, runner, model, timeoutSeconds } = input
    const prepared = prepareRun(
      ctx,
      {
        task,
        timeoutSeconds,
        agentId: input.agentId ?? earlier?.agentId,
        parentSessionId: input.parentSessionId ?? earlier?.parentSessionId ?? undefined,
        metadata: { description },
      },
      'subagents:spawn',
    )
    const choice = { name, model: model ?? null, runner, runInBackground }
    const row = await engageSubagent(ctx, tx, { ...prepared, resumeOf: earlier?.id ?? null }, choice)
    return await insertWithCallback(ctx, tx, { row }, input.callback)
  })
}

async function requireResumable(tx: Tx, name: string, id: string): Promise<Subtask> {
  const earlier = requireFound(await subtasks.findSubtask(tx, id), 'subtask to resume')
  if (earlier.subagentName !== name) {
    const of = earlier.subagentName === null ? 'of no sub-agent' : `of ${earlier.subagentName}`
    const reason = `is a subtask ${of}, and ${name} can go on from its own alone`
    throw new DomainError('validation_failed', `The request has a problem: resume ${reason}.`, {
      errors: [{ pointer: '/resume', field: 'resume', reason, value: id }],
    })
  }
  if (!isTerminal(earlier.status)) {
    const message = 'The subtask to resume has not ended yet. Wait for it, or send it an update.'
    throw new DomainError('invalid_transition', message, { status_now: earlier.status, subtask_id: id })
  }
  return earlier
}

/** The state of a spawn, for its caller. @throws DomainError `not_found` */
export async function getSpawned(ctx: Ctx, id: string): Promise<Subtask> {
  requireScope(ctx.actor, 'subagents:spawn')
  const subtask = await reading(ctx, (tx) => subtasks.findSubtask(tx, id))
  if (subtask === null || subtask.subagentName === null) throw notFound('subtask')
  return subtask
}

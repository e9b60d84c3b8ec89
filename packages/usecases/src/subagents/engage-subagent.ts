import { type NewSubtaskRow, subagents, type Tx } from '@muster/db'
import { decideSpawn, type RunnerChooser, requireFollowsDefinitions, type SpawnDecision, toolWarnings } from '@muster/domain'
import type { Ctx } from '../core/ctx.ts'
import { defineCallback } from '../deliveries/insert-callback.ts'
import { findSubagent, isSameVersion, type Subagent } from './find-subagent.ts'

export interface SubagentChoice {
  name: string
  /** In place of the definition's model. */
  model: string | null
  /** By its name, or to be chosen. */
  runner: string | RunnerChooser
  runInBackground: boolean
}

type AssignedRunner = Pick<NewSubtaskRow, 'runner' | 'runnerReason'>
type Unassigned = Omit<NewSubtaskRow, keyof AssignedRunner>

/** Looks and locks this often: only a definition that is put at this very moment takes a second time. */
const LOOKS_MAX = 5

/**
 * Makes a subtask that is to be inserted a run of a sub-agent: as its definition is now, which is stored as a version of its own where it is
 * not the newest one yet. Takes the lock of the sub-agent's row only for that, so that spawns of an unchanged one do not wait for each other.
 *
 * @throws DomainError what `decideSpawn` refuses: `spawn_blocked`, `subagent_not_found`, `subagent_invalid`, `background_mcp_blocked`,
 *   `validation_failed` for a model that cannot be one; `runner_unavailable` for a runner that does not follow definitions
 */
export async function engageSubagent(ctx: Ctx, tx: Tx, row: Unassigned, choice: SubagentChoice): Promise<NewSubtaskRow> {
  for (let looks = 1; looks <= LOOKS_MAX; looks += 1) {
    const { found, decision, runner } = await decide(ctx, tx, choice)
    const version = await pin(ctx, tx, row.projectId, found)
    if (version === null) continue
    const { background, model } = decision
    // By what the definition lists, with what the policy has removed from it.
    const definition = found.reading.definition ?? decision.definition
    const warnings = toolWarnings(definition, { runner: runner.runner, background, settings: ctx.settings })
    return { ...row, subagentName: choice.name, subagentVersion: version, background, model, ...runner, warnings }
  }
  throw new Error(`the definition of ${choice.name} changes all the time`)
}

/**
 * Whether a sub-agent may be run as it is now, without running it. Returns the runner that it would be given to.
 *
 * @throws DomainError as `engageSubagent` does
 */
export async function requireSpawnable(ctx: Ctx, tx: Tx, choice: SubagentChoice): Promise<AssignedRunner> {
  return (await decide(ctx, tx, choice)).runner
}

/** The runner of a subtask, and why it is this one where a choice was made. @throws DomainError as the choice does */
export function resolveRunner(runner: string | RunnerChooser, subagent: string | null): AssignedRunner {
  if (typeof runner === 'string') return { runner }
  const { name, reason } = runner(subagent)
  return { runner: name, runnerReason: reason }
}

async function decide(
  ctx: Ctx,
  tx: Tx,
  { name, model, runner, runInBackground }: SubagentChoice,
): Promise<{ found: Subagent; decision: SpawnDecision; runner: AssignedRunner }> {
  const { found, policy } = await findSubagent(ctx, tx, ctx.actor.projectId, name)
  const decision = decideSpawn({ actor: ctx.actor, name, found: found?.reading, model, runInBackground, policy })
  const assigned = resolveRunner(runner, name)
  requireFollowsDefinitions(ctx.settings.COMMAND_RUNNERS, assigned.runner, name)
  return { found: found as Subagent, decision, runner: assigned }
}

/** The version that a run of a usable definition names; null where something else counts by now. */
async function pin(ctx: Ctx, tx: Tx, projectId: string, found: Subagent): Promise<number | null> {
  const { name, source, contentHash, isStored, reading } = found
  const definition = reading.definition as NonNullable<typeof reading.definition>
  // What is stored is never rewritten, so nothing has to be kept from changing.
  if (isStored) return definition.version
  const newest = await subagents.lockSubagent(tx, projectId, name, source)
  // Put by the API since we looked.
  if (newest !== null && newest.put !== null) return null
  if (newest !== null && isSameVersion(newest, found)) return newest.version
  const version = (newest?.version ?? 0) + 1
  await subagents.insertSubagentVersion(tx, projectId, { ...definition, version }, contentHash)
  await defineCallback(ctx, tx, projectId, definition)
  return version
}

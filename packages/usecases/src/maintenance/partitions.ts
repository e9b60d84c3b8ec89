import { isDatabaseUnavailable, maintenance } from '@muster/db'
import { retentionDays } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'

/** With less than this left, an hour of failures would stop every run that reports a step. */
const STEPS_SECONDS_WANTED = 86_400

/** How far partitions reach ahead of the writes, and what is wrong with that: null, or a sentence for operators. */
export interface PartitionReach extends maintenance.PartitionState {
  problem: string | null
}

/** Whether there are partitions for what is written next, well ahead of it. */
export async function findPartitionReach(deps: Pick<Deps, 'dispatchDb'>): Promise<PartitionReach> {
  const state = await maintenance.partitionState(deps.dispatchDb)
  const { eventsAhead, eventsWanted, stepsSecondsAhead } = state
  const problems = [
    eventsAhead < eventsWanted ? `partitions of the event log end ${Math.max(0, eventsAhead)} events ahead (wanted: ${eventsWanted})` : null,
    stepsSecondsAhead < STEPS_SECONDS_WANTED
      ? `partitions of transcripts end ${Math.max(0, stepsSecondsAhead)} seconds ahead (wanted: ${STEPS_SECONDS_WANTED})`
      : null,
  ].filter((problem) => problem !== null)
  return { ...state, problem: problems.length === 0 ? null : `${problems.join('; ')}; see docs/storage.md` }
}

/** Makes the partitions of the coming days and of the next events. If another change of the tables is in its way, it leaves it to the next call, unless time runs out. */
export async function makePartitions(deps: Deps): Promise<void> {
  let failure: unknown
  try {
    await maintenance.ensurePartitions(deps.dispatchDb, retentionDays(deps.settings.RETENTION_DAYS).events)
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error
    failure = error
  }
  const { problem } = await findPartitionReach(deps)
  if (problem !== null) deps.log.error({ err: failure }, problem)
  else if (failure !== undefined) deps.log.debug({ err: failure }, 'could not make partitions ahead')
}

import type { LaneDefaults } from '@muster/db'
import type { Deps } from '../core/ctx.ts'

/** The limits of this server, for projects that set none of their own. */
export function laneDefaults({ settings }: Pick<Deps, 'settings'>): LaneDefaults {
  const { SUBTASK_MAX_CONCURRENT: running, SUBTASK_MAX_PENDING: pending } = settings
  return {
    running,
    pending,
    projectRunning: projectLimit(settings.SUBTASK_PROJECT_MAX_CONCURRENT, running),
    projectPending: projectLimit(settings.SUBTASK_PROJECT_MAX_PENDING, pending),
  }
}

/** As many as this many agents may have, where the operator sets no limit of a project. */
const AGENTS_OF_PROJECT = 20

function projectLimit(given: number | undefined, perAgent: number): number | null {
  if (given === undefined) return perAgent * AGENTS_OF_PROJECT
  return given === 0 ? null : given
}

import { type Actor, hasScope } from '../core/actor.ts'
import { DEFAULT_PROJECT_ID } from '../projects/project.ts'

/** What a worker does with its runs when it drains: lets them end, or releases them for other workers. */
export const DRAIN_MODES = ['finish', 'release'] as const

export type DrainMode = (typeof DRAIN_MODES)[number]

/** `lost` wins over the others: of a worker without a heartbeat, what it last said is old. */
export const WORKER_STATES = ['active', 'draining', 'drained', 'lost'] as const

export type WorkerState = (typeof WORKER_STATES)[number]

/** A worker shows that it is alive twice a second. After this many milliseconds of silence it counts as lost here; its work is taken earlier. */
const SILENT_MS = 5_000

export function workerState({ silentMs, drain, drainedAt }: { silentMs: number; drain: DrainMode | null; drainedAt: Date | null }): WorkerState {
  if (silentMs > SILENT_MS) return 'lost'
  if (drain === null) return 'active'
  return drainedAt === null ? 'draining' : 'drained'
}

/** Whether an administrator is one of the installation: of the default project, which comes with it. Workers serve all projects. */
export function isOperator(actor: Actor): boolean {
  return hasScope(actor, 'admin') && actor.projectId === DEFAULT_PROJECT_ID
}

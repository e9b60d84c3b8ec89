import type { FieldProblem } from '../core/errors.ts'
import type { Settings } from '../settings/settings.ts'
import type { ProjectSettings } from './project.ts'

/** The most that the limits of a project may be, by the operator. */
export interface LimitCeilings {
  running: number
  pending: number
  storedBytes: number
  runStoredBytes: number
}

/** What each ceiling is of, for messages. */
const NAMES: Record<keyof LimitCeilings, string> = {
  running: 'running subtasks',
  pending: 'pending subtasks',
  storedBytes: 'bytes stored by a project',
  runStoredBytes: 'bytes stored by a run',
}

type Limits = NonNullable<ProjectSettings['limits']>

/** Where a limit of the server is above its ceiling, a project may set as much as it would have without a limit of its own. */
export function limitCeilings(settings: Settings): LimitCeilings {
  return {
    running: Math.max(settings.PROJECT_RUNNING_CEILING, settings.SUBTASK_MAX_CONCURRENT, settings.SUBTASK_PROJECT_MAX_CONCURRENT ?? 0),
    pending: Math.max(settings.PROJECT_PENDING_CEILING, settings.SUBTASK_MAX_PENDING, settings.SUBTASK_PROJECT_MAX_PENDING ?? 0),
    storedBytes: settings.PROJECT_STORED_BYTES_CEILING,
    runStoredBytes: settings.RUN_STORED_BYTES_CEILING,
  }
}

/** The limits of a project that are above their ceilings, as problems of `settings` in a request. */
export function limitsAboveCeilings({ limits }: ProjectSettings, ceilings: LimitCeilings): FieldProblem[] {
  return given(limits ?? {})
    .filter(({ kind, value }) => value > ceilings[kind])
    .map(({ kind, value, path }) => ({
      pointer: `/settings/limits/${path.map(escapePointer).join('/')}`,
      field: ['settings', 'limits', ...path].join('.'),
      reason: `must be at most ${ceilings[kind]}, the ceiling that the operator set for ${NAMES[kind]}`,
      value,
    }))
}

/** The limits as they count: those that were stored above a ceiling, which the operator lowered since, are the ceiling. */
export function capLimits(settings: ProjectSettings, ceilings: LimitCeilings): ProjectSettings {
  if (settings.limits === undefined || limitsAboveCeilings(settings, ceilings).length === 0) return settings
  const limits = structuredClone(settings.limits)
  for (const { kind, value, holder, name } of given(limits)) holder[name] = Math.min(value, ceilings[kind])
  return { ...settings, limits }
}

const OF_PROJECT: Record<string, keyof LimitCeilings> = {
  running: 'running',
  running_per_agent: 'running',
  pending: 'pending',
  pending_per_agent: 'pending',
  stored_bytes: 'storedBytes',
  run_stored_bytes: 'runStoredBytes',
}

/** Each limit with a ceiling that is set, with the object that holds it. */
function given(limits: Limits): { kind: keyof LimitCeilings; value: number; path: string[]; holder: Record<string, unknown>; name: string }[] {
  const holders: { holder: Record<string, unknown>; path: string[]; names: Record<string, keyof LimitCeilings> }[] = [
    { holder: limits, path: [], names: OF_PROJECT },
    ...Object.entries(limits.agents ?? {}).map(([agentId, holder]) => ({
      holder,
      path: ['agents', agentId],
      names: { running: 'running', pending: 'pending' } as const,
    })),
  ]
  return holders.flatMap(({ holder, path, names }) =>
    Object.entries(names).flatMap(([name, kind]) => {
      const value = holder[name]
      return typeof value === 'number' ? [{ kind, value, path: [...path, name], holder, name }] : []
    }),
  )
}

function escapePointer(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1')
}

import { DomainError } from '../core/errors.ts'

/** Whose bytes are limited: those of a project, or those of one run in it. */
export type QuotaScope = 'project' | 'run'

const REMEDIES: Record<QuotaScope, string> = {
  project:
    'Erase what is not needed, keep it for less time (settings.retention_days), or have the limit raised: settings.limits.stored_bytes of the project, up to the ceiling of the operator.',
  run: 'Finish the run: its result is stored. Or have the limit raised: settings.limits.run_stored_bytes of the project, up to the ceiling of the operator.',
}

/** The refusal of a write for which there is no room. All numbers are bytes. */
export function quotaExceeded(scope: QuotaScope, { used, requested, limit }: { used: number; requested: number; limit: number }): DomainError {
  const message = `There is no room for ${requested} bytes: the ${scope} stores ${used} of the ${limit} bytes that it may store. ${REMEDIES[scope]}`
  return new DomainError('quota_exceeded', message, { limited_by: scope, limit, used, requested })
}

import { DomainError, type EvaluationSettings, judgeOf } from '@muster/domain'
import type { ApiDeps } from '../../api-deps.ts'

/**
 * A judge that is asked for has to be there. That a project has one by its settings is no reason to refuse anything: then what is asked waits
 * for a worker that can.
 *
 * @throws DomainError `runner_unavailable`, saying what to set
 */
export function requireJudge({ missingForJudge }: Pick<ApiDeps, 'missingForJudge'>, judge: EvaluationSettings['judge']): void {
  const asked = judgeOf({ judge })
  const missing = asked === null ? [] : missingForJudge(asked.model)
  if (missing.length > 0) throw new DomainError('runner_unavailable', `No model can judge: ${missing.join(' ')}`, { missing })
}

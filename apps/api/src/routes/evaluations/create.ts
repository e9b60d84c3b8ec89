import { DomainError, type EvaluationSettings, judgeOf } from '@muster/domain'
import { createEvaluation } from '@muster/usecases'
import type { ApiDeps } from '../../api-deps.ts'
import { endpoint } from '../../http/endpoint.ts'
import { evaluationSchema, newEvaluationSchema, presentCreatedEvaluation } from './evaluation-schema.ts'

/**
 * A judge that is asked for has to be there. That a project has one by its settings is no reason to refuse anything: then what is asked waits
 * for a worker that can.
 *
 * @throws DomainError `runner_unavailable`, saying what to set
 */
function requireJudge({ missingForJudge }: Pick<ApiDeps, 'missingForJudge'>, judge: EvaluationSettings['judge']): void {
  const asked = judgeOf({ judge })
  const missing = asked === null ? [] : missingForJudge(asked.model)
  if (missing.length > 0) throw new DomainError('runner_unavailable', `No model can judge: ${missing.join(' ')}`, { missing })
}

export const createEvaluationEndpoint = endpoint({
  operationId: 'createEvaluation',
  method: 'POST',
  path: '/evaluations',
  tag: 'Evaluations',
  summary: 'Evaluate a text',
  description:
    'Evaluates a text by its reflection and check-in blocks and by criteria, and stores both; the complete text is at `GET /evaluations/{id}/payload`. Results, completions and messages with blocks are evaluated without being asked. A sub-agent’s own credential may not call this.',
  access: 'evaluations:write',
  body: newEvaluationSchema,
  repairsText: true,
  bodyBytesMax: 8 * 1_048_576,
  deadlineMs: 30_000,
  answers: { 201: { description: 'Evaluated and stored.', schema: evaluationSchema } },
  errors: ['not_found', 'runner_unavailable'],
  handle: async ({ ctx, deps, body }) => {
    requireJudge(deps, body.judge)
    return await createEvaluation(ctx, {
      output: body.output,
      acceptanceCriteria: body.acceptance_criteria,
      threshold: body.threshold,
      taskId: body.task_id ?? undefined,
      sessionId: body.session_id ?? undefined,
      judge: body.judge,
    })
  },
  answer: (created) => ({ status: 201, headers: { location: `/evaluations/${created.evaluation.id}` }, body: presentCreatedEvaluation(created) }),
})

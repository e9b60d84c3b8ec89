import type { AttemptEnd, Span, SpanValue, Tracing } from '@muster/domain'
import type { ClaimedRun } from './claim-runs.ts'

/** The time from the creation of a subtask to its first claim. Without a parent it begins the trace. It has not ended yet. */
export function startWait(
  { tracing }: { tracing?: Tracing },
  { id, traceparent, createdAt }: Pick<ClaimedRun, 'id' | 'traceparent' | 'createdAt'>,
): Span | undefined {
  return tracing?.start('wait', { parent: traceparent, startedAt: createdAt, attributes: { 'muster.subtask.id': id } })
}

/** What a span says of the attempt of a subtask. */
export function attemptAttributes({
  id,
  agentId,
  attempt,
  runner,
  model,
  revisionOf,
}: Pick<ClaimedRun, 'id' | 'agentId' | 'attempt' | 'runner' | 'model' | 'revisionOf'>): Record<string, SpanValue> {
  return {
    ...{ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agentId, 'muster.subtask.id': id, 'muster.attempt': attempt, 'muster.runner': runner },
    ...(model !== null && { 'gen_ai.request.model': model }),
    ...(revisionOf !== null && { 'muster.revision_of': revisionOf }),
  }
}

/** Whether the end of an attempt is an error of its span. */
export const isFailure = ({ kind }: Pick<AttemptEnd, 'kind'>): boolean => kind !== 'completed' && kind !== 'waiting' && kind !== 'released'

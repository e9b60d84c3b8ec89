/** A value of an attribute: never content of prompts, results or tools. */
export type SpanValue = string | number | boolean

/** One span that is under way. */
export interface Span {
  /** Names it as a parent, for a header, an environment or a row. */
  readonly traceparent: string
  readonly traceId: string
  set(attributes: Record<string, SpanValue>): void
  /** Notes what was said or done, as JSON, where the operator asked for content; otherwise `of` is not called. */
  content(of: () => Record<string, unknown>): void
  /** Notes something at this moment of it. */
  event(name: string, attributes: Record<string, SpanValue>): void
  /** Ends it. `error` is a short class of what failed; absent where nothing did. */
  end(error?: string): void
}

export interface SpanOptions {
  kind?: 'server' | 'client' | 'internal'
  /** The `traceparent` of its parent; null begins a trace. */
  parent: string | null
  /** The `traceparent` of what caused it in other traces. */
  links?: readonly string[]
  attributes?: Record<string, SpanValue>
  /** When it began, if that is over. */
  startedAt?: Date
}

/** Records spans. A process without a collector has none of it. */
export interface Tracing {
  start(name: string, options: SpanOptions): Span
}

/**
 * Notes the result of an evaluation, as the semantic conventions for generative AI name it.
 *
 * @param by what evaluated: the name of a check, `judge`, or `rules`
 */
export function noteEvaluation(span: Pick<Span, 'event'> | undefined, by: string, { score, label }: { score?: number | null; label: string }): void {
  span?.event('gen_ai.evaluation.result', {
    'gen_ai.evaluation.name': by,
    'gen_ai.evaluation.score.label': label,
    ...(score == null ? {} : { 'gen_ai.evaluation.score.value': score }),
  })
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The `traceparent` that a caller sent, if it is one of version 00 of W3C Trace Context; null otherwise: a bad one must not fail a request. */
export function readTraceparent(value: unknown): string | null {
  return typeof value === 'string' && TRACEPARENT.test(value) ? value : null
}

/** The trace that a `traceparent` belongs to. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)

import { randomBytes } from 'node:crypto'
import { type Span, type SpanOptions, type SpanValue, type Tracing, traceIdOf, VERSION } from '@muster/domain'

/** Longest time for the last spans to be sent, in milliseconds. */
const FLUSH_MS = 2_000
/** Traces that a process begins and records in a second; of more, only the ids are passed on. It bounds what spans cost. */
const NEW_TRACES_PER_SECOND = 100

/** Spans of a process, and how they end with it. */
export interface ProcessTracing extends Tracing {
  /** Sends what is left. A collector that does not answer costs two seconds. */
  close(): Promise<void>
}

/** Whether the standard variables of OpenTelemetry ask for traces. Without an endpoint nothing of it is loaded. An empty variable is one that is not set. */
export function wantsTracing(environment: Record<string, string | undefined>): boolean {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || environment.OTEL_TRACES_EXPORTER === 'none') return false
  return Boolean(environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
}

/** The attributes of a process that its operator has not set: those that are given to the SDK take precedence over its variables. */
export function resourceAttributes(service: string, environment: Record<string, string | undefined>): Record<string, string> {
  const given = new Set((environment.OTEL_RESOURCE_ATTRIBUTES ?? '').split(',').map((pair) => pair.split('=', 1)[0]?.trim()))
  if (environment.OTEL_SERVICE_NAME) given.add('service.name')
  return Object.fromEntries(Object.entries({ 'service.name': service, 'service.version': VERSION }).filter(([name]) => !given.has(name)))
}

/**
 * Starts the SDK of OpenTelemetry, which reads its own variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_PROTOCOL`, `OTEL_TRACES_SAMPLER`, …).
 * Traces only: metrics are for Prometheus, logs for stdout.
 */
export async function startTracing(service: string, environment: Record<string, string | undefined>): Promise<ProcessTracing> {
  const [{ startNodeSdk }, api] = await Promise.all([import('@opentelemetry/sdk-node'), import('@opentelemetry/api')])
  const sdk = startNodeSdk({ resourceAttributes: resourceAttributes(service, environment), metricReaders: [], logRecordProcessors: [] })
  const tracer = api.trace.getTracer('muster', VERSION)
  const kinds = { server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT, internal: api.SpanKind.INTERNAL }
  const isRecorded = environment.OTEL_TRACES_SAMPLER ? () => true : limitNewTraces(NEW_TRACES_PER_SECOND, () => performance.now())
  const capturesContent = environment.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.toLowerCase() === 'true'
  return {
    start(name, { kind = 'internal', parent, links, attributes, startedAt }: SpanOptions): Span {
      if (!isRecorded(parent)) return unrecorded(parent)
      const context = parent === null ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, remoteContext(parent))
      const span = tracer.startSpan(
        name,
        {
          kind: kinds[kind],
          ...(attributes && { attributes }),
          ...(links && { links: links.map((link) => ({ context: remoteContext(link) })) }),
          ...(startedAt && { startTime: startedAt }),
        },
        context,
      )
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        traceId,
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        set: (given: Record<string, SpanValue>) => void span.setAttributes(given),
        content(of) {
          if (!capturesContent) return
          for (const [key, value] of Object.entries(of())) span.setAttribute(key, typeof value === 'string' ? value : JSON.stringify(value))
        },
        event: (event, given) => void span.addEvent(event, given),
        end(error) {
          if (error !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: error }).setAttribute('error.type', error)
          span.end()
        },
      }
    },
    async close() {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, FLUSH_MS)
      })
      await Promise.race([sdk.shutdown().catch(() => undefined), late])
      clearTimeout(timer)
    },
  }
}

/**
 * Decides which spans are recorded: those of traces that are recorded already, and up to so many new ones a second. Decided here, and not by a sampler of
 * the SDK, because it makes attributes and ids of each span first, which is most of what a span costs.
 *
 * @param nowMs of a steady clock
 */
export function limitNewTraces(perSecond: number, nowMs: () => number): (parent: string | null) => boolean {
  let left = perSecond
  let filledMs = nowMs()
  return (parent) => {
    if (parent !== null) return isSampled(parent)
    const now = nowMs()
    left = Math.min(perSecond, left + ((now - filledMs) * perSecond) / 1_000)
    filledMs = now
    if (left < 1) return false
    left -= 1
    return true
  }
}

const isSampled = (traceparent: string): boolean => (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1

/** Passes a trace on that is not recorded. Its ids are still in the logs. */
function unrecorded(parent: string | null): Span {
  const traceparent = parent ?? `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`
  return { traceparent, traceId: traceIdOf(traceparent), set: nothing, content: nothing, event: nothing, end: nothing }
}

const nothing = (): void => undefined

function remoteContext(traceparent: string) {
  const [, traceId = '', spanId = '', flags = '0'] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

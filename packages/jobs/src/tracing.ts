import { type Span, type SpanOptions, type SpanValue, type Tracing, VERSION } from '@muster/domain'

/** Longest time for the last spans to be sent, in milliseconds. */
const FLUSH_MS = 2_000

/** Spans of a process, and how they end with it. */
export interface ProcessTracing extends Tracing {
  /** Sends what is left. A collector that does not answer costs two seconds. */
  close(): Promise<void>
}

/** Whether the standard variables of OpenTelemetry ask for traces. Without an endpoint nothing of it is loaded. */
export function wantsTracing(environment: Record<string, string | undefined>): boolean {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || environment.OTEL_TRACES_EXPORTER === 'none') return false
  return Boolean(environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
}

/**
 * Starts the SDK of OpenTelemetry, which reads its own variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_PROTOCOL`, `OTEL_TRACES_SAMPLER`, …).
 * Traces only: metrics are for Prometheus, logs for stdout.
 */
export async function startTracing(service: string, environment: Record<string, string | undefined>): Promise<ProcessTracing> {
  const [{ startNodeSdk }, api] = await Promise.all([import('@opentelemetry/sdk-node'), import('@opentelemetry/api')])
  const named = environment.OTEL_SERVICE_NAME === undefined ? { 'service.name': service } : {}
  const sdk = startNodeSdk({ resourceAttributes: { ...named, 'service.version': VERSION }, metricReaders: [], logRecordProcessors: [] })
  const tracer = api.trace.getTracer('muster', VERSION)
  const kinds = { server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT, internal: api.SpanKind.INTERNAL }
  return {
    start(name, { kind = 'internal', parent, attributes, startedAt }: SpanOptions): Span {
      const context = parent === null ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, remoteContext(parent))
      const span = tracer.startSpan(name, { kind: kinds[kind], ...(attributes && { attributes }), ...(startedAt && { startTime: startedAt }) }, context)
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        traceId,
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        set: (given: Record<string, SpanValue>) => void span.setAttributes(given),
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

function remoteContext(traceparent: string) {
  const [, traceId = '', spanId = '', flags = '0'] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

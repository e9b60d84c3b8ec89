import { createServer, type IncomingHttpHeaders } from 'node:http'
import * as http2 from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { decodeExport } from './otlp-protobuf.ts'

/** A span as a collector receives it by OTLP. */
export interface CollectedSpan {
  service: string
  /** Attributes of the process that sent it. */
  resource: Record<string, unknown>
  name: string
  traceId: string
  spanId: string
  parentSpanId: string
  attributes: Record<string, unknown>
  /** Ids of the spans that it links to. */
  links: string[]
  events: { name: string; attributes: Record<string, unknown> }[]
}

interface Export {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: RawSpan[] }[] }[]
}
interface RawSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  attributes?: Attribute[]
  links?: { spanId: string }[]
  events?: { name: string; attributes?: Attribute[] }[]
}
interface Attribute {
  key: string
  value: Record<string, unknown>
}

const fieldsOf = (attributes: Attribute[] = []) => Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

export type OtlpProtocol = 'http/protobuf' | 'http/json' | 'grpc'

interface Collected {
  path: string
  headers: IncomingHttpHeaders
}

/** A collector of OpenTelemetry on loopback that keeps what it is sent, and refuses what is not of its protocol. */
export async function startCollector(protocol: OtlpProtocol = 'http/json'): Promise<{
  env: Record<string, string>
  requests: Collected[]
  spans: () => CollectedSpan[]
  texts: () => string
  close: () => Promise<void>
}> {
  const bodies: string[] = []
  const requests: Collected[] = []
  const keep = ({ url = '', headers }: { url?: string | undefined; headers: IncomingHttpHeaders }, read: () => string) => {
    bodies.push(read())
    requests.push({ path: url, headers })
  }
  const server = protocol === 'grpc' ? grpcServer(keep) : httpServer(`application/${protocol === 'http/json' ? 'json' : 'x-protobuf'}`, keep)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_EXPORTER_OTLP_PROTOCOL: protocol, OTEL_BSP_SCHEDULE_DELAY: '100' },
    requests,
    texts: () => bodies.join('\n'),
    spans: () =>
      bodies.flatMap((body) =>
        (JSON.parse(body) as Export).resourceSpans.flatMap(({ resource, scopeSpans }) =>
          scopeSpans.flatMap(({ spans }) =>
            spans.map(({ name, traceId, spanId, parentSpanId = '', attributes, links = [], events = [] }) => ({
              ...{ service: String(fieldsOf(resource.attributes)['service.name']), resource: fieldsOf(resource.attributes) },
              ...{ name, traceId, spanId, parentSpanId },
              attributes: fieldsOf(attributes),
              links: links.map((link) => link.spanId),
              events: events.map((event) => ({ name: event.name, attributes: fieldsOf(event.attributes) })),
            })),
          ),
        ),
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Keep = (request: { url?: string | undefined; headers: IncomingHttpHeaders }, read: () => string) => void

function httpServer(contentType: string, keep: Keep) {
  return createServer(async (request, response) => {
    const sent = await buffer(request)
    if (request.headers['content-type'] !== contentType) return void response.writeHead(415).end()
    const content = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    keep(request, () => (contentType === 'application/json' ? content.toString('utf8') : JSON.stringify(decodeExport(content))))
    response.writeHead(200, { 'content-type': contentType }).end(contentType === 'application/json' ? '{}' : '')
  })
}

/** Messages of gRPC have a byte that says whether they are compressed, and their length in four bytes. The status is a trailer. */
function grpcServer(keep: Keep) {
  const sessions = new Set<http2.ServerHttp2Session>()
  const server = http2.createServer(async (request, response) => {
    const frame = await buffer(request)
    const isExport = request.url === '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
    response.writeHead(200, { 'content-type': 'application/grpc' })
    // 12 is UNIMPLEMENTED.
    response.addTrailers({ 'grpc-status': isExport ? '0' : '12' })
    if (!isExport) return void response.end()
    const length = frame.readUInt32BE(1)
    if (frame.length !== 5 + length) throw new Error(`A message of ${length} bytes came in a frame of ${frame.length}.`)
    const message = frame[0] === 1 ? gunzipSync(frame.subarray(5)) : frame.subarray(5)
    keep(request, () => JSON.stringify(decodeExport(message)))
    response.end(Buffer.alloc(5))
  })
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  return Object.assign(server, {
    closeAllConnections: () => {
      for (const session of sessions) session.destroy()
    },
  })
}

import { createServer } from 'node:http'

/** A span as a collector receives it by OTLP over HTTP, in JSON. */
export interface CollectedSpan {
  service: string
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

/** A collector of OpenTelemetry on loopback that keeps what it is sent. */
export async function startCollector(): Promise<{
  env: Record<string, string>
  spans: () => CollectedSpan[]
  texts: () => string
  close: () => Promise<void>
}> {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      bodies.push(text)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_BSP_SCHEDULE_DELAY: '100' },
    texts: () => bodies.join('\n'),
    spans: () =>
      bodies.flatMap((body) =>
        (JSON.parse(body) as Export).resourceSpans.flatMap(({ resource, scopeSpans }) =>
          scopeSpans.flatMap(({ spans }) =>
            spans.map(({ name, traceId, spanId, parentSpanId = '', attributes, links = [], events = [] }) => ({
              ...{ service: String(fieldsOf(resource.attributes)['service.name']), name, traceId, spanId, parentSpanId },
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

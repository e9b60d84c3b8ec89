import { randomBytes } from 'node:crypto'
import { VERSION } from '@muster/domain'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type OtlpProtocol, startCollector } from './harness/collector.ts'
import { type System, startSystem } from './harness/system.ts'

const EXPORT_METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'

let system: System
beforeAll(async () => {
  system = await startSystem({ workers: 0 })
})
afterAll(() => system.close())

/** What a collector of this protocol has of a request to an API process with these variables, once that process has ended. */
async function sent(protocol: OtlpProtocol, env: (address: string) => Record<string, string | undefined>) {
  const collector = await startCollector(protocol)
  try {
    const { child, address } = await system.startApi({ ...collector.env, ...env(collector.env.OTEL_EXPORTER_OTLP_ENDPOINT as string) })
    const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
    const answer = await fetch(new URL('/subtasks', address), { headers: { traceparent: `00-${traceId}-${spanId}-01` } })
    await child.end('SIGTERM')
    const spans = collector.spans().filter((span) => span.traceId === traceId)
    return { spans, spanId, requests: collector.requests, traceparent: answer.headers.get('traceparent') }
  } finally {
    await collector.close()
  }
}

it.each([
  ['http/protobuf, which is the default', 'http/protobuf', { OTEL_EXPORTER_OTLP_PROTOCOL: undefined }, '/v1/traces', {}],
  ['http/json', 'http/json', {}, '/v1/traces', {}],
  ['grpc', 'grpc', {}, EXPORT_METHOD, { 'content-type': 'application/grpc' }],
  ['grpc, compressed', 'grpc', { OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }, EXPORT_METHOD, { 'grpc-encoding': 'gzip' }],
] as const)('a collector gets spans by %s, with the headers and attributes that are set', async (_, protocol, env, path, more) => {
  const { spans, spanId, requests, traceparent } = await sent(protocol, () => ({
    ...env,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector,x-tenant=red',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=tests,team=r%C3%A9d',
  }))
  expect(spans).toMatchObject([
    {
      name: 'GET /subtasks',
      parentSpanId: spanId,
      attributes: { 'http.request.method': 'GET', 'http.response.status_code': 200 },
      resource: { 'service.name': 'muster-api', 'service.version': VERSION, 'deployment.environment.name': 'tests', team: 'réd' },
    },
  ])
  expect(traceparent).toBe(`00-${spans[0]?.traceId}-${spans[0]?.spanId}-01`)
  expect(requests[0]).toMatchObject({ path, headers: { authorization: 'Bearer of-the-collector', 'x-tenant': 'red', ...more } })
})

it('a collector is found by the variables for traces alone, while the others are empty', async () => {
  const { spans, requests } = await sent('http/protobuf', (address) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: '',
    OTEL_EXPORTER_OTLP_PROTOCOL: '',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${address}/of/traces`,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-tenant=blue',
    OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
    OTEL_SERVICE_NAME: '',
  }))
  expect(spans).toMatchObject([{ service: 'muster-api' }])
  expect(requests[0]).toMatchObject({ path: '/of/traces', headers: { 'x-tenant': 'blue', 'content-encoding': 'gzip' } })
})

it.each([
  ['OTEL_SERVICE_NAME', { OTEL_SERVICE_NAME: 'ours', OTEL_RESOURCE_ATTRIBUTES: 'service.name=another,service.version=7' }],
  ['OTEL_RESOURCE_ATTRIBUTES', { OTEL_RESOURCE_ATTRIBUTES: 'team=red, service.name=ours,service.version=7' }],
])('a collector gets the name of the service that %s sets, and its version', async (_, env) => {
  const { spans } = await sent('http/protobuf', () => env)
  expect(spans).toMatchObject([{ resource: { 'service.name': 'ours', 'service.version': '7' } }])
})

it('a collector gets nothing with OTEL_TRACES_SAMPLER=always_off', async () => {
  const { requests, traceparent } = await sent('http/protobuf', () => ({ OTEL_TRACES_SAMPLER: 'always_off' }))
  expect(requests).toEqual([])
  expect(traceparent).toMatch(/-00$/)
})

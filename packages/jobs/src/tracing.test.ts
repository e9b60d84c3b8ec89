import { VERSION } from '@muster/domain'
import { describe, expect, it } from 'vitest'
import { limitNewTraces, resourceAttributes, wantsTracing } from './tracing.ts'

describe('new traces', () => {
  const SAMPLED = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const UNSAMPLED = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`

  it('are recorded up to so many a second, and traces that go on as they were', () => {
    let nowMs = 0
    const isRecorded = limitNewTraces(2, () => nowMs)
    expect([isRecorded(null), isRecorded(null), isRecorded(null)]).toEqual([true, true, false])
    expect([isRecorded(SAMPLED), isRecorded(UNSAMPLED)]).toEqual([true, false])
    nowMs = 500
    expect([isRecorded(null), isRecorded(null)]).toEqual([true, false])
    nowMs = 10_000
    expect([isRecorded(null), isRecorded(null), isRecorded(null)]).toEqual([true, true, false])
  })
})

describe('tracing', () => {
  it.each([
    [false, {}],
    [true, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }],
    [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    [true, { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'true' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_TRACES_EXPORTER: 'none' }],
  ])('is %s with %j', (isWanted, environment) => {
    expect(wantsTracing(environment)).toBe(isWanted)
  })
  it.each([
    [{}, { 'service.name': 'muster-api', 'service.version': VERSION }],
    [
      { OTEL_SERVICE_NAME: '', OTEL_RESOURCE_ATTRIBUTES: '' },
      { 'service.name': 'muster-api', 'service.version': VERSION },
    ],
    [{ OTEL_SERVICE_NAME: 'ours' }, { 'service.version': VERSION }],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'team=service.name, service.version = 7' }, { 'service.name': 'muster-api' }],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'service.name=ours,service.version=7' }, {}],
  ])('with %j adds %j', (environment, attributes) => {
    expect(resourceAttributes('muster-api', environment)).toEqual(attributes)
  })
})

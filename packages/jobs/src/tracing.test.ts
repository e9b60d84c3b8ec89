import { describe, expect, it } from 'vitest'
import { wantsTracing } from './tracing.ts'

describe('tracing', () => {
  it.each([
    [false, {}],
    [true, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }],
    [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'true' }],
    [false, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_TRACES_EXPORTER: 'none' }],
  ])('is %s with %j', (isWanted, environment) => {
    expect(wantsTracing(environment)).toBe(isWanted)
  })
})

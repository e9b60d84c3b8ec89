import type { Registry } from 'prom-client'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'

/** The endpoint that Prometheus reads. */
export const metricsEndpoint = (registry: Registry) =>
  endpoint({
    operationId: 'getMetrics',
    method: 'GET',
    path: '/metrics',
    tag: 'Operations',
    summary: 'Metrics for Prometheus',
    description: 'Metrics of this process only. Needs a key of any scope, unless the server listens on loopback.',
    access: 'key',
    isPublicOnLoopback: true,
    answers: { 200: { description: 'In the text format of Prometheus.', schema: z.string(), contentType: 'text/plain' } },
    handle: () => registry.metrics(),
    answer: (text) => ({ status: 200, headers: { 'content-type': registry.contentType }, body: text }),
  })

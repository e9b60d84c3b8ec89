import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { component } from '../../http/schemas.ts'

const healthSchema = component('Health', z.object({ status: z.literal('ok') }), { status: 'ok' })

const readinessStatusSchema = component('ReadinessStatus', z.enum(['ready', 'not_ready']))

const readinessSchema = component(
  'Readiness',
  z.object({ status: readinessStatusSchema, reason: z.string().nullable().describe('What is missing; null if ready.') }),
  { status: 'ready', reason: null },
)

export const healthEndpoint = endpoint({
  operationId: 'getHealth',
  method: 'GET',
  path: '/healthz',
  tag: 'Operations',
  summary: 'Check that the process is alive',
  description: 'Answers while the process runs, whatever the state of the database.',
  access: 'public',
  answers: { 200: { description: 'Alive.', schema: healthSchema } },
  handle: async () => null,
  answer: () => ({ status: 200, body: { status: 'ok' } }),
})

export const readinessEndpoint = endpoint({
  operationId: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  tag: 'Operations',
  summary: 'Check that the process can serve requests',
  description: 'Ready if the database is reachable, has exactly the migrations of this version, and accepts a write that needs disk space.',
  access: 'public',
  answers: { 200: { description: 'Ready.', schema: readinessSchema }, 503: { description: 'Not ready.', schema: readinessSchema } },
  handle: ({ deps }) => (deps.stopping.aborted ? Promise.resolve('The server is shutting down.') : deps.notReadyReason()),
  answer: (reason) =>
    reason === null
      ? { status: 200, body: { status: 'ready', reason: null } }
      : { status: 503, headers: { 'retry-after': '1' }, body: { status: 'not_ready', reason } },
})

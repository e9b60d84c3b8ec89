import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { component } from '../../http/schemas.ts'
import { PART_STATUSES, READINESS_PARTS } from '../../readiness.ts'

const healthSchema = component('Health', z.object({ status: z.literal('ok') }), { status: 'ok' })

const readinessStatusSchema = component('ReadinessStatus', z.enum(['ready', 'not_ready']))

const readinessPartSchema = component(
  'ReadinessPart',
  z.object({
    status: component('PartStatus', z.enum(PART_STATUSES)).describe(
      '`failed` makes the process not ready. `degraded` does not, but needs an operator. `unknown`: another part failed before.',
    ),
    detail: z.string().nullable().describe('What is wrong and what to do; null if nothing is known to be.'),
  }),
)

const partsShape = Object.fromEntries(READINESS_PARTS.map((part) => [part, readinessPartSchema])) as Record<
  (typeof READINESS_PARTS)[number],
  typeof readinessPartSchema
>

const OK = { status: 'ok', detail: null } as const

const readinessSchema = component(
  'Readiness',
  z.object({
    status: readinessStatusSchema,
    reason: z.string().nullable().describe('What is missing; null if ready.'),
    parts: component('ReadinessParts', z.object(partsShape)).describe('Each part that serving rests on. All of them are always there.'),
  }),
  {
    status: 'ready',
    reason: null,
    parts: {
      process: OK,
      database: OK,
      migrations: OK,
      writes: OK,
      queues: OK,
      relay: { status: 'degraded', detail: 'The oldest event has waited for 41 s to be moved to the event log: see the logs of API and workers.' },
      partitions: OK,
      history: OK,
    },
  },
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
  description:
    'Ready if the process has started, and the database is reachable, migrated and accepts writes. What taking the process out of service would not help is `degraded`, such as a relay that lags.',
  access: 'public',
  answers: { 200: { description: 'Ready.', schema: readinessSchema }, 503: { description: 'Not ready.', schema: readinessSchema } },
  handle: ({ deps }) => deps.readiness(),
  answer: ({ reason, parts }) =>
    reason === null
      ? { status: 200, body: { status: 'ready', reason: null, parts } }
      : { status: 503, headers: { 'retry-after': '1' }, body: { status: 'not_ready', reason, parts } },
})

import { DRAIN_MODES, WORKER_STATES } from '@muster/domain'
import type { ListedWorker } from '@muster/usecases'
import { z } from 'zod'
import { component, listComponent, requestComponent, time, toTime, toTimeOrNull } from '../../http/schemas.ts'

const workerStateSchema = component('WorkerState', z.enum(WORKER_STATES))

const drainModeSchema = component(
  'DrainMode',
  z.enum(DRAIN_MODES).describe('`finish` lets its runs end, `release` gives them back, so that other workers run them again.'),
)

const workerSchema = component(
  'Worker',
  z.object({
    id: z.string(),
    state: workerStateSchema.describe('`draining` takes no new work, `drained` holds none any more; `lost` has shown no sign of life for five seconds.'),
    version: z.string().nullable().describe('Version of Muster that it runs; null, as host and pid, where that does not say.'),
    host: z.string().nullable(),
    pid: z.int().nullable(),
    runners: z.array(z.string()),
    capacity: z.int().describe('How many runs it takes at once.'),
    running: z.int().describe('How many subtasks it runs now, of all projects.'),
    started_at: time('When it registered.'),
    heartbeat_at: time('Its last sign of life. A live worker gives two a second.'),
    drain: component(
      'WorkerDrain',
      z.object({ runs: drainModeSchema, requested_at: time('When it was asked first.'), drained_at: time('When it held no work any more.').nullable() }),
    )
      .nullable()
      .describe('Null while it takes work.'),
  }),
  {
    id: '0198c9a0-0000-7000-8000-0000000000d1',
    state: 'draining',
    version: '0.1.0',
    host: 'worker-1',
    pid: 4711,
    runners: ['ai', 'external'],
    capacity: 10,
    running: 2,
    started_at: '2026-03-02T08:00:00.000Z',
    heartbeat_at: '2026-03-02T09:30:00.250Z',
    drain: { runs: 'finish', requested_at: '2026-03-02T09:29:00.000Z', drained_at: null },
  },
)

export const workerListSchema = listComponent('WorkerList', workerSchema)

export const newDrainSchema = requestComponent('NewDrain', z.strictObject({ runs: drainModeSchema.default('finish') }), { runs: 'finish' })

export const drainSchema = component(
  'Drain',
  z.object({ worker_id: z.string(), runs: drainModeSchema, requested_at: time('When the worker was asked first.') }),
  { worker_id: '0198c9a0-0000-7000-8000-0000000000d1', runs: 'finish', requested_at: '2026-03-02T09:29:00.000Z' },
)

export function presentWorker(worker: ListedWorker): z.output<typeof workerSchema> {
  const { drain, drainRequestedAt } = worker
  return {
    id: worker.id,
    state: worker.state,
    version: worker.version,
    host: worker.host,
    pid: worker.pid,
    runners: worker.runners,
    capacity: worker.capacity,
    running: worker.running,
    started_at: toTime(worker.startedAt),
    heartbeat_at: toTime(worker.seenAt),
    drain:
      drain === null || drainRequestedAt === null ? null : { runs: drain, requested_at: toTime(drainRequestedAt), drained_at: toTimeOrNull(worker.drainedAt) },
  }
}

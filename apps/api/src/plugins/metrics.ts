import { findPartitionReach, type PartitionReach, readVitals, type Vitals } from '@muster/usecases'
import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ApiDeps } from '../api-deps.ts'

/** Measures the process from the first read on: prom-client's timer for the event loop fires 100 times a second, which would be half of what an idle API costs. */
class ApiRegistry extends Registry {
  #hasProcessMetrics = false

  override metrics(): Promise<string> {
    if (!this.#hasProcessMetrics) collectDefaultMetrics({ register: this, prefix: 'muster_api_' })
    this.#hasProcessMetrics = true
    return super.metrics()
  }
}

/** What Prometheus reads from `/metrics` of this process. */
export function createMetrics(deps: Pick<ApiDeps, 'feed' | 'endWaiters' | 'dispatchDb' | 'replica' | 'readiness' | 'isUnavailable' | 'log'>): {
  registry: Registry
  observe: (labels: Record<'method' | 'route' | 'status', string>, seconds: number) => void
} {
  const registry = new ApiRegistry()
  const durations = new Histogram({
    name: 'muster_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [registry],
  })
  new Gauge({
    name: 'muster_event_subscriptions',
    help: 'Event streams and long polls that are open.',
    registers: [registry],
    collect() {
      this.set(deps.feed.size() + deps.endWaiters.size())
    },
  })
  const { replica } = deps
  if (replica !== undefined) {
    new Counter({
      name: 'muster_replica_reads_total',
      help: 'Reads that may go to DATABASE_READ_URL: answered by the standby, or by the primary because it was behind or failed.',
      labelNames: ['outcome'] as const,
      registers: [registry],
      collect() {
        this.reset()
        for (const [outcome, count] of Object.entries(replica.counts)) this.inc({ outcome }, count)
      },
    })
  }
  addPartitionMetrics(registry, deps)
  addVitals(registry, deps)
  return { registry, observe: (labels, seconds) => durations.observe(labels, seconds) }
}

/** Of the database, not of this process. While it does not answer, they keep their last values: the metrics of the process must be readable then. */
function addPartitionMetrics(registry: Registry, deps: Pick<ApiDeps, 'dispatchDb'>): void {
  // All gauges of one scrape share a reading, and each waits for it: one that did not would show the value of the scrape before.
  let reading: Promise<PartitionReach | null> | undefined
  const read = () => {
    reading ??= findPartitionReach(deps)
      .catch(() => null)
      .finally(() => {
        reading = undefined
      })
    return reading
  }
  const gauge = (name: string, help: string, pick: (reach: PartitionReach) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const reach = await read()
        if (reach !== null) this.set(pick(reach))
      },
    })
  gauge('muster_event_partitions_ahead', 'Events for which there are partitions. docs/storage.md', ({ eventsAhead }) => eventsAhead)
  gauge('muster_step_partitions_ahead_seconds', 'For how long there are partitions of transcripts. docs/storage.md', (reach) => reach.stepsSecondsAhead)
  gauge('muster_partitions_missing', '1 while partitions are not well ahead of the writes, otherwise 0. docs/storage.md', ({ problem }) =>
    problem === null ? 0 : 1,
  )
  gauge('muster_partitions', 'Partitions of the event log and of transcripts.', ({ partitions }) => partitions)
}

/**
 * Whether each part of this process works, and what waits and works in the installation. While the database does not answer, the latter have no value: an
 * old one would look as if all were well.
 */
function addVitals(registry: Registry, deps: Pick<ApiDeps, 'dispatchDb' | 'readiness' | 'isUnavailable' | 'log'>): void {
  new Gauge({
    name: 'muster_part_ok',
    help: 'The parts of /readyz: 1 for ok, 0 for anything else. The database is ok without its standbys.',
    labelNames: ['part'] as const,
    registers: [registry],
    async collect() {
      const { parts } = await deps.readiness()
      for (const [part, { status }] of Object.entries(parts)) this.set({ part }, status === 'ok' || isWithoutStandby(part, status) ? 1 : 0)
    },
  })
  // All gauges of one scrape share a reading.
  let reading: Promise<Vitals | null> | undefined
  const read = () => {
    reading ??= readVitals(deps)
      .catch((error: unknown) => {
        // muster_part_ok shows an outage; anything else is a defect, and must not take the other metrics away.
        if (!deps.isUnavailable(error)) deps.log.warn({ err: error }, 'could not read metrics of the installation')
        return null
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }
  const gauge = (name: string, help: string, pick: (vitals: Vitals) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const vitals = await read()
        this.set(vitals === null ? Number.NaN : pick(vitals))
      },
    })
  gauge('muster_relay_lag_seconds', 'For how long the oldest event has waited to be moved to the event log.', ({ relayLagMs }) => relayLagMs / 1_000)
  gauge(
    'muster_oldest_claimable_seconds',
    'For how long the longest waiting subtask has waited that a worker may claim.',
    (vitals) => vitals.oldestClaimableMs / 1_000,
  )
  gauge('muster_worker_capacity', 'Subtasks that the active workers run at once.', ({ capacity }) => capacity)
  gauge('muster_worker_runs', 'Subtasks that workers run now.', ({ running }) => running)
  new Gauge({
    name: 'muster_workers',
    help: 'Workers by their state, as in GET /workers.',
    labelNames: ['state'] as const,
    registers: [registry],
    async collect() {
      const vitals = await read()
      this.reset()
      for (const [state, count] of Object.entries(vitals?.workers ?? {})) this.set({ state }, count)
    },
  })
  const byKind = (name: string, help: string, pick: (files: Vitals['files'][number]) => number) => ({
    name,
    help,
    labelNames: ['kind'] as const,
    registers: [registry],
    async collect(this: Gauge<'kind'> | Counter<'kind'>) {
      const vitals = await read()
      this.reset()
      for (const files of vitals?.files ?? []) this.inc({ kind: files.kind }, pick(files))
    },
  })
  new Gauge(
    byKind('muster_stored_files', 'Files in folders that are kept, and texts that are stored beside their rows. docs/storage.md', ({ kept }) => kept.files),
  )
  new Gauge(byKind('muster_stored_files_bytes', 'What these take up.', ({ kept }) => kept.bytes))
  new Counter(byKind('muster_swept_files_total', 'Those that were removed because nothing needed them any more.', ({ swept }) => swept.files))
  new Counter(byKind('muster_swept_files_bytes_total', 'What those took up.', ({ swept }) => swept.bytes))
}

/** Alerts take a database that is not ok for an outage. What a missing standby does shows in `muster_replica_reads_total`. */
function isWithoutStandby(part: string, status: string): boolean {
  return part === 'database' && status === 'degraded'
}

/** Measures every request under its route, never under its path, which would make a series of each id. */
export function addRequestMetrics(app: FastifyInstance, observe: ReturnType<typeof createMetrics>['observe']): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.is404 ? 'none' : (request.routeOptions.url ?? 'none')
    observe({ method: request.method, route, status: String(reply.statusCode) }, reply.elapsedTime / 1000)
    done()
  })
}

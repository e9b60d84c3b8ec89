import type { Registry } from 'prom-client'
import type { Endpoint } from '../endpoint.ts'
import { createApiKeyEndpoint } from './api-keys/create.ts'
import { listApiKeysEndpoint } from './api-keys/list.ts'
import { revokeApiKeyEndpoint } from './api-keys/revoke.ts'
import { streamEventsEndpoint } from './events/stream.ts'
import { claimSubtaskEndpoint } from './leases/claim.ts'
import { completeLeaseEndpoint } from './leases/complete.ts'
import { failLeaseEndpoint } from './leases/fail.ts'
import { heartbeatEndpoint } from './leases/heartbeat.ts'
import { releaseLeaseEndpoint } from './leases/release.ts'
import { healthEndpoint, readinessEndpoint } from './operations/health.ts'
import { metricsEndpoint } from './operations/metrics.ts'
import { getProjectEndpoint } from './projects/get.ts'
import { updateProjectEndpoint } from './projects/update.ts'
import { listRunnersEndpoint } from './runners/list.ts'
import { acknowledgeInboxEndpoint } from './sessions/acknowledge-inbox.ts'
import { claimInboxEndpoint } from './sessions/claim-inbox.ts'
import { cancelSubtaskEndpoint } from './subtasks/cancel.ts'
import { createSubtaskEndpoint } from './subtasks/create.ts'
import { getSubtaskEndpoint } from './subtasks/get.ts'
import { listSubtasksEndpoint } from './subtasks/list.ts'
import { listStepsEndpoint } from './subtasks/list-steps.ts'
import { listUpdatesEndpoint } from './subtasks/list-updates.ts'
import { steerSubtaskEndpoint } from './subtasks/steer.ts'
import { streamSubtaskEventsEndpoint } from './subtasks/stream-events.ts'

/** Every endpoint of the API, in the order in which one would explain them. The reference keeps this order. */
export const endpoints = (metrics: Registry): Endpoint[] => [
  createSubtaskEndpoint,
  listSubtasksEndpoint,
  getSubtaskEndpoint,
  streamSubtaskEventsEndpoint,
  listStepsEndpoint,
  steerSubtaskEndpoint,
  listUpdatesEndpoint,
  cancelSubtaskEndpoint,

  claimSubtaskEndpoint,
  heartbeatEndpoint,
  completeLeaseEndpoint,
  failLeaseEndpoint,
  releaseLeaseEndpoint,

  claimInboxEndpoint,
  acknowledgeInboxEndpoint,

  streamEventsEndpoint,

  listRunnersEndpoint,

  getProjectEndpoint,
  updateProjectEndpoint,

  createApiKeyEndpoint,
  listApiKeysEndpoint,
  revokeApiKeyEndpoint,

  healthEndpoint,
  readinessEndpoint,
  metricsEndpoint(metrics),
]

import type { Figure } from '../instrument/figure.ts'
import { cancelToSignal } from './cancel-to-signal.ts'
import { crashToRerun } from './crash-to-rerun.ts'
import { dashboard } from './dashboard.ts'
import { deliveries } from './deliveries.ts'
import { evaluation } from './evaluation.ts'
import { fairness } from './fairness.ts'
import { frontDoor } from './front-door.ts'
import { growth } from './growth.ts'
import { hooksAndTools } from './hooks-and-tools.ts'
import { injections } from './injections.ts'
import { lifecycle } from './lifecycle.ts'
import { manyStored } from './many-stored.ts'
import { memorySearch } from './memory-search.ts'
import { neighbours } from './neighbours.ts'
import { nextStart } from './next-start.ts'
import { postSubtasks } from './post-subtasks.ts'
import { runningLimit } from './running-limit.ts'
import { scheduleLateness } from './schedule-lateness.ts'
import { startLatency } from './start-latency.ts'
import { startUp } from './start-up.ts'
import { storage } from './storage.ts'
import { tracing } from './tracing.ts'

/** Every figure, in the order of the table. */
export const figures: Figure[] = [
  frontDoor,
  startLatency,
  lifecycle,
  tracing,
  postSubtasks,
  manyStored,
  injections,
  hooksAndTools,
  cancelToSignal,
  crashToRerun,
  nextStart,
  runningLimit,
  fairness,
  neighbours,
  scheduleLateness,
  deliveries,
  evaluation,
  memorySearch,
  dashboard,
  storage,
  startUp,
  growth,
]

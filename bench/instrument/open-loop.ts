import { setTimeout as sleep } from 'node:timers/promises'
import { machineMs } from './clock.ts'

/** What a producer did: when each piece of work was due by the schedule, and when its commit was known. */
export interface Load {
  ids: string[]
  dueMs: number[]
  committedMs: number[]
}

/**
 * Produces at a fixed schedule, whether or not earlier calls have been answered. A system that stalls is not spared the work
 * that falls into its stall, as it would be by a producer that waits for each answer (coordinated omission).
 *
 * @param produce resolves with the id once the work is committed
 */
export async function produceAtRate(perSecond: number, seconds: number, produce: (index: number) => Promise<string>): Promise<Load> {
  const total = Math.round(perSecond * seconds)
  const load: Load = { ids: new Array(total), dueMs: new Array(total), committedMs: new Array(total) }
  const open: Promise<void>[] = []
  const startMs = machineMs() + 20
  let failure: { error: unknown } | undefined
  for (let index = 0; index < total && failure === undefined; ) {
    const dueMs = startMs + (index * 1_000) / perSecond
    const earlyMs = dueMs - machineMs()
    // Not a busy wait for the last fraction of a millisecond: it would take a core from what is measured.
    if (earlyMs > 0) {
      await sleep(Math.ceil(earlyMs))
      continue
    }
    const place = index
    load.dueMs[place] = dueMs
    open.push(
      produce(place).then(
        (id) => {
          load.committedMs[place] = machineMs()
          load.ids[place] = id
        },
        (error: unknown) => {
          failure ??= { error }
        },
      ),
    )
    index += 1
  }
  await Promise.all(open)
  if (failure !== undefined) throw failure.error
  return load
}

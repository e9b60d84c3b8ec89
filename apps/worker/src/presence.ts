import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { VERSION } from '@muster/domain'
import { type Loop, startLoop } from '@muster/jobs'
import { beatWorker, holdWorkerLock, isDatabaseUnavailable, removeWorker } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'
import type { Draining } from './draining.ts'
import type { Peers } from './peers.ts'

const BEAT_MS = 500
/** A connection may be lost at the moment of signing off; a new one is available at once. */
const SIGN_OFF_TRIES = 3
const SIGN_OFF_PAUSE_MS = 200
export const COULD_NOT_SIGN_OFF = 'could not sign this worker off; its row is removed after a day'

/**
 * Shows that this worker is alive: a row with the time of its last heartbeat, and a session lock that the database drops when the connection
 * breaks, so that other processes notice within about a second that it is gone. The answer to a heartbeat says whether the worker shall drain, and
 * which other workers there are.
 *
 * @param draining once it exists: a worker registers before it can take work
 */
export async function startPresence(
  deps: WorkerDeps,
  peers: Peers,
  draining: () => Pick<Draining, 'isDone' | 'begin'> | undefined = () => undefined,
): Promise<{ stop(): Promise<void> }> {
  const self = {
    id: deps.workerId,
    runners: [...deps.runners.keys()],
    capacity: deps.settings.SUBTASK_WORKERS,
    version: VERSION,
    host: hostname(),
    pid: process.pid,
  }
  let heldBy: number | null = null
  const beat = async () => {
    const { lockKey, backendPid, drain, peerIds } = await beatWorker(deps.presence.sql, self, draining()?.isDone ?? false)
    peers.know(peerIds)
    if (drain !== null) draining()?.begin(drain)
    // A new backend means a new connection, and the lock went with the old one.
    if (backendPid !== heldBy) heldBy = (await holdWorkerLock(deps.presence.sql, lockKey)) ? backendPid : null
    return undefined
  }
  const signOff = async () => {
    for (let left = SIGN_OFF_TRIES; ; left -= 1) {
      try {
        return await removeWorker(deps, deps.workerId)
      } catch (error) {
        if (left === 1 || !isDatabaseUnavailable(error)) throw error
        await sleep(SIGN_OFF_PAUSE_MS)
      }
    }
  }
  await beat().catch(async (error: unknown) => {
    // Its row may exist already, and another try starts under another id.
    await signOff().catch((second: unknown) => deps.log.warn({ err: second, worker_id: deps.workerId }, COULD_NOT_SIGN_OFF))
    throw error
  })
  const loop: Loop = startLoop(beat, {
    everyMs: BEAT_MS,
    onError: (error) => deps.log.debug({ err: error }, 'could not show that this worker is alive; it tries again'),
  })
  return {
    async stop() {
      await loop.stop()
      await signOff()
    },
  }
}

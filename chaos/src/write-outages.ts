import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseUnavailable } from '@muster/db'
import { reserveLog } from '@muster/testing/small-disk'
import type { Findings } from './findings.ts'
import type { Fault } from './plan.ts'
import type { System } from './system.ts'

const FILL_EVERY_MS = 100
const LOOK_EVERY_MS = 250
const ANSWERS_WITHIN_MS = 2_000
const RETRY_EVERY_MS = 200
const RETRIES_MAX = 300

/**
 * Takes the room or the right to write from PostgreSQL for as long as the fault lasts, and gives it back. PostgreSQL ends itself where it cannot write its
 * log: then it is started again.
 *
 * @returns what else there is to say of it
 */
export async function refuseWrites(system: System, fault: Fault, findings: Findings, stop: AbortSignal): Promise<string> {
  if (fault.kind === 'disk-full') {
    const { disk } = system
    if (disk === null) throw new Error('There is no small disk.')
    // Without a log in reserve the server only ends itself sooner.
    await reserveLog(system.admin).catch(ignoreUnavailable)
    await disk.fill()
    const isOver = startPeriod(fault.lastsMs, stop)
    const watching = watchReadiness(system, fault, findings, isOver)
    while (!isOver()) {
      await sleep(FILL_EVERY_MS)
      // What the server frees is taken too.
      if (!isOver()) await disk.fill()
    }
    await disk.free()
    await watching
    const hadEnded = await untilPostgresAnswers(system)
    return hadEnded ? '; PostgreSQL ended itself' : ''
  }
  await setReadOnly(system, 'on')
  await watchReadiness(system, fault, findings, startPeriod(fault.lastsMs, stop))
  await setReadOnly(system, 'off')
  return ''
}

/** By the clock alone: no timer and no signal has to fire for the fault to end. */
function startPeriod(lastsMs: number, stop: AbortSignal): () => boolean {
  const deadline = performance.now() + lastsMs
  return () => stop.aborted || performance.now() >= deadline
}

/** Sessions that are there already go by it from their next transaction on. */
async function setReadOnly(system: System, value: 'on' | 'off'): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await system.admin.unsafe(`alter system set default_transaction_read_only = ${value}`)
      await system.admin`select pg_reload_conf()`
      return
    } catch (error) {
      // Its session may be ended or cut meanwhile.
      if (!isDatabaseUnavailable(error) || attempt === RETRIES_MAX) throw error
      await sleep(RETRY_EVERY_MS)
    }
  }
}

/** Waits for the server, and starts it again if it has ended. Answers whether it had. */
async function untilPostgresAnswers(system: System): Promise<boolean> {
  let hadEnded = false
  for (let attempt = 1; ; attempt += 1) {
    if (!isRunning(system.postgres.pid)) {
      hadEnded = true
      await system.postgres.restart('immediate')
    }
    try {
      await system.admin`select pg_switch_wal()`
      return hadEnded
    } catch (error) {
      if (!isDatabaseUnavailable(error) || attempt === RETRIES_MAX) throw error
      await sleep(RETRY_EVERY_MS)
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Asks every API whether it is ready, until the time is over: one that answers has to say once that it is not. */
async function watchReadiness({ apis }: System, { kind, number }: Fault, findings: Findings, isOver: () => boolean): Promise<void> {
  const promise = 'an API says that it is not ready while the database takes no writes'
  await Promise.all(
    apis.map(async (api) => {
      const life = api.life
      const statuses: number[] = []
      while (!isOver()) {
        try {
          const answer = await fetch(`${api.url}/readyz`, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) })
          await answer.text()
          if (!isOver()) statuses.push(answer.status)
        } catch {
          // It is starting, stopped or gone: not what is looked at here.
        }
        await sleep(LOOK_EVERY_MS)
      }
      if (statuses.length < 2 || life !== api.life) return
      findings.looked(promise, 1)
      if (!statuses.includes(503)) findings.broke(promise, `${api.name}, fault ${number} ${kind}: ${statuses.join(', ')}`)
    }),
  )
}

function ignoreUnavailable(error: unknown): void {
  if (!isDatabaseUnavailable(error)) throw error
}

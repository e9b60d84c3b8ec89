import { setTimeout as sleep } from 'node:timers/promises'
import type { Ask, Client, Outcome } from '../client.ts'
import type { Findings } from '../findings.ts'
import type { Ledger } from '../ledger.ts'
import type { Random } from '../random.ts'
import type { Supervised } from '../supervised.ts'
import type { Tenant } from '../tenants.ts'
import type { Absences } from './absences.ts'

/** What every actor of the load works with. */
export interface Scene {
  seed: number
  client: Client
  ledger: Ledger
  findings: Findings
  tenants: readonly Tenant[]
  /** Times without followers of the log and without waiting workers. */
  absences: Absences
  /** Aborted when nothing new is to be started; what has begun is brought to its end. */
  closing: AbortSignal
  /** Aborted when all actors must stop. */
  over: AbortSignal
}

/** Waits, or returns at once when all actors must stop. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}

/**
 * Asks until there is an answer, at any API, as a client does that holds an `Idempotency-Key` or asks for something that may be
 * asked twice. Null if all actors had to stop first.
 */
export async function askUntilAnswered<Body>(
  scene: Scene,
  random: Random,
  ask: Ask,
  onLost: () => void = () => {},
): Promise<{ status: number; body: Body; replayed: boolean; api: Supervised } | null> {
  while (!scene.over.aborted) {
    const api = scene.client.pickApi(random)
    const outcome: Outcome<Body> = await scene.client.ask<Body>(api, ask)
    if (outcome.kind === 'answered') {
      // The same key is still being worked on elsewhere.
      if (outcome.status === 409 && (outcome.body as { code?: string } | null)?.code === 'request_in_progress') {
        onLost()
        await pause(300, scene.over)
        continue
      }
      return { status: outcome.status, body: outcome.body, replayed: outcome.replayed, api }
    }
    // Also a 503 may have taken effect: a commit whose answer never came.
    onLost()
    await pause(outcome.kind === 'unavailable' ? Math.min(outcome.retryAfterMs, 1_000) : random.whole(200, 1_500), scene.over)
  }
  return null
}

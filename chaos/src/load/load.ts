import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../client.ts'
import type { Findings } from '../findings.ts'
import { Ledger } from '../ledger.ts'
import type { Options } from '../options.ts'
import type { System } from '../system.ts'
import { FRUGAL } from '../tenants.ts'
import { Absences } from './absences.ts'
import type { Scene } from './actor.ts'
import { runAnswerer } from './answerers.ts'
import { HOLDERS, runAuthor } from './authors.ts'
import { runClockSetter } from './clock-setters.ts'
import { runEditor } from './editors.ts'
import { type Follower, startFollower } from './followers.ts'
import { runHistorian } from './historians.ts'
import { runHolder } from './holders.ts'
import { runInboxReader } from './inbox-readers.ts'
import { runMeddler } from './meddlers.ts'
import { runOutsideWorker } from './outside-workers.ts'
import { runProver } from './provers.ts'
import { runRevoker } from './revokers.ts'
import { runFrugal, runSpawner } from './spawners.ts'

/** All actors that use the system. */
export interface Load {
  ledger: Ledger
  client: Client
  followers: Follower[]
  absences: Absences
  /** Lets nothing new begin; resolves when everything that was begun has had its answer. */
  close(): Promise<void>
  /** Stops all actors. */
  end(): Promise<void>
}

const SPAWNERS = 2
const OUTSIDE_WORKERS = 2
const INBOX_READERS = 2
const EDITORS = 3
const ANSWERERS = 2
/** Of all subtasks that are asked for, so many briefs. */
const BRIEFS_SHARE = 0.15
/** The last session of a project has two that inject, which compete. */
const COMPETING = [1, 2]

export function startLoad(system: System, findings: Findings, { seed, rate, minutes, steady }: Options, unfinished: () => number): Load {
  const closing = new AbortController()
  const over = new AbortController()
  const ledger = new Ledger()
  const client = new Client(system.apis, findings)
  const absences = new Absences()
  const scene: Scene = { seed, client, ledger, findings, tenants: system.tenants, absences, closing: closing.signal, over: over.signal }
  const askers: Promise<void>[] = []
  const servants: Promise<void>[] = []
  const followers: Follower[] = []
  // Steady load is the same all the time.
  if (!steady) askers.push(absences.run(minutes, closing.signal))
  askers.push(runRevoker(scene, system.revoking, system.apis))
  askers.push(runHistorian(scene, system.revoking, system))
  for (const tenant of system.tenants) {
    for (let number = 1; number <= SPAWNERS; number += 1) {
      askers.push(runSpawner(scene, tenant, number, rate / (system.tenants.length * SPAWNERS), unfinished))
      askers.push(runMeddler(scene, tenant, number))
    }
    if (tenant.name === FRUGAL.tenant) askers.push(runFrugal(scene, tenant))
    askers.push(runAuthor(scene, tenant, (rate / system.tenants.length) * BRIEFS_SHARE))
    askers.push(runProver(scene, tenant))
    askers.push(runClockSetter(scene, tenant))
    for (let number = 1; number <= EDITORS; number += 1) askers.push(runEditor(scene, tenant, number))
    for (const name of HOLDERS) {
      const numbers = name === HOLDERS.at(-1) ? COMPETING : [1]
      for (const number of numbers) servants.push(runHolder(scene, tenant, `${tenant.name}-${name}`, number, numbers.length === 1))
    }
    for (let number = 1; number <= OUTSIDE_WORKERS; number += 1) servants.push(runOutsideWorker(scene, tenant, number))
    for (let number = 1; number <= ANSWERERS; number += 1) servants.push(runAnswerer(scene, tenant, number))
    for (let number = 1; number <= INBOX_READERS; number += 1) servants.push(runInboxReader(scene, tenant, number))
    for (const type of [null, null, 'subtask.completed']) {
      const { follower, done } = startFollower(scene, tenant, { name: `${tenant.name}-${followers.length + 1}`, type })
      followers.push(follower)
      servants.push(done)
    }
  }
  return {
    ledger,
    client,
    followers,
    absences,
    async close() {
      closing.abort()
      await Promise.race([Promise.all(askers), sleep(60_000, undefined, { ref: false })])
    },
    async end() {
      closing.abort()
      over.abort()
      await Promise.allSettled([...askers, ...servants])
    },
  }
}

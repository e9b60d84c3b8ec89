import type { WrittenSchedule } from '../ledger.ts'
import { createRandom, type Random } from '../random.ts'
import type { Tenant } from '../tenants.ts'
import { askUntilAnswered, pause, type Scene } from './actor.ts'
import { SESSIONS } from './spawners.ts'

/** So many schedules of one project are in force at once. */
const LIVING_MAX = 6

interface ScheduleAnswer {
  id: string
  state: string
  metadata: { chaos?: string }
  code?: string
}

/** Writes schedules that are due within seconds, pauses some, takes them back in the end. Their subtasks have no spawning actor. */
export async function runClockSetter(scene: Scene, tenant: Tenant): Promise<void> {
  const random = createRandom(scene.seed, 'clock-setter', tenant.name)
  const living = new Set<Promise<void>>()
  let count = 0
  while (!scene.closing.aborted) {
    await pause(random.whole(500, 3_000), scene.closing)
    if (scene.closing.aborted) break
    if (living.size >= LIVING_MAX) continue
    count += 1
    const marker = `${tenant.name}-schedule-${count}`
    const life = live(scene, tenant, createRandom(scene.seed, 'schedule', marker), marker)
    living.add(life)
    void life.finally(() => living.delete(life))
  }
  await Promise.all(living)
}

async function live(scene: Scene, tenant: Tenant, random: Random, marker: string): Promise<void> {
  const { ledger, findings, closing } = scene
  const written: WrittenSchedule = { marker, projectId: tenant.projectId, state: 'asked', id: null }
  ledger.schedules.push(written)
  let asked = 0
  const ask = <Body>(method: 'POST' | 'DELETE', path: string, body?: unknown) => {
    asked += 1
    const idempotencyKey = method === 'POST' ? { idempotencyKey: `${marker}-${asked}` } : {}
    return askUntilAnswered<Body>(scene, random, { method, path, key: tenant.key, ...(body === undefined ? {} : { body }), ...idempotencyKey })
  }
  const answer = await ask<ScheduleAnswer>('POST', '/schedules', {
    task: `chaos ${marker}`,
    ...(random.chance(0.3) ? { when: `in ${random.whole(2, 6)} seconds` } : { every: `${random.whole(1, 4)} seconds` }),
    agent_id: random.pick(['wide', 'small', 'picky']),
    runner: random.weighted({ quick: 3, slow: 1 }),
    parent_session_id: `${tenant.name}-${random.pick(SESSIONS)}`,
    overlap: random.pick(['skip', 'allow']),
    missed: random.pick(['skip', 'run_once']),
    grace_seconds: random.pick([1, 5, 60]),
    max_fires: random.chance(0.5) ? random.whole(1, 8) : null,
    metadata: { chaos: marker },
  })
  if (answer === null) {
    written.state = 'unknown'
    return
  }
  findings.looked('a schedule is accepted', 1)
  if (answer.status !== 201 || answer.body.metadata.chaos !== marker) {
    findings.broke('a schedule is accepted', `${marker}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`)
    written.state = 'unknown'
    return
  }
  written.state = 'accepted'
  written.id = answer.body.id
  await pause(random.whole(1_000, 12_000), closing)
  if (random.chance(0.3)) {
    await ask('POST', `/schedules/${written.id}/pause`)
    await pause(random.whole(500, 5_000), closing)
    await ask('POST', `/schedules/${written.id}/resume`)
  }
  await pause(random.whole(0, 10_000), closing)
  const ended = await ask<ScheduleAnswer>('DELETE', `/schedules/${written.id}`)
  if (ended === null) return
  findings.looked('a schedule can always be deactivated', 1)
  if (ended.status >= 300) findings.broke('a schedule can always be deactivated', `${marker}: ${ended.status} ${JSON.stringify(ended.body).slice(0, 300)}`)
}

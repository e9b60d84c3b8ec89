import type { Brief, Spawn } from '../ledger.ts'
import { createRandom, type Random } from '../random.ts'
import type { Tenant } from '../tenants.ts'
import { askUntilAnswered, pause, type Scene } from './actor.ts'
import { CHECK_NAMES } from './outputs.ts'
import { SESSIONS } from './spawners.ts'

/** Has tasks run whose criteria are decided by checks, and now and then has the checks executed again. */
export async function runProver(scene: Scene, tenant: Tenant): Promise<void> {
  const random = createRandom(scene.seed, 'prover', tenant.name)
  for (let count = 1; !scene.closing.aborted; count += 1) {
    await pause(random.whole(1_000, 4_000), scene.closing)
    if (scene.closing.aborted) return
    const id = await prove(scene, tenant, random, `${tenant.name}-proof-${count}`)
    if (id === null || !random.chance(0.4)) continue
    await pause(random.whole(500, 2_500), scene.closing)
    await request(scene, tenant, random, id, `${tenant.name}-proof-${count}`)
  }
}

/** Returns the id of the task; null if it is not known to be dispatched. */
async function prove(scene: Scene, tenant: Tenant, random: Random, marker: string): Promise<string | null> {
  const { ledger, findings } = scene
  const session = random.chance(0.5) ? `${tenant.name}-${random.pick(SESSIONS)}` : null
  const brief: Brief = { marker, projectId: tenant.projectId, session, state: 'asked', id: null, moves: [] }
  ledger.briefs.push(brief)
  const task = await askUntilAnswered<{ id: string }>(scene, random, {
    path: '/tasks',
    key: tenant.key,
    body: {
      title: `Chaos ${marker}`,
      instructions: `Do what ${marker} says.`,
      acceptance_criteria: CHECK_NAMES.slice(0, random.whole(1, 2)).map((check) => ({ text: `It passes the ${check} check`, check })),
      parent_session_id: session,
      metadata: { chaos: marker },
    },
    idempotencyKey: `${marker}-1`,
  })
  if (task?.status !== 201) {
    brief.state = 'unknown'
    if (task !== null) findings.broke('a task with checks is accepted', `${marker}: ${task.status} ${JSON.stringify(task.body).slice(0, 300)}`)
    return null
  }
  brief.state = 'accepted'
  brief.id = task.body.id
  const spawn: Spawn = {
    ...{ marker: `${marker}-run`, projectId: tenant.projectId, agent: 'wide', runner: 'quick', session, withKey: true },
    ...{ state: 'asked', wasLost: false, id: null, seenEnd: null },
  }
  ledger.spawns.push(spawn)
  const run = await askUntilAnswered<{ id: string }>(scene, random, {
    path: `/tasks/${brief.id}/dispatch`,
    key: tenant.key,
    body: { agent_id: 'wide', runner: 'quick', max_attempts: 6, timeout_seconds: 30, max_revisions: random.whole(0, 2), metadata: { chaos: spawn.marker } },
    idempotencyKey: `${marker}-2`,
  })
  if (run === null) spawn.state = 'unknown'
  else if (run.status === 202) ledger.accepted(spawn, run.body.id)
  else spawn.state = 'refused'
  return spawn.state === 'accepted' ? brief.id : null
}

async function request(scene: Scene, tenant: Tenant, random: Random, id: string, marker: string): Promise<void> {
  const answer = await askUntilAnswered<{ code?: string }>(scene, random, { path: `/tasks/${id}/checks`, key: tenant.key, idempotencyKey: `${marker}-3` })
  if (answer === null) return
  scene.findings.looked('checks are refused only for a task that has ended, or whose brief has none any more', 1)
  if (answer.status === 202 || ['invalid_transition', 'conflict'].includes(answer.body.code ?? '')) return
  const what = `${id}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`
  scene.findings.broke('checks are refused only for a task that has ended, or whose brief has none any more', what)
}

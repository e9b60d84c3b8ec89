import type { Spawn } from '../ledger.ts'
import { createRandom, type Random } from '../random.ts'
import type { RunnerName } from '../system.ts'
import { AGENTS, type AgentName, FRUGAL, type Tenant } from '../tenants.ts'
import { askUntilAnswered, pause, type Scene } from './actor.ts'

type Runner = RunnerName | 'external'

const RUNNER_WEIGHTS: Record<Runner, number> = { quick: 34, slow: 16, crashing: 12, stubborn: 3, big: 4, empty: 4, steered: 12, asking: 8, external: 15 }
const AGENT_WEIGHTS: Record<AgentName, number> = { wide: 5, small: 3, narrow: 2, picky: 1 }
export const SESSIONS = ['alpha', 'beta', 'gamma'] as const
/** So many may be unfinished; beyond that the load waits for the system. */
const UNFINISHED_MAX = 160
/** So many requests of one spawner may be under way, or be repeated until they are answered. */
const ASKING_MAX = 12

interface SpawnAnswer {
  id: string
  status: string
  attempt: number
  metadata: { chaos?: string }
  code?: string
}

/** Asks for subtasks of all kinds, with and without an `Idempotency-Key`. */
export async function runSpawner(scene: Scene, tenant: Tenant, number: number, perSecond: number, unfinished: () => number): Promise<void> {
  const random = createRandom(scene.seed, 'spawner', tenant.name, number)
  const asking = new Set<Promise<void>>()
  let count = 0
  while (!scene.closing.aborted) {
    await pause((random.next() * 2_000) / perSecond, scene.closing)
    if (scene.closing.aborted) break
    if (unfinished() > UNFINISHED_MAX || asking.size >= ASKING_MAX) continue
    count += 1
    const marker = `${tenant.name}-${number}-${count}`
    const asked = spawnOne(scene, tenant, createRandom(scene.seed, 'spawn', marker), marker)
    asking.add(asked)
    void asked.finally(() => asking.delete(asked))
  }
  await Promise.all(asking)
}

/** So many subtasks are asked for at once. */
const BURST = 14

/** Asks for more subtasks at once than the budget of their agent has room for. */
export async function runFrugal(scene: Scene, tenant: Tenant): Promise<void> {
  const random = createRandom(scene.seed, 'frugal', tenant.name)
  for (let burst = 1; !scene.closing.aborted; burst += 1) {
    await pause(random.whole(1_000, 3_000), scene.closing)
    if (scene.closing.aborted) return
    const markers = Array.from({ length: BURST }, (_, place) => `${tenant.name}-frugal-${burst}-${place}`)
    await Promise.all(markers.map((marker) => spawnOne(scene, tenant, createRandom(scene.seed, 'spawn', marker), marker, true)))
  }
}

async function spawnOne(scene: Scene, tenant: Tenant, random: Random, marker: string, isFrugal = false): Promise<void> {
  const { findings, ledger } = scene
  const runner = isFrugal ? 'quick' : random.weighted(RUNNER_WEIGHTS)
  // A run that waited comes back to a queue that may be full, so the agent whose pending limit is checked has none.
  const own = runner === 'asking' ? 'wide' : random.pick(AGENTS.flatMap((name) => Array<AgentName>(AGENT_WEIGHTS[name]).fill(name)))
  const agent = isFrugal ? FRUGAL.agent : own
  const session = random.chance(0.8) ? `${tenant.name}-${random.pick(SESSIONS)}` : null
  const body = {
    task: `chaos ${marker}`,
    agent_id: agent,
    runner,
    priority: random.weighted({ urgent: 1, high: 1, normal: 3, low: 1 }),
    parent_session_id: session,
    max_attempts: random.weighted({ 2: 1, 3: 4, 6: 3 }) === '2' ? 2 : random.whole(3, 6),
    timeout_seconds: runner === 'slow' && random.chance(0.15) ? 1 : 30,
    required_outputs: runner === 'steered' ? ['notes'] : [],
    metadata: { chaos: marker, ...parameters(runner, random), ...(isFrugal ? { tokens: FRUGAL.usedTokens } : {}) },
  }
  const withKey = random.chance(0.7)
  const spawn: Spawn = { marker, projectId: tenant.projectId, agent, runner, session, withKey, state: 'asked', wasLost: false, id: null, seenEnd: null }
  ledger.spawns.push(spawn)
  const ask = { path: '/subtasks', key: tenant.key, body }
  const lost = () => {
    spawn.wasLost = true
  }
  if (withKey) {
    const answer = await askUntilAnswered<SpawnAnswer>(scene, random, { ...ask, idempotencyKey: `spawn-${marker}` }, lost)
    if (answer === null) spawn.state = 'unknown'
    else take(scene, spawn, answer.status, answer.body)
    // A careless client repeats what was answered: it must get the same subtask, from whichever API.
    if (answer?.status === 202 && random.chance(0.2)) {
      const again = await askUntilAnswered<SpawnAnswer>(scene, random, { ...ask, idempotencyKey: `spawn-${marker}` })
      if (again === null) return
      findings.looked('a repeated Idempotency-Key gets the first answer', 1)
      if (again.status !== 202 || again.body.id !== spawn.id || !again.replayed) {
        findings.broke(
          'a repeated Idempotency-Key gets the first answer',
          `${marker}: first 202 ${spawn.id}, then ${again.status} ${again.body.id}, replayed ${again.replayed}`,
        )
      }
    }
    return
  }
  const outcome = await scene.client.ask<SpawnAnswer>(scene.client.pickApi(random), ask)
  if (outcome.kind === 'answered') take(scene, spawn, outcome.status, outcome.body)
  else {
    lost()
    spawn.state = 'unknown'
  }
}

function take({ findings, ledger }: Scene, spawn: Spawn, status: number, body: SpawnAnswer): void {
  if (status === 202) {
    ledger.accepted(spawn, body.id)
    if (body.metadata.chaos !== spawn.marker)
      findings.broke('an accepted subtask is the one that was asked for', `${spawn.marker} got ${body.id} of ${body.metadata.chaos}`)
    return
  }
  spawn.state = 'refused'
  const isLimit = status === 429 && body.code === 'pending_limit_reached' && spawn.agent === 'picky'
  const isBudget = status === 429 && body.code === 'budget_exhausted' && spawn.agent === FRUGAL.agent
  if (isBudget) findings.looked('a budget without room refuses a subtask', 1)
  findings.looked('a subtask is refused only for its limit', 1)
  if (!isLimit && !isBudget)
    findings.broke('a subtask is refused only for its limit', `${spawn.marker} of ${spawn.agent}: ${status} ${JSON.stringify(body).slice(0, 300)}`)
}

function parameters(runner: Runner, random: Random): Record<string, unknown> {
  switch (runner) {
    case 'slow':
    case 'steered':
      return { steps: random.whole(2, 6), step_ms: random.whole(100, 700) }
    case 'asking':
      return {
        questions: random.whole(1, 2),
        step_ms: random.whole(0, 500),
        expires: random.pick([2, 5, 60]),
        on_expiry: random.weighted({ continue: 5, fail: 1 }),
      }
    case 'stubborn':
      return { step_ms: random.whole(500, 3_000) }
    case 'big':
      return { kib: random.pick([40, 100, 900, 1_500]) }
    case 'crashing':
      return {
        way: random.pick(['throw', 'exit', 'signal', 'error', 'after', 'blocked']),
        crashes: random.whole(1, 4),
        retryable: random.chance(0.7),
      }
    default:
      return {}
  }
}

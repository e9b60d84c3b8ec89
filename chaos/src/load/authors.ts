import type { Brief, Move, Spawn } from '../ledger.ts'
import { createRandom, type Random } from '../random.ts'
import type { Tenant } from '../tenants.ts'
import { askUntilAnswered, pause, type Scene } from './actor.ts'
import { OUTPUT_NAMES, outputsFor, toRequiredOutputs } from './outputs.ts'
import { SESSIONS } from './spawners.ts'

/** Sessions of sub-agents that briefs are given to. */
export const HOLDERS = ['holder-1', 'holder-2', 'holder-3'] as const
/** So many briefs of one author are under way at once. */
const LIVING_MAX = 12

interface Refusal {
  code?: string
}

interface TaskAnswer extends Refusal {
  id: string
  status: string
  required_outputs: { name: string }[]
  metadata: { chaos?: string }
}

/** Writes briefs, and moves each through its life: gives it to sessions, takes it away again, has it run, ends it, or leaves it as it is. */
export async function runAuthor(scene: Scene, tenant: Tenant, perSecond: number): Promise<void> {
  const random = createRandom(scene.seed, 'author', tenant.name)
  const living = new Set<Promise<void>>()
  let count = 0
  while (!scene.closing.aborted) {
    await pause((random.next() * 2_000) / perSecond, scene.closing)
    if (scene.closing.aborted) break
    if (living.size >= LIVING_MAX) continue
    count += 1
    const marker = `${tenant.name}-brief-${count}`
    const life = new Life(scene, tenant, createRandom(scene.seed, 'brief', marker), marker).live()
    living.add(life)
    void life.finally(() => living.delete(life))
  }
  await Promise.all(living)
}

/** One brief. Only its author assigns it, so that the author's answers say which sessions may know it. */
class Life {
  readonly #scene: Scene
  readonly #tenant: Tenant
  readonly #random: Random
  readonly #brief: Brief
  #asked = 0

  constructor(scene: Scene, tenant: Tenant, random: Random, marker: string) {
    const session = random.chance(0.7) ? `${tenant.name}-${random.pick([...SESSIONS, ...HOLDERS])}` : null
    this.#scene = scene
    this.#tenant = tenant
    this.#random = random
    this.#brief = { marker, projectId: tenant.projectId, session, state: 'asked', id: null, moves: [] }
  }

  async live(): Promise<void> {
    await this.#write()
    const { closing } = this.#scene
    for (let step = this.#random.whole(3, 9); step > 0 && this.#brief.id !== null; step -= 1) {
      await pause(this.#random.whole(200, 1_800), closing)
      if (closing.aborted) return
      const isFirst = this.#brief.moves.length === 0
      const move = this.#random.weighted(isFirst ? { assign: 3, dispatch: 1, complete: 0, cancel: 0 } : { assign: 8, dispatch: 6, complete: 4, cancel: 1 })
      const isOver = await this[move]()
      if (isOver) return
    }
  }

  async #write(): Promise<void> {
    const { ledger, findings } = this.#scene
    const others = ledger.briefs.filter((other) => other.id !== null && other.projectId === this.#tenant.projectId).slice(-4)
    ledger.briefs.push(this.#brief)
    const { marker } = this.#brief
    const answer = await this.#ask<TaskAnswer>('/tasks', {
      title: `Chaos ${marker}`,
      instructions: `Do what ${marker} says.`,
      acceptance_criteria: ['Everything is done', 'Nothing is done twice'].slice(this.#random.whole(0, 2)),
      required_outputs: toRequiredOutputs(OUTPUT_NAMES.slice(0, this.#random.whole(0, 2))),
      priority: this.#random.pick(['low', 'normal', 'high', 'urgent']),
      parent_session_id: this.#brief.session,
      depends_on: others.length > 0 && this.#random.chance(0.2) ? [this.#random.pick(others).id] : [],
      metadata: { chaos: marker },
    })
    if (answer === null) {
      this.#brief.state = 'unknown'
      return
    }
    findings.looked('a task is accepted', 1)
    if (answer.status !== 201 || answer.body.metadata.chaos !== marker) {
      findings.broke('a task is accepted', `${marker}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`)
      return
    }
    this.#brief.state = 'accepted'
    this.#brief.id = answer.body.id
  }

  /** Gives it to a session, which may be the one that holds it, or held it before. */
  async assign(): Promise<boolean> {
    const session = `${this.#tenant.name}-${this.#random.pick(HOLDERS)}`
    const move = this.#begin('assign', session)
    const answer = await this.#ask<Refusal>(`/tasks/${this.#brief.id}/assign`, { subagent_session_id: session }, move)
    return this.#end(move, answer, 200, ['invalid_transition'])
  }

  /** Has it run, by a program that takes updates, one that does not, or an outside worker. */
  async dispatch(): Promise<boolean> {
    const runner = this.#random.weighted({ steered: 6, external: 5, quick: 1 })
    const agent = this.#random.pick(['wide', 'small', 'narrow'] as const)
    const marker = `${this.#brief.marker}-run-${this.#brief.moves.length + 1}`
    const spawn: Spawn = {
      marker,
      projectId: this.#tenant.projectId,
      agent,
      runner,
      session: this.#brief.session,
      withKey: true,
      state: 'asked',
      wasLost: false,
      id: null,
      seenEnd: null,
    }
    this.#scene.ledger.spawns.push(spawn)
    const move = this.#begin('dispatch', null)
    const body = {
      agent_id: agent,
      runner,
      max_attempts: this.#random.whole(2, 4),
      timeout_seconds: 30,
      max_revisions: Number(this.#random.weighted({ '0': 1, '1': 1, '2': 3 })),
      metadata: { chaos: marker, steps: this.#random.whole(2, 6), step_ms: this.#random.whole(100, 700) },
    }
    const answer = await this.#ask<TaskAnswer>(`/tasks/${this.#brief.id}/dispatch`, body, move)
    spawn.wasLost = move.wasLost
    if (answer === null) spawn.state = 'unknown'
    else if (answer.status === 202) {
      this.#scene.ledger.accepted(spawn, answer.body.id)
      move.session = `subtask-${answer.body.id}`
    } else spawn.state = 'refused'
    return this.#end(move, answer, 202, ['invalid_transition'])
  }

  /** Hands in what it asks for, or, now and then, less. */
  async complete(): Promise<boolean> {
    const read = await this.#scene.client.ask<TaskAnswer>(this.#scene.client.pickApi(this.#random), {
      method: 'GET',
      path: `/tasks/${this.#brief.id}`,
      key: this.#tenant.key,
    })
    if (read.kind !== 'answered' || read.status !== 200) return false
    const names = read.body.required_outputs.map((output) => output.name)
    const move = this.#begin('complete', null)
    move.summary = `handed in ${this.#brief.marker}-${this.#asked}`
    const outputs = outputsFor(this.#random.chance(0.2) ? names.slice(1) : names, this.#brief.marker)
    const answer = await this.#ask<Refusal>(`/tasks/${this.#brief.id}/complete`, { outputs, summary: move.summary }, move)
    return this.#end(move, answer, 200, ['invalid_transition', 'outputs_missing'])
  }

  async cancel(): Promise<boolean> {
    const move = this.#begin('cancel', null)
    const answer = await this.#ask<Refusal>(`/tasks/${this.#brief.id}/cancel`, { reason: 'on purpose' }, move)
    return this.#end(move, answer, 200, ['invalid_transition'])
  }

  #begin(kind: Move['kind'], session: string | null): Move {
    const move: Move = { kind, session, startedMs: Date.now(), answeredMs: null, isAccepted: false, wasLost: false, summary: null }
    this.#brief.moves.push(move)
    return move
  }

  /** Answers whether there is nothing left to do with it. */
  #end(move: Move, answer: { status: number; body: Refusal } | null, accepted: number, refusals: readonly string[]): boolean {
    if (answer === null) return true
    move.answeredMs = Date.now()
    move.isAccepted = answer.status === accepted
    const { findings } = this.#scene
    findings.looked('a task is refused only what its state forbids', 1)
    if (!move.isAccepted && !refusals.includes(answer.body.code ?? '')) {
      const what = `${move.kind} of ${this.#brief.marker}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`
      findings.broke('a task is refused only what its state forbids', what)
    }
    return move.isAccepted && (move.kind === 'complete' || move.kind === 'cancel')
  }

  /** Always with a key: only then is it certain that a request whose answer was lost has no effect after those that follow it. */
  #ask<Body>(path: string, body: unknown, move?: Move): Promise<{ status: number; body: Body } | null> {
    this.#asked += 1
    const ask = { path, key: this.#tenant.key, body, idempotencyKey: `${this.#brief.marker}-${this.#asked}` }
    return askUntilAnswered<Body>(this.#scene, this.#random, ask, () => {
      if (move !== undefined) move.wasLost = true
    })
  }
}

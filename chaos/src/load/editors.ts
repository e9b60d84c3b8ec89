import type { Brief, Change } from '../ledger.ts'
import { createRandom, type Random } from '../random.ts'
import type { Tenant } from '../tenants.ts'
import { askUntilAnswered, pause, type Scene } from './actor.ts'
import { OUTPUT_NAMES, toRequiredOutputs } from './outputs.ts'

/** How far back a brief is still interesting. */
const RECENT = 12
const REVISE_ATTEMPTS = 5

interface TaskAnswer {
  revision: number
  acceptance_criteria: { text: string; source: string }[]
}

interface RevisedAnswer {
  update_id: string | null
  revision: number
  code?: string
}

/** Sends notes to the holder of a brief, and changes the brief. Several a project, so that they change the same revision at once. */
export async function runEditor(scene: Scene, tenant: Tenant, number: number): Promise<void> {
  const random = createRandom(scene.seed, 'editor', tenant.name, number)
  let changes = 0
  while (!scene.closing.aborted) {
    await pause(random.whole(100, 800), scene.closing)
    const recent = scene.ledger.briefs.filter((brief) => brief.id !== null && brief.projectId === tenant.projectId).slice(-RECENT)
    if (recent.length === 0 || scene.closing.aborted) continue
    // Mostly of running work.
    const held = recent.filter((brief) => ['assign', 'dispatch'].includes(brief.moves.findLast((move) => move.isAccepted)?.kind ?? ''))
    const brief = random.pick(held.length > 0 && random.chance(0.8) ? held : recent)
    changes += 1
    const name = `${tenant.name}-${number}-${changes}`
    if (random.chance(0.55)) await note(scene, tenant, brief, name, random)
    else await revise(scene, tenant, brief, name, random)
  }
}

async function note(scene: Scene, tenant: Tenant, brief: Brief, name: string, random: Random): Promise<void> {
  const change: Change = {
    kind: 'note',
    taskId: brief.id as string,
    text: `chaos-brief-note ${name}`,
    state: 'unknown',
    updateId: null,
    revision: null,
    from: null,
  }
  scene.ledger.changes.push(change)
  const ask = { path: `/tasks/${brief.id}/updates`, key: tenant.key, body: { content: change.text } }
  // Without a key it is asked once: whether it took effect is then unknown.
  const answer = random.chance(0.7)
    ? await askUntilAnswered<RevisedAnswer>(scene, random, { ...ask, idempotencyKey: `brief-note-${name}` })
    : await askOnce<RevisedAnswer>(scene, random, ask)
  if (answer === null) return
  take(scene, change, answer, 202, ['invalid_transition'])
}

/** Changes the revision that it has read; or the newer revision if another editor was faster. */
async function revise(scene: Scene, tenant: Tenant, brief: Brief, name: string, random: Random): Promise<void> {
  const path = `/tasks/${brief.id}`
  for (let attempt = 1; attempt <= REVISE_ATTEMPTS; attempt += 1) {
    const read = await askOnce<TaskAnswer>(scene, random, { method: 'GET', path, key: tenant.key })
    if (read === null || read.status !== 200) return
    // People think about what they have read.
    if (random.chance(0.4)) await pause(random.whole(50, 600), scene.over)
    const change: Change = {
      kind: 'revision',
      taskId: brief.id as string,
      text: `Chaos revision ${name}.${attempt}`,
      state: 'unknown',
      updateId: null,
      revision: null,
      from: read.body.revision,
    }
    scene.ledger.changes.push(change)
    // The title tells whose revision it is.
    const body = { title: change.text, ...whatChanges(scene, brief, read.body, random) }
    const answer = await askOnce<RevisedAnswer>(scene, random, { method: 'PATCH', path, key: tenant.key, ifMatch: read.body.revision, body })
    if (answer === null) return
    if (answer.status !== 412) return take(scene, change, answer, 200, ['invalid_transition', 'dependency_cycle'])
    change.state = 'refused'
    scene.findings.looked('a stale revision is refused with the current one', 1)
    if (answer.body.code !== 'revision_stale' || !(answer.body.revision > read.body.revision)) {
      scene.findings.broke('a stale revision is refused with the current one', `${brief.id}: ${JSON.stringify(answer.body).slice(0, 200)}`)
    }
  }
}

function whatChanges({ ledger }: Scene, brief: Brief, task: TaskAnswer, random: Random): Record<string, unknown> {
  switch (random.weighted({ instructions: 4, criteria: 3, outputs: 3, wait: 1, free: 2, title: 1 })) {
    case 'instructions':
      return { instructions: `Do it all.\nThen do it ${random.whole(2, 9)} times.` }
    case 'criteria':
      return { acceptance_criteria: [...task.acceptance_criteria.map(({ text }) => text).slice(-4), `Step ${random.whole(1, 99)} is done`] }
    case 'outputs':
      return { required_outputs: toRequiredOutputs(random.shuffled(OUTPUT_NAMES).slice(0, random.whole(0, 2))) }
    case 'wait': {
      const others = ledger.briefs.filter((other) => other.id !== null && other.id !== brief.id && other.projectId === brief.projectId).slice(-RECENT)
      return { depends_on: others.length === 0 ? [] : [random.pick(others).id] }
    }
    case 'free':
      return { depends_on: [] }
    case 'title':
      return {}
  }
}

function take({ findings }: Scene, change: Change, answer: { status: number; body: RevisedAnswer }, accepted: number, refusals: readonly string[]): void {
  const { status, body } = answer
  const promise = 'a change of a task is accepted, or refused for its state'
  findings.looked(promise, 1)
  if (status === accepted && body.update_id !== null) Object.assign(change, { state: 'accepted', updateId: body.update_id, revision: body.revision })
  else {
    change.state = 'refused'
    if (!refusals.includes(body.code ?? '')) findings.broke(promise, `${change.text} of ${change.taskId}: ${status} ${JSON.stringify(body).slice(0, 300)}`)
  }
}

async function askOnce<Body>(scene: Scene, random: Random, ask: Parameters<Scene['client']['ask']>[1]): Promise<{ status: number; body: Body } | null> {
  const outcome = await scene.client.ask<Body>(scene.client.pickApi(random), ask)
  return outcome.kind === 'answered' ? outcome : null
}

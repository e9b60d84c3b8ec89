import type { Note, Spawn } from '../ledger.ts'
import { createRandom } from '../random.ts'
import type { Tenant } from '../tenants.ts'
import { askUntilAnswered, pause, type Scene } from './actor.ts'

/** How far back requests are still checked. */
const RECENT = 40

interface SubtaskAnswer {
  id: string
  status: string
  final_outcome: string | null
  attempt: number
}

/** Cancels, steers and reads what was asked for a moment ago. */
export async function runMeddler(scene: Scene, tenant: Tenant, number: number): Promise<void> {
  const random = createRandom(scene.seed, 'meddler', tenant.name, number)
  let notes = 0
  while (!scene.closing.aborted) {
    await pause(random.whole(100, 900), scene.closing)
    const recent = scene.ledger.spawns.filter((spawn) => spawn.id !== null && spawn.projectId === tenant.projectId).slice(-RECENT)
    if (recent.length === 0 || scene.closing.aborted) continue
    const what = random.weighted({ read: 5, steer: 8, cancel: 3 })
    const steered = recent.filter((spawn) => spawn.runner === 'steered' || spawn.runner === 'external')
    const spawn = random.pick(what === 'steer' && steered.length > 0 ? steered.slice(-6) : recent)
    if (what === 'cancel') await cancel(scene, tenant, spawn, random)
    else if (what === 'read') await read(scene, tenant, spawn, random)
    else {
      notes += 1
      await steer(scene, tenant, spawn, `${tenant.name}-${number}-${notes}`, random)
    }
  }
}

type Random = ReturnType<typeof createRandom>

async function cancel(scene: Scene, tenant: Tenant, spawn: Spawn, random: Random): Promise<void> {
  const id = spawn.id as string
  const answer = await askUntilAnswered<{ code?: string }>(scene, random, { method: 'DELETE', path: `/subtasks/${id}`, key: tenant.key })
  if (answer === null) return
  scene.ledger.cancels.push({ id, status: answer.status })
  const isKnown = answer.status === 200 || answer.status === 202 || (answer.status === 409 && answer.body?.code === 'not_cancellable')
  scene.findings.looked('a cancel is answered 200, 202 or 409 not_cancellable', 1)
  if (!isKnown)
    scene.findings.broke('a cancel is answered 200, 202 or 409 not_cancellable', `${id}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`)
}

async function read(scene: Scene, tenant: Tenant, spawn: Spawn, random: Random): Promise<void> {
  const id = spawn.id as string
  const outcome = await scene.client.ask<SubtaskAnswer>(scene.client.pickApi(random), { method: 'GET', path: `/subtasks/${id}`, key: tenant.key })
  if (outcome.kind !== 'answered') return
  scene.findings.looked('what was accepted can be read at every API', 1)
  if (outcome.status !== 200) {
    scene.findings.broke('what was accepted can be read at every API', `${id}: ${outcome.status}`)
    return
  }
  const { final_outcome: end } = outcome.body
  if (spawn.seenEnd !== null && spawn.seenEnd !== end) scene.findings.broke('an end that was seen never changes', `${id} was ${spawn.seenEnd} and is ${end}`)
  spawn.seenEnd = end ?? spawn.seenEnd
}

async function steer(scene: Scene, tenant: Tenant, spawn: Spawn, name: string, random: Random): Promise<void> {
  const id = spawn.id as string
  const note: Note = { subtaskId: id, text: `chaos-note ${name}`, state: 'unknown', updateId: null }
  scene.ledger.notes.push(note)
  const answer = await askUntilAnswered<{ update_id: string; code?: string }>(scene, random, {
    path: `/subtasks/${id}/updates`,
    key: tenant.key,
    body: { content: note.text },
    idempotencyKey: `note-${name}`,
  })
  if (answer === null) return
  if (answer.status === 202) {
    note.state = 'accepted'
    note.updateId = answer.body.update_id
    return
  }
  note.state = 'refused'
  const isKnown = answer.status === 409 && ['invalid_transition', 'not_steerable'].includes(answer.body.code ?? '')
  scene.findings.looked('an update is refused only when no holder could receive it', 1)
  if (!isKnown)
    scene.findings.broke('an update is refused only when no holder could receive it', `${id}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`)
}

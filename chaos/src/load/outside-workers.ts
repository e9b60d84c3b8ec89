import type { EndingVerb, OutsideClaim } from '../ledger.ts'
import { createRandom, type Random } from '../random.ts'
import type { Tenant } from '../tenants.ts'
import { askUntilAnswered, pause, type Scene } from './actor.ts'
import { outputsFor, reflectionOn, requiredIn, updateIdsIn } from './outputs.ts'

const LEASE_SECONDS = 3
/** Of all results, so many are large. */
const LARGE_SHARE = 0.15
/** What the API may take for each look at what there is to claim. */
const LOOK_SECONDS = 5

interface ClaimAnswer {
  subtask: { id: string; task_id: string | null }
  lease: { token: string; attempt: number; expires_at: string }
  brief: { text: string; revision: number | null; required_outputs: { name: string }[] }
}

interface HeartbeatAnswer {
  cancel_requested: boolean
  updates: { update_id: string; task_id: string | null; content: string }[]
}

/** What an outside worker does with a claim. While the system drains, all of them complete. */
const WAYS = { complete: 9, work: 8, fail: 2, failForGood: 1, release: 2, wait: 2, vanish: 2, late: 3 } as const
/** Briefs are mostly worked at, since they change meanwhile. */
const WAYS_OF_BRIEFS = { ...WAYS, work: 24 }
type Way = keyof typeof WAYS

/** Claims over HTTP, and behaves as workers do: well, badly, or not at all. */
export async function runOutsideWorker(scene: Scene, tenant: Tenant, number: number): Promise<void> {
  const random = createRandom(scene.seed, 'outside', tenant.name, number)
  const workerId = `outside-${tenant.name}-${number}`
  let claims = 0
  while (!scene.over.aborted) {
    await scene.absences.back
    claims += 1
    const withKey = random.chance(0.5)
    const claimKey = withKey ? `claim-${workerId}-${claims}` : null
    const wait = random.whole(0, 2)
    const ask = {
      path: '/subtasks/claim',
      key: tenant.key,
      body: { runner: 'external', worker_id: workerId, lease_seconds: LEASE_SECONDS, wait_seconds: wait },
      // The last look begins when the waiting ends, at the latest.
      deadlineMs: (wait + LOOK_SECONDS) * 1_000,
      ...(claimKey === null ? {} : { idempotencyKey: claimKey }),
    }
    let claim: ClaimAnswer | null = null
    if (claimKey === null) {
      const outcome = await scene.client.ask<ClaimAnswer>(scene.client.pickApi(random), ask)
      if (outcome.kind === 'answered' && outcome.status === 200) claim = outcome.body
      else if (outcome.kind !== 'answered') await pause(300, scene.over)
    } else {
      const answer = await askUntilAnswered<ClaimAnswer>(scene, random, ask)
      if (answer?.status === 200) claim = answer.body
    }
    if (claim === null) {
      await pause(random.whole(100, 400), scene.over)
      continue
    }
    const way: Way = scene.closing.aborted ? 'complete' : random.weighted(claim.subtask.task_id === null ? WAYS : WAYS_OF_BRIEFS)
    const entry: OutsideClaim = {
      subtaskId: claim.subtask.id,
      attempt: claim.lease.attempt,
      claimKey,
      nonce: `${workerId}-${claims}`,
      end: 'none',
      status: null,
      did: way,
      verb: null,
      delivered: [],
      brief: claim.subtask.task_id === null ? null : { revision: claim.brief.revision ?? 0, noteIds: updateIdsIn(claim.brief.text) },
    }
    scene.ledger.claims.push(entry)
    await work(scene, tenant, random, claim, entry, way)
  }
}

async function work(scene: Scene, tenant: Tenant, random: Random, claim: ClaimAnswer, entry: OutsideClaim, way: Way): Promise<void> {
  const { token } = claim.lease
  const result = `made-by ${entry.subtaskId}#${entry.attempt} nonce ${entry.nonce}\n${reflectionOn(entry.subtaskId)}${padding(scene.seed, entry.nonce)}`
  let required = claim.brief.required_outputs.map((output) => output.name)
  const completion = () => ({ lease_token: token, result, outputs: outputsFor(required, entry.nonce) })
  switch (way) {
    case 'complete':
      await pause(random.whole(0, 150), scene.over)
      return await end(scene, tenant, random, entry, 'complete', completion())
    case 'work': {
      const received: HeartbeatAnswer['updates'] = []
      const beats = claim.subtask.task_id === null ? random.whole(2, 5) : random.whole(4, 10)
      for (let beat = beats; beat > 0; beat -= 1) {
        await pause(random.whole(200, 800), scene.over)
        const answer = await heartbeat(scene, tenant, random, entry, token, received)
        for (const update of received) required = requiredIn(update.content) ?? required
        if (answer === 'lost') return
        if (answer === 'cancel') return await end(scene, tenant, random, entry, 'release', { lease_token: token })
      }
      return await end(scene, tenant, random, entry, 'complete', completion())
    }
    case 'fail':
    case 'failForGood':
      return await end(scene, tenant, random, entry, 'fail', { lease_token: token, error: `on purpose ${entry.nonce}`, retryable: way === 'fail' })
    case 'release':
      return await end(scene, tenant, random, entry, 'release', { lease_token: token })
    case 'wait': {
      const questionId = await ask(scene, tenant, random, entry, token)
      return questionId === null ? undefined : await end(scene, tenant, random, entry, 'wait', { lease_token: token, question_id: questionId })
    }
    case 'vanish':
      return
    case 'late':
      // Long after the lease: another worker has it, or had it, by now. Usually this must be refused, and always leave no trace then.
      await pause(LEASE_SECONDS * 1_000 + random.whole(500, 2_500), scene.over)
      return await end(scene, tenant, random, entry, 'complete', completion())
  }
}

/** Makes some results large: most nothing, some 64 KiB to just under 1 MiB. Drawn apart, so that other choices do not depend on it. */
function padding(seed: number, nonce: string): string {
  const random = createRandom(seed, 'large result', nonce)
  return random.chance(LARGE_SHARE) ? `\n${'0123456789abcdef'.repeat(random.whole(64, 1_020) * 64)}` : ''
}

async function heartbeat(
  scene: Scene,
  tenant: Tenant,
  random: Random,
  entry: OutsideClaim,
  token: string,
  received: HeartbeatAnswer['updates'],
): Promise<'on' | 'cancel' | 'lost'> {
  const outcome = await scene.client.ask<HeartbeatAnswer>(scene.client.pickApi(random), {
    path: `/subtasks/${entry.subtaskId}/heartbeat`,
    key: tenant.key,
    body: { lease_token: token, ack_update_ids: received.map((update) => update.update_id), steps: [{ kind: 'message', content: `beat of ${entry.nonce}` }] },
  })
  if (outcome.kind !== 'answered') return 'on'
  if (outcome.status === 412) return 'lost'
  if (outcome.status !== 200) {
    scene.findings.broke('an outside worker is answered 200 or 412', `heartbeat: ${outcome.status} ${JSON.stringify(outcome.body).slice(0, 200)}`)
    return 'lost'
  }
  for (const update of outcome.body.updates) {
    // Delivered again until acknowledged, and this acknowledges with the next beat.
    if (received.some((known) => known.update_id === update.update_id)) continue
    received.push(update)
    if (update.task_id !== null) entry.delivered.push(update.update_id)
  }
  return outcome.body.cancel_requested ? 'cancel' : 'on'
}

/** The id of a new question; null if the lease is lost. */
async function ask(scene: Scene, tenant: Tenant, random: Random, entry: OutsideClaim, token: string): Promise<string | null> {
  const answer = await askUntilAnswered<{ question_id: string; code?: string }>(scene, random, {
    path: `/subtasks/${entry.subtaskId}/questions`,
    key: tenant.key,
    body: { prompt: `chaos-question of ${entry.nonce}`, expires_in_seconds: random.pick([2, 5, 60]), lease_token: token },
    idempotencyKey: `ask-${entry.nonce}`,
  })
  if (answer?.status === 201) return answer.body.question_id
  const isKnown = answer === null || ['lease_lost', 'invalid_transition', 'conflict'].includes(answer.body.code ?? '')
  if (!isKnown) scene.findings.broke('a question is refused only when the lease is lost', `${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`)
  return null
}

async function end(scene: Scene, tenant: Tenant, random: Random, entry: OutsideClaim, verb: EndingVerb, body: unknown): Promise<void> {
  entry.end = 'unknown'
  entry.verb = verb
  let wasLost = false
  const answer = await askUntilAnswered<{ code?: string; status: string }>(
    scene,
    random,
    {
      path: `/subtasks/${entry.subtaskId}/${verb}`,
      key: tenant.key,
      body,
      deadlineMs: verb === 'complete' ? 30_000 : 5_000,
      ...(random.chance(0.5) ? { idempotencyKey: `end-${entry.nonce}` } : {}),
    },
    () => {
      wasLost = true
    },
  )
  if (answer === null) return
  if (answer.status === 200) {
    entry.end = 'settled'
    entry.status = answer.body.status
  }
  // Without a key, the first of two requests may have taken effect although only the second was answered.
  else if (answer.status === 412 && answer.body.code === 'lease_lost') entry.end = wasLost ? 'unknown' : 'refused'
  else scene.findings.broke('an outside worker is answered 200 or 412', `${verb}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`)
}

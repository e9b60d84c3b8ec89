import type { Spawn } from '../ledger.ts'
import { createRandom, type Random } from '../random.ts'
import type { Supervised } from '../supervised.ts'
import type { Tenant } from '../tenants.ts'
import { askUntilAnswered, pause, type Scene } from './actor.ts'
import { reflectionOn } from './outputs.ts'

const WAIT_SECONDS = 8
/** What the API may take for its last look. */
const LOOK_SECONDS = 5
const LEASE_SECONDS = 60
/** Many times the second within which an API ends the streams of a key. */
const STREAM_ENDS_WITHIN_MS = 15_000

const NOTHING_HANDED_OUT = 'nothing is handed out to a request that waits with a revoked key'
const REFUSED = 'a key that was answered to be revoked opens nothing, at any API'
const STREAM_ENDS = 'the event stream of a revoked key ends within 15 s, while its API can reach the database'
const GOES_TO_OTHERS = 'what a revoked key waited for goes to another'

interface Waits {
  claims: Promise<string | null>[]
  reads: Promise<string | null>[]
  streams: { api: Supervised; life: Supervised['life']; isOpen: boolean; close(): void }[]
}

interface ClaimAnswer {
  subtask: { id: string }
  lease: { token: string; attempt: number }
}

/**
 * Revokes keys while requests wait with them: claims, a reader of a result and event streams. Afterwards the result comes, and new work. It works in a
 * project of its own, so that whatever a claim is given after the revocation is a breach, without any race.
 */
export async function runRevoker(scene: Scene, tenant: Tenant, apis: readonly Supervised[]): Promise<void> {
  const random = createRandom(scene.seed, 'revoker')
  for (let round = 1; !scene.closing.aborted; round += 1) {
    await pause(random.whole(500, 3_000), scene.closing)
    // Otherwise a waiting request would keep an API listening while no other client is there.
    await scene.absences.back
    if (scene.closing.aborted) return
    await revokeOne(scene, tenant, apis, random, round)
  }
}

async function revokeOne(scene: Scene, tenant: Tenant, apis: readonly Supervised[], random: Random, round: number): Promise<void> {
  const made = await askUntilAnswered<{ id: string; key: string }>(scene, random, {
    path: '/api-keys',
    key: tenant.key,
    body: { name: `to be revoked ${round}`, scopes: ['admin'] },
  })
  if (made === null) return
  const held = await spawn(scene, tenant, random, `revoker-${round}-held`)
  if (held === null) return
  const lease = await claimUntil(scene, tenant, random, held, `revoker-${round}-held`)
  if (lease === null) return
  const waits = openWaits(scene, apis, made.body.key, held)
  try {
    await pause(random.whole(300, 2_500), scene.over)
    const revoked = await askUntilAnswered(scene, random, { method: 'DELETE', path: `/api-keys/${made.body.id}`, key: tenant.key })
    if (revoked === null) return
    scene.findings.looked('a key is revoked with 204', 1)
    if (revoked.status !== 204) return scene.findings.broke('a key is revoked with 204', `round ${round}: ${revoked.status} ${JSON.stringify(revoked.body)}`)
    await Promise.all([
      checkRefusals(scene, apis, made.body.key, round),
      checkStreams(scene, tenant, waits.streams, round),
      handOn(scene, tenant, random, { held, lease, waits, round }),
    ])
  } finally {
    for (const stream of waits.streams) stream.close()
    await Promise.all([...waits.claims, ...waits.reads])
  }
}

/** The result comes, and new work, of which the revoked key may hear nothing. */
async function handOn(
  scene: Scene,
  tenant: Tenant,
  random: Random,
  { held, lease, waits, round }: { held: string; lease: ClaimAnswer; waits: Waits; round: number },
): Promise<void> {
  await complete(scene, tenant, random, lease)
  const fresh = await spawn(scene, tenant, random, `revoker-${round}-fresh`)
  if (fresh === null) return
  const claims = await Promise.all(waits.claims)
  const reads = await Promise.all(waits.reads)
  scene.findings.none(
    NOTHING_HANDED_OUT,
    claims.length + reads.length,
    [...claims, ...reads].flatMap((got) => (got === null || (got !== fresh && got !== `ended ${held}`) ? [] : [`round ${round}: ${got}`])),
  )
  const other = await claimUntil(scene, tenant, random, fresh, `revoker-${round}-fresh`)
  if (other === null) return
  scene.findings.looked(GOES_TO_OTHERS, 1)
  await complete(scene, tenant, random, other)
  // A lease that lapsed in an outage leaves it to the next claim.
  for (const id of [held, fresh]) {
    for (let again = 1; !scene.over.aborted; again += 1) {
      const read = await askUntilAnswered<{ final_outcome: string | null }>(scene, random, { method: 'GET', path: `/subtasks/${id}`, key: tenant.key })
      if (read === null || read.body.final_outcome !== null) break
      const next = await claimUntil(scene, tenant, random, id, `revoker-${round}-${id}-${again}`)
      if (next !== null) await complete(scene, tenant, random, next)
    }
  }
}

/** Requests that wait at every API. A claim answers the id that it was given, a read what it saw the end of. */
function openWaits(scene: Scene, apis: readonly Supervised[], key: string, held: string): Waits {
  const deadlineMs = (WAIT_SECONDS + LOOK_SECONDS) * 1_000
  return {
    claims: apis.map(async (api) => {
      const body = { worker_id: 'revoked', wait_seconds: WAIT_SECONDS }
      const outcome = await scene.client.ask<ClaimAnswer>(api, { path: '/subtasks/claim', key, body, deadlineMs })
      return outcome.kind === 'answered' && outcome.status === 200 ? outcome.body.subtask.id : null
    }),
    reads: apis.map(async (api) => {
      const path = `/subtasks/${held}?wait_seconds=${WAIT_SECONDS}`
      const outcome = await scene.client.ask<{ final_outcome: string | null }>(api, { method: 'GET', path, key, deadlineMs })
      return outcome.kind === 'answered' && outcome.status === 200 && outcome.body.final_outcome !== null ? `ended ${held}` : null
    }),
    streams: apis.map((api) => openStream(scene, api, key)),
  }
}

function openStream(scene: Scene, api: Supervised, key: string): Waits['streams'][number] {
  const leaving = new AbortController()
  const stream = { api, life: api.life, isOpen: false, close: () => leaving.abort() }
  const read = async () => {
    const answer = await fetch(`${api.url}/events`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
      signal: AbortSignal.any([scene.over, leaving.signal]),
    })
    stream.isOpen = answer.status === 200
    for await (const _ of answer.body ?? []) if (leaving.signal.aborted) return
  }
  // However it ends, it is not open any more.
  void read()
    .catch(() => {})
    .finally(() => {
      stream.isOpen = false
    })
  return stream
}

async function checkRefusals(scene: Scene, apis: readonly Supervised[], key: string, round: number): Promise<void> {
  await Promise.all(
    apis.map(async (api) => {
      const outcome = await scene.client.ask(api, { method: 'GET', path: '/subtasks?limit=1', key })
      if (outcome.kind !== 'answered') return
      scene.findings.looked(REFUSED, 1)
      if (outcome.status !== 401) scene.findings.broke(REFUSED, `round ${round}, ${api.name}: ${outcome.status}`)
    }),
  )
}

async function checkStreams(scene: Scene, tenant: Tenant, streams: Waits['streams'], round: number): Promise<void> {
  const wereOpen = streams.filter((stream) => stream.isOpen)
  await Promise.all(
    wereOpen.map(async (stream) => {
      const { api, life } = stream
      const isSame = () => stream.isOpen && api.life === life && !scene.over.aborted
      const untilEnded = async () => {
        const deadline = performance.now() + STREAM_ENDS_WITHIN_MS
        while (isSame() && performance.now() < deadline) await pause(100, scene.over)
      }
      await untilEnded()
      // The database or the API may have been away meanwhile: the time counts from when this API has answered out of the database.
      while (isSame()) {
        const outcome = await scene.client.ask(api, { method: 'GET', path: '/subtasks?limit=1', key: tenant.key })
        if (outcome.kind !== 'answered') {
          await pause(500, scene.over)
          continue
        }
        await untilEnded()
        break
      }
      if (scene.over.aborted || api.life !== life) return
      scene.findings.looked(STREAM_ENDS, 1)
      const wasStopped = api.excused.some(({ toMs }) => toMs > Date.now() - STREAM_ENDS_WITHIN_MS)
      if (stream.isOpen && !wasStopped) scene.findings.broke(STREAM_ENDS, `round ${round}, ${api.name}`)
    }),
  )
}

async function spawn(scene: Scene, tenant: Tenant, random: Random, marker: string): Promise<string | null> {
  const { ledger } = scene
  const agent = 'wide'
  const entry: Spawn = {
    marker,
    projectId: tenant.projectId,
    agent,
    runner: 'external',
    session: null,
    withKey: true,
    state: 'asked',
    wasLost: false,
    id: null,
    seenEnd: null,
  }
  ledger.spawns.push(entry)
  const body = { task: `chaos ${marker}`, agent_id: agent, runner: 'external', max_attempts: 6, timeout_seconds: 600, metadata: { chaos: marker } }
  const answer = await askUntilAnswered<{ id: string }>(scene, random, { path: '/subtasks', key: tenant.key, body, idempotencyKey: `spawn-${marker}` })
  if (answer?.status === 202) {
    ledger.accepted(entry, answer.body.id)
    return answer.body.id
  }
  entry.state = 'unknown'
  if (answer !== null) scene.findings.broke('a subtask is refused only for its limit', `${marker}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return null
}

/** Claims until it is given this subtask; completes whatever else there is. Null when the subtask has ended or the load stops. */
async function claimUntil(scene: Scene, tenant: Tenant, random: Random, id: string, name: string): Promise<ClaimAnswer | null> {
  for (let number = 1; !scene.over.aborted; number += 1) {
    const answer = await askUntilAnswered<ClaimAnswer>(scene, random, {
      path: '/subtasks/claim',
      key: tenant.key,
      body: { worker_id: 'another', lease_seconds: LEASE_SECONDS, wait_seconds: 1 },
      idempotencyKey: `claim-${name}-${number}`,
      deadlineMs: (1 + LOOK_SECONDS) * 1_000,
    })
    if (answer?.status === 200) {
      if (answer.body.subtask.id === id) return answer.body
      await complete(scene, tenant, random, answer.body)
      continue
    }
    const read = await askUntilAnswered<{ final_outcome: string | null }>(scene, random, { method: 'GET', path: `/subtasks/${id}`, key: tenant.key })
    if (read?.body.final_outcome != null) return null
  }
  return null
}

async function complete(scene: Scene, tenant: Tenant, random: Random, { subtask, lease }: ClaimAnswer): Promise<void> {
  const result = `made-by ${subtask.id}#${lease.attempt} nonce revoker-${subtask.id}-${lease.attempt}\n${reflectionOn(subtask.id)}`
  await askUntilAnswered(scene, random, {
    path: `/subtasks/${subtask.id}/complete`,
    key: tenant.key,
    body: { lease_token: lease.token, result },
    deadlineMs: 30_000,
  })
}

import type { Delivery, Injection } from '../ledger.ts'
import { createRandom, type Random } from '../random.ts'
import type { Tenant } from '../tenants.ts'
import { askUntilAnswered, pause, type Scene } from './actor.ts'
import { updateIdsIn } from './outputs.ts'

/** No answer may deliver more of the inbox. */
const INBOX_ITEMS_MAX = 50
/** Text of results that an injection may carry, and what may stand around each of them. */
const RESULTS_BYTES_MAX = 32_768
const FRAMING_BYTES_MAX = 1_024
const RESULTS_SIZE = 'an injection carries at most 32 KiB of results, and what stands around them'
/** A request that was given up may still take effect for as long as an API was stopped, or its connections were silent. */
const LATE_MAX_MS = 30_000

interface InjectionAnswer {
  claim_id: string | null
  items: {
    kind: 'assignment' | 'update' | 'tsg_notice' | 'inbox'
    id: string
    update_id: string | null
    task_id: string | null
    revision: number | null
    text: string
  }[]
}

type Way = 'plain' | 'keyed' | 'manual' | 'keyedManual'

/**
 * The harness of a session that briefs are given to: takes what is new before each of its steps, in all the ways there are, and reports
 * on it now and then. In a session with several, they compete.
 */
export async function runHolder(scene: Scene, tenant: Tenant, session: string, number: number, isAlone: boolean): Promise<void> {
  const random = createRandom(scene.seed, 'holder', session, number)
  let asked = 0
  while (!scene.over.aborted) {
    await pause(random.whole(250, 1_400), scene.over)
    if (scene.over.aborted) return
    asked += 1
    // At the end nothing may be forgotten any more, or it would come again only much later.
    const way: Way = scene.closing.aborted ? 'keyed' : random.weighted({ plain: 3, keyed: 5, manual: 1, keyedManual: 3 })
    const askedMs = Date.now()
    const answer = await inject(scene, tenant, random, session, way, `inject-${session}-${number}-${asked}`)
    if (answer === null || answer.items.length === 0) continue
    const injection: Injection = {
      session,
      projectId: tenant.projectId,
      isAlone,
      askedMs,
      deliveredMs: Date.now(),
      ack: answer.claim_id === null ? 'final' : 'open',
      items: answer.items.flatMap(toDelivery),
    }
    scene.ledger.injections.push(injection)
    checkSize(scene, session, answer)
    const results = answer.items
      .filter((item) => item.kind === 'inbox')
      .map((item) => ({
        projectId: tenant.projectId,
        session,
        inboxId: item.id,
        resultBytes: null,
        claimId: answer.claim_id,
        acknowledged: answer.claim_id === null,
      }))
    scene.ledger.deliveries.push(...results)
    if (answer.claim_id !== null) {
      // Some die before they acknowledge, and receive everything again after a minute without deliveries.
      if (random.chance(0.04) || !(await acknowledge(scene, tenant, random, session, answer.claim_id))) continue
      injection.ack = 'final'
      for (const result of results) result.acknowledged = true
    }
    const last = injection.items.at(-1)
    if (last !== undefined && random.chance(0.25)) await checkIn(scene, tenant, random, session, last)
  }
}

async function inject(scene: Scene, tenant: Tenant, random: Random, session: string, way: Way, name: string): Promise<InjectionAnswer | null> {
  const isManual = way === 'manual' || way === 'keyedManual'
  const ask = { path: `/sessions/${session}/injections${isManual ? '?ack=manual' : ''}`, key: tenant.key }
  const fromMs = Date.now()
  let answer: { status: number; body: InjectionAnswer } | null
  if (way === 'plain' || way === 'manual') {
    const outcome = await scene.client.ask<InjectionAnswer>(scene.client.pickApi(random), ask)
    answer = outcome.kind === 'answered' ? outcome : null
  } else answer = await askUntilAnswered<InjectionAnswer>(scene, random, { ...ask, idempotencyKey: name })
  if (answer === null) {
    // What a manual one took comes again.
    if (isManual) return null
    scene.ledger.lostInjections.push({ session, fromMs, toMs: way === 'plain' ? fromMs + LATE_MAX_MS : Number.POSITIVE_INFINITY })
    scene.ledger.lostInboxClaims.push({ session, limit: INBOX_ITEMS_MAX })
    return null
  }
  scene.findings.looked('an injection is answered 200', 1)
  if (answer.status === 200) return answer.body
  scene.findings.broke('an injection is answered 200', `${session} ${way}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`)
  return null
}

/** Results of other agents, and what stands around each: its headline, its fences and where all of it is. */
function checkSize({ findings }: Scene, session: string, { items }: InjectionAnswer): void {
  const results = items.filter((item) => item.kind === 'inbox')
  if (results.length === 0) return
  const bytes = results.reduce((sum, item) => sum + Buffer.byteLength(item.text), 0)
  findings.looked(RESULTS_SIZE, 1)
  if (bytes > RESULTS_BYTES_MAX + results.length * FRAMING_BYTES_MAX) findings.broke(RESULTS_SIZE, `${session}: ${results.length} results with ${bytes} bytes`)
}

function toDelivery(item: InjectionAnswer['items'][number]): Delivery[] {
  if (item.kind !== 'assignment' && item.kind !== 'update') return []
  const noteIds = item.kind === 'assignment' ? updateIdsIn(item.text) : []
  return [{ kind: item.kind, taskId: item.task_id as string, updateId: item.update_id, revision: item.revision as number, noteIds }]
}

/** Answers whether the confirmation counted. */
async function acknowledge(scene: Scene, tenant: Tenant, random: Random, session: string, claimId: string): Promise<boolean> {
  const answer = await askUntilAnswered<{ code?: string }>(scene, random, { path: `/sessions/${session}/injections/${claimId}/ack`, key: tenant.key })
  if (answer === null) return false
  scene.findings.looked('an injection is confirmed, unless it was handed out again', 1)
  if (answer.status !== 204 && answer.body?.code !== 'conflict')
    scene.findings.broke('an injection is confirmed, unless it was handed out again', `${session} ${claimId}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.status === 204
}

/** Reports on a task, by which everything up to the revision that it names is acknowledged. */
async function checkIn(scene: Scene, tenant: Tenant, random: Random, session: string, { taskId, revision }: Delivery): Promise<void> {
  const content = `<npl-block type="check-in" task-id="${taskId}" revision="${revision}">\nacceptance_criteria:\n  - ✅ Everything is done\nstatus: in_progress\n</npl-block>`
  const outcome = await scene.client.ask<{ code?: string; acknowledged_update_ids: string[] }>(scene.client.pickApi(random), {
    path: `/tasks/${taskId}/check-ins`,
    key: tenant.key,
    body: { content, session_id: session },
  })
  if (outcome.kind !== 'answered') return
  scene.findings.looked('a check-in is taken until its task ends', 1)
  if (outcome.status === 201) scene.ledger.acknowledgedIds.push(...outcome.body.acknowledged_update_ids)
  else if (outcome.body.code !== 'invalid_transition')
    scene.findings.broke('a check-in is taken until its task ends', `${taskId}: ${outcome.status} ${JSON.stringify(outcome.body).slice(0, 300)}`)
}

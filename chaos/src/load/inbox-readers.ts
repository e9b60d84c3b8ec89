import { createRandom } from '../random.ts'
import type { Tenant } from '../tenants.ts'
import { askUntilAnswered, pause, type Scene } from './actor.ts'
import { SESSIONS } from './spawners.ts'

interface InboxAnswer {
  claim_id: string | null
  items: { inbox_id: string; task: string; result: string | null; summary: string | null }[]
  has_more: boolean
}

/** Text that one answer may carry, but for a first item that is larger. */
const PAGE_BYTES_MAX = 2_097_152
const PAGES = 'an inbox claim answers at most 2 MiB of text, and says whether more wait'

/** Takes results out of the inboxes of a project's sessions, in all the ways there are. Two per project, so that they compete. */
export async function runInboxReader(scene: Scene, tenant: Tenant, number: number): Promise<void> {
  const random = createRandom(scene.seed, 'inbox', tenant.name, number)
  let claims = 0
  while (!scene.over.aborted) {
    await pause(random.whole(200, 900), scene.over)
    if (scene.over.aborted) return
    claims += 1
    const session = `${tenant.name}-${random.pick(SESSIONS)}`
    const limit = random.whole(1, 20)
    // At the end nothing may be forgotten any more, or it would come again only much later.
    const way = scene.closing.aborted ? 'keyed' : random.weighted({ plain: 2, keyed: 4, manual: 4 })
    const ask = { path: `/sessions/${session}/inbox/claim`, key: tenant.key, body: { limit, ack: way === 'manual' ? 'manual' : 'auto' } }
    let answer: InboxAnswer | null = null
    if (way === 'keyed') {
      const delivered = await askUntilAnswered<InboxAnswer>(scene, random, { ...ask, idempotencyKey: `inbox-${tenant.name}-${number}-${claims}` })
      if (delivered === null) scene.ledger.lostInboxClaims.push({ session, limit })
      else if (delivered.status === 200) answer = delivered.body
    } else {
      const outcome = await scene.client.ask<InboxAnswer>(scene.client.pickApi(random), ask)
      if (outcome.kind === 'answered' && outcome.status === 200) answer = outcome.body
      // Of a manual claim without an answer the items come again; of the others they are gone.
      else if (outcome.kind !== 'answered' && way === 'plain') scene.ledger.lostInboxClaims.push({ session, limit })
    }
    if (answer === null) continue
    checkPage(scene, session, limit, answer)
    const deliveries = answer.items.map((item) => ({
      projectId: tenant.projectId,
      session,
      inboxId: item.inbox_id,
      resultBytes: Buffer.byteLength(item.result ?? ''),
      claimId: answer.claim_id,
      acknowledged: way !== 'manual',
    }))
    scene.ledger.deliveries.push(...deliveries)
    // Some readers die before they confirm.
    if (answer.claim_id === null || random.chance(0.1)) continue
    const confirmed = await askUntilAnswered(scene, random, { path: `/sessions/${session}/inbox/claim/${answer.claim_id}/ack`, key: tenant.key })
    if (confirmed?.status === 204) for (const delivery of deliveries) delivery.acknowledged = true
  }
}

function checkPage({ findings }: Scene, session: string, limit: number, { items, has_more: hasMore }: InboxAnswer): void {
  if (items.length === 0) return
  const bytes = items.reduce((sum, item) => sum + Buffer.byteLength(`${item.task}${item.result ?? ''}${item.summary ?? ''}`), 0)
  findings.looked(PAGES, 1)
  const isWithin = items.length === 1 || bytes <= PAGE_BYTES_MAX
  if (!isWithin || items.length > limit || typeof hasMore !== 'boolean')
    findings.broke(PAGES, `${session}: ${items.length} of ${limit} items with ${bytes} bytes, has_more ${hasMore}`)
}

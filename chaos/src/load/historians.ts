import type { System } from '../system.ts'
import type { Tenant } from '../tenants.ts'
import { pause, type Scene } from './actor.ts'

const EVERY_MS = 4_000
const ROWS = 250

/**
 * Stores messages as they were four months ago, so that retention has something to archive and to drop while everything breaks. Ids begin with the time, as
 * those of the API do: retention looks for its rows by them.
 */
export async function runHistorian(scene: Scene, tenant: Tenant, { admin }: System): Promise<void> {
  for (let nth = 1; !scene.closing.aborted; nth += 1) {
    await pause(EVERY_MS, scene.closing)
    if (scene.closing.aborted) return
    try {
      const rows = await admin<{ id: string }[]>`
        insert into session_messages (project_id, id, session_id, role, content, created_at)
        select ${tenant.projectId}, (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid,
          'past', 'user', 'An old message, ' || ${nth}::int || '/' || n, at
        from generate_series(1, ${ROWS}) n, lateral (select muster_now() - interval '120 days' + n * interval '1 second' as at) as moment
        returning id`
      for (const { id } of rows) scene.ledger.oldMessages.push(id)
    } catch {
      // The database is away or takes no writes. Of a commit without an answer nothing is known, and nothing is claimed.
    }
  }
}

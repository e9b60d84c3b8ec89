// SQL: workers look at the bots of all projects, and which of them reads one is decided in the statement.
import type { Database } from '../../client.ts'

/** The chat of a project, whose bot reads what is written in it. */
export interface ChatRow {
  /** Of its receiver. */
  id: string
  projectId: string
  chatId: string
  /** Of its project. */
  outboundAllow: string[]
  /** The sealed token. */
  secret: string
}

export async function listChats(database: Database): Promise<ChatRow[]> {
  return await database.sql<ChatRow[]>`
    select id, project_id as "projectId", options ->> 'chat_id' as "chatId", muster_outbound_allow(project_id) as "outboundAllow", secret from receivers
    where kind = 'telegram' and status = 'enabled' and secret is not null and options ->> 'interactive' = 'true' order by id`
}

/** Takes a bot that no worker holds, or renews the hold of this one. Null while another holds it. */
export async function holdBot(database: Database, key: string, workerId: string, leaseSeconds: number): Promise<number | null> {
  const [row] = await database.sql<{ next: number }[]>`
    insert into muster_system.chat_bots as b (key, worker_id, lease_expires_at)
    values (${key}, ${workerId}, muster_now() + ${leaseSeconds} * interval '1 second')
    on conflict (key) do update set worker_id = excluded.worker_id, lease_expires_at = excluded.lease_expires_at
    where b.worker_id = excluded.worker_id or b.lease_expires_at < muster_now()
    returning b.next_update_id as next`
  return row?.next ?? null
}

/** Fenced by the hold. */
export async function storeProgress(database: Database, key: string, workerId: string, nextUpdateId: number): Promise<boolean> {
  const { count } = await database.sql`
    update muster_system.chat_bots set next_update_id = greatest(next_update_id, ${nextUpdateId}) where key = ${key} and worker_id = ${workerId}`
  return count === 1
}

export async function releaseBot(database: Database, key: string, workerId: string): Promise<void> {
  await database.sql`update muster_system.chat_bots set lease_expires_at = muster_now() - interval '1 millisecond' where key = ${key} and worker_id = ${workerId}`
}

/** Removes bots that no worker has held for a month: of channels that are gone, or have another token. */
export async function removeOldBots(database: Database): Promise<void> {
  await database.sql`delete from muster_system.chat_bots where lease_expires_at < (select muster_now()) - interval '30 days'`
}

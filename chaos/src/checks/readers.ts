import type { InboxDelivery } from '../ledger.ts'
import { checkRows, type Evidence } from './check.ts'

/** Every follower of the log has received all of it. */
export async function checkFollowers({ admin, followers, findings }: Evidence): Promise<void> {
  for (const follower of followers) {
    const rows = await admin<{ seq: string }[]>`
      select seq::text from events where project_id = ${follower.projectId} and (${follower.type}::text is null or type = ${follower.type}) order by seq`
    const seen = new Set(follower.seen)
    findings.none(
      'followers have got every event',
      rows.length,
      rows.filter((row) => !seen.has(Number(row.seq))).map((row) => `${follower.name} (${follower.type ?? 'all'}) never got ${row.seq}`),
    )
    findings.none(
      'followers have got nothing that is not in the log',
      follower.seen.length,
      follower.seen.length > rows.length ? [`${follower.name}: ${follower.seen.length} of ${rows.length}`] : [],
    )
  }
}

/** When an id of version 7 was made. */
const madeMs = (id: string) => Number.parseInt(id.replace('-', '').slice(0, 12), 16)

/** Results reach the session that asked, once, apart from answers that were lost on their way. */
export async function checkInbox({ admin, ledger, findings, clock }: Evidence): Promise<void> {
  const items = await admin<{ id: string; session_id: string; delivered_at: Date | null; is_repeated: boolean; claim_id: string | null }[]>`
    select id, session_id, delivered_at, chaos.is_repeated(delivered_at), claim_id from inbox`
  const known = new Map(items.map((item) => [item.id, item]))
  const deliveries = Map.groupBy(ledger.deliveries, (delivery) => delivery.inboxId)
  findings.none(
    'every inbox item was delivered',
    items.length,
    items.filter((item) => item.delivered_at === null).map((item) => `${item.id} of ${item.session_id}`),
  )
  findings.none(
    'an inbox item is delivered once, or again only where it was not confirmed',
    items.length,
    [...deliveries]
      // One is final, and every other a manual claim that was made before, of which a late confirmation may count for other items. Its answer may
      // come after the final one, when its request is repeated.
      .filter(([id, group]) => {
        const item = known.get(id)
        const isFinal = ({ claimId, acknowledged }: InboxDelivery) => claimId === null || (acknowledged && claimId === item?.claim_id)
        const isLate = ({ claimId }: InboxDelivery) =>
          claimId !== null &&
          claimId !== item?.claim_id &&
          item?.is_repeated === false &&
          clock.shown(madeMs(claimId), madeMs(claimId)).fromMs > (item.delivered_at?.getTime() ?? Number.POSITIVE_INFINITY)
        return group.filter(isFinal).length > 1 || group.some(isLate)
      })
      .map(([id, group]) => `${id} of ${group[0]?.session}: ${group.length} times, ${group.filter((delivery) => delivery.acknowledged).length} of them final`),
  )
  findings.none(
    'what is delivered is in the inbox of that session',
    ledger.deliveries.length,
    ledger.deliveries
      .filter((delivery) => known.get(delivery.inboxId)?.session_id !== delivery.session)
      .map((delivery) => `${delivery.inboxId} to ${delivery.session}`),
  )
  const missed = Map.groupBy(
    items.filter((item) => item.delivered_at !== null && !deliveries.has(item.id)),
    (item) => item.session_id,
  )
  const lost = Map.groupBy(ledger.lostInboxClaims, (claim) => claim.session)
  findings.none(
    'an inbox item reaches its reader, apart from answers to claims without a key that were lost',
    items.length,
    [...missed]
      .filter(([session, group]) => group.length > (lost.get(session) ?? []).reduce((sum, claim) => sum + claim.limit, 0))
      .map(([session, group]) => `${session}: ${group.length} never arrived, ${lost.get(session)?.length ?? 0} answers were lost`),
  )
}

/** Updates are stored once, and delivered in order, at most once an attempt. */
export async function checkUpdates(evidence: Evidence): Promise<void> {
  const { admin, ledger, findings } = evidence
  const rows = await admin<{ id: string; subtask_id: string; seq: number; content: string; status: string; delivered_to: string | null }[]>`
    select id, subtask_id, seq, content, status, delivered_to from updates where subtask_id is not null`
  const byText = Map.groupBy(rows, (row) => row.content)
  findings.none(
    'every accepted update is stored once, and none that was refused',
    ledger.notes.length,
    ledger.notes
      .filter((note) => {
        const count = byText.get(note.text)?.length ?? 0
        return count > 1 || (note.state === 'accepted' && count !== 1) || (note.state === 'refused' && count !== 0)
      })
      .map((note) => `${note.text} of ${note.subtaskId} (${note.state}): ${byText.get(note.text)?.length ?? 0}`),
  )
  const reports = await admin<{ id: string; attempt: number; notes: { in_brief: string[]; received: string[] } }[]>`
    select id, attempt, outputs -> 'notes' as notes from subtasks where runner = 'steered' and status = 'completed'`
  const ofSubtask = Map.groupBy(rows, (row) => row.subtask_id)
  const broken: string[] = []
  for (const { id, attempt, notes } of reports) {
    const own = (ofSubtask.get(id) ?? []).sort((one, other) => one.seq - other.seq)
    const places = [...notes.in_brief, ...notes.received].map((text) => own.find((row) => row.content === `chaos-note ${text}`)?.seq ?? -1)
    const isInOrder = places.every((place, index) => place === index + 1)
    // What the program confirmed, it has.
    const confirmed = own.filter((row) => row.status === 'acknowledged' && row.delivered_to === `subtask-${id}#${attempt}`).map((row) => row.seq)
    if (!isInOrder || confirmed.some((place) => !places.includes(place))) {
      broken.push(`${id}#${attempt} got ${places.join(',')} (${notes.in_brief.length} in its brief), confirmed ${confirmed.join(',')} of ${own.length}`)
    }
  }
  findings.none('a steered program gets its updates in order, from the first, each once', reports.length, broken)
  await checkRows(
    evidence,
    'an update is announced as delivered at most once an attempt',
    admin`select count(*) from events where type = 'update.delivered'`,
    admin`
      select data ->> 'update_id' as update_id, data ->> 'delivered_to' as delivered_to, count(*) from events where type = 'update.delivered'
      group by 1, 2 having count(*) > 1`,
  )
  await checkRows(
    evidence,
    'updates are delivered in the order in which they were sent',
    admin`select count(*) from updates where subtask_id is not null and delivered_at is not null`,
    admin`
      select subtask_id, seq, delivered_at, before from (
        select subtask_id, seq, delivered_to, delivered_at, lag(delivered_at) over (partition by subtask_id order by seq) as before
        from updates where subtask_id is not null and delivered_at is not null
      ) as delivered where before > delivered_at and not chaos.is_repeated(delivered_at)`,
  )
  await checkRows(
    evidence,
    'an ended subtask has no update waiting',
    admin`select count(*) from updates`,
    admin`select u.id, u.subtask_id, u.status from updates u join subtasks s on s.id = u.subtask_id where u.status = 'queued' and s.final_outcome is not null`,
  )
}

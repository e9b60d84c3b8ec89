import { checkRows, type Evidence } from './check.ts'

interface Row {
  id: string
  receiver_id: string
  subject_id: string
  is_ordered: boolean
  event_seq: number
}

/** Every event reaches each webhook that asked for it, under one id, signed, whatever the receiver, the workers and the database did meanwhile. */
export async function checkWebhooks(evidence: Evidence): Promise<void> {
  const { admin, findings, system } = evidence
  const { receipts } = system.receiver
  await checkRows(
    evidence,
    'each event has one delivery to each webhook that asks for its type, and it is delivered',
    admin`select count(*) from deliveries`,
    admin`
      select e.seq, e.type, r.id as webhook, count(d.id)::int as deliveries, array_agg(d.status) as statuses
      from receivers r join events e on e.project_id = r.project_id and (e.type = any(r.events) or 'subtask.*' = any(r.events) and e.type like 'subtask.%')
      left join deliveries d on d.receiver_id = r.id and d.event_seq = e.seq
      where r.kind = 'webhook' group by 1, 2, 3 having count(d.id) <> 1 or min(d.status) <> 'delivered'`,
  )
  await checkRows(
    evidence,
    'no webhook is disabled by a receiver that is only unreliable',
    admin`select count(*) from receivers where kind = 'webhook'`,
    admin`select id, disabled_reason from receivers where kind = 'webhook' and status <> 'enabled'`,
  )
  const rows = await admin<Row[]>`select id, receiver_id, subject_id, is_ordered, event_seq::int as event_seq from deliveries where status = 'delivered'`
  const known = new Set(rows.map(({ id }) => id))
  findings.none(
    'what counts as delivered was acknowledged by the receiver, under its id',
    rows.length,
    rows.filter(({ id }) => receipts.get(id)?.acknowledged == null).map(({ id }) => id),
  )
  findings.none(
    'nothing arrives under an id that no delivery has',
    receipts.size,
    [...receipts.keys()].filter((id) => !known.has(id)),
  )
  findings.none(
    'a delivery is signed, and its repetitions have the same id and body',
    receipts.size,
    [...receipts].filter(([, { problems }]) => problems.length > 0).map(([id, { problems }]) => `${id}: ${problems.join('; ')}`),
  )
  const ordered = rows.filter((row) => row.is_ordered)
  findings.none(
    'deliveries about one subject are acknowledged in the order of its events, where the webhook asks for that',
    ordered.length,
    [...Map.groupBy(ordered, (row) => `${row.receiver_id} ${row.subject_id}`)].flatMap(([subject, group]) => {
      const places = group.sort((one, other) => one.event_seq - other.event_seq).map(({ id }) => receipts.get(id)?.acknowledged ?? -1)
      return places.every((place, index) => index === 0 || place > (places[index - 1] as number)) ? [] : [`${subject}: ${places.join(', ')}`]
    }),
  )
}

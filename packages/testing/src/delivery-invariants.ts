import type { Check } from './check.ts'

export const DELIVERIES: Check[] = [
  {
    claim: 'a receiver has at most one delivery of an event',
    find: (sql) => sql`
      select format('receiver %s has %s of event %s', receiver_id, count(*), event_seq) as broken
      from deliveries where event_seq is not null group by receiver_id, event_seq having count(*) > 1`,
  },
  {
    claim: 'each end of a subtask or task with a callback has a delivery',
    find: (sql) => sql`
      select format('%s of %s', e.type, e.subject_id) as broken
      from receivers c join events e on e.project_id = c.project_id and e.subject_id = c.subject_id and e.type = any(c.events) and e.at > c.created_at
      where c.kind = 'callback' and c.status = 'enabled'
        and not exists (select from deliveries d where d.receiver_id = c.id and d.event_seq = e.seq)`,
  },
  {
    claim: 'what counts as delivered to a program was answered with 2xx',
    find: (sql) => sql`
      select format('delivery %s', id) as broken from deliveries
      where status = 'delivered' and kind in ('webhook', 'callback')
        and not exists (select from jsonb_array_elements(attempts) as a where (a ->> 'status')::int between 200 and 299)`,
  },
]

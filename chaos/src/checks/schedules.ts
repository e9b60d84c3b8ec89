import { checkRows, type Evidence } from './check.ts'

/** Every slot fired exactly once, or says why not; nothing fires that was not due. */
export async function checkSchedules(evidence: Evidence): Promise<void> {
  const { admin, ledger, findings } = evidence
  const rows = await admin<{ id: string; project_id: string; marker: string }[]>`select id, project_id, metadata ->> 'chaos' as marker from schedules`
  const byId = new Map(rows.map((row) => [row.id, row]))
  const accepted = ledger.schedules.filter(({ state }) => state === 'accepted')
  findings.none(
    'every accepted schedule is there, as it was written',
    accepted.length,
    accepted
      .filter(({ id, marker, projectId }) => byId.get(id as string)?.marker !== marker || byId.get(id as string)?.project_id !== projectId)
      .map(({ id, marker }) => `${marker} ${id}: ${JSON.stringify(byId.get(id as string) ?? 'missing')}`),
  )
  findings.none(
    'one request makes at most one schedule, however often it was repeated',
    ledger.schedules.length,
    [...Map.groupBy(rows, ({ marker }) => marker)].filter(([, group]) => group.length > 1).map(([marker]) => marker),
  )

  const slots = admin`select count(*) from schedule_slots`
  await checkRows(
    evidence,
    'an interval has a row for each of its slots, from the first to the last that came',
    slots,
    admin`
      select s.id, s.canonical, count(*) as rows, max(place) as last, bool_and(place = trunc(place)) as on_time from schedules s
      cross join lateral (
        select extract(epoch from slot - (s.timing ->> 'anchorAt')::timestamptz) / (s.timing ->> 'seconds')::int as place
        from schedule_slots where schedule_id = s.id and not manual
      ) as places
      where s.timing ->> 'kind' = 'interval' group by s.id having count(*) <> max(place) or not bool_and(place = trunc(place))`,
  )
  await checkRows(
    evidence,
    'a one-shot has one slot, at its time, unless it was deactivated before',
    slots,
    admin`
      select s.id, s.state, array_agg(l.slot) as slots from schedules s left join schedule_slots l on l.schedule_id = s.id and not l.manual
      where s.timing ->> 'kind' = 'once' group by s.id
      having count(l.slot) > 1 or (count(l.slot) = 0 and s.state <> 'deactivated') or max(l.slot) <> (s.timing ->> 'at')::timestamptz`,
  )
  await checkRows(
    evidence,
    'a fired slot has one subtask, and a subtask of a schedule one slot',
    slots,
    admin`
      select l.id as slot, t.id as subtask, l.outcome from schedule_slots l
      full join (select id, schedule_id from subtasks where schedule_id is not null) as t on t.id = l.subtask_id and t.schedule_id = l.schedule_id
      where l.id is null or (l.outcome = 'fired') <> (t.id is not null)
      union all
      select min(id::text)::uuid, subtask_id, 'twice' from schedule_slots where subtask_id is not null group by subtask_id having count(*) > 1`,
  )
  await checkRows(
    evidence,
    'a schedule counts what it fired, within what it may',
    admin`select count(*) from schedules`,
    admin`
      select s.id, s.fire_count, s.max_fires, count(l.id) as fired from schedules s
      left join schedule_slots l on l.schedule_id = s.id and l.outcome = 'fired' and not l.manual
      group by s.id having s.fire_count <> count(l.id) or s.fire_count > s.max_fires`,
  )
  await checkRows(
    evidence,
    'no slot is left waiting, and nothing is due of what has ended',
    admin`select count(*) from schedules`,
    admin`
      select s.id, s.state, s.next_fire_at, l.slot from schedules s left join schedule_slots l on l.schedule_id = s.id and l.outcome = 'waiting'
      where l.id is not null or s.next_fire_at is not null or s.state not in ('finished', 'deactivated')`,
  )
  await checkRows(
    evidence,
    'where runs may not overlap, none began before the one before it had ended',
    admin`select count(*) from subtasks where schedule_id is not null`,
    admin`
      select earlier.id as earlier, later.id as later, later.created_at, earlier.completed_at from schedules s
      join subtasks earlier on earlier.schedule_id = s.id
      join subtasks later on later.schedule_id = s.id and (later.created_at, later.id) > (earlier.created_at, earlier.id) and later.created_at < earlier.completed_at
      where s.overlap = 'skip' and not chaos.is_repeated(later.created_at)`,
  )
  await checkRows(
    evidence,
    'each slot that fired, or was skipped, was announced once',
    slots,
    admin`
      select l.id, l.schedule_id, l.slot, l.outcome, count(e.seq) from schedule_slots l
      left join events e on e.subject_id = l.schedule_id and (e.data ->> 'slot')::timestamptz = l.slot
        and e.type = case when l.outcome = 'fired' then 'schedule.fired' else 'schedule.skipped' end
      where l.outcome <> 'waiting' group by l.id having count(e.seq) <> 1`,
  )
}

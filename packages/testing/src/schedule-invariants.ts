import { announced, type Check } from './check.ts'

const ROWS: Check[] = [
  {
    claim: 'a subtask of a schedule has exactly one slot, which has fired, of that schedule',
    find: (sql) => sql`
      select format('subtask %s of schedule %s has %s', t.id, t.schedule_id, count(l.id)) as broken
      from subtasks t left join schedule_slots l
        on l.subtask_id = t.id and l.schedule_id = t.schedule_id and l.project_id = t.project_id and l.outcome = 'fired'
      where t.schedule_id is not null
      group by t.id having count(l.id) <> 1`,
  },
  {
    claim: 'a slot that has fired has exactly one subtask, of its own schedule, and no two slots have the same',
    find: (sql) => sql`
      select format('slot %s of schedule %s has %s', l.slot, l.schedule_id, coalesce(l.subtask_id::text, 'none')) as broken
      from schedule_slots l left join subtasks t on t.id = l.subtask_id and t.schedule_id = l.schedule_id and t.project_id = l.project_id
      where (l.outcome = 'fired') <> (t.id is not null)
      union all
      select format('subtask %s of %s slots', subtask_id, count(*)) from schedule_slots where subtask_id is not null group by subtask_id having count(*) > 1`,
  },
  {
    claim: 'a slot comes once, to a schedule of its own project',
    find: (sql) => sql`
      select format('slot %s of schedule %s has %s rows', slot, schedule_id, count(*)) as broken
      from schedule_slots where not manual group by schedule_id, slot having count(*) > 1
      union all
      select format('slot %s of %s', l.slot, l.schedule_id) from schedule_slots l left join schedules d on d.id = l.schedule_id and d.project_id = l.project_id where d.id is null`,
  },
  {
    claim: 'a schedule counts the slots that have fired, without those that were triggered, and no more than it may',
    find: (sql) => sql`
      select format('%s counts %s of %s, at most %s', d.id, d.fire_count, count(l.id), d.max_fires) as broken
      from schedules d left join schedule_slots l on l.schedule_id = d.id and l.outcome = 'fired' and not l.manual
      group by d.id having d.fire_count <> count(l.id) or d.fire_count > d.max_fires`,
  },
  {
    claim: 'at most one slot of a schedule waits',
    find: (sql) =>
      sql`select format('%s of %s', count(*), schedule_id) as broken from schedule_slots where outcome = 'waiting' group by schedule_id having count(*) > 1`,
  },
  {
    claim: 'a schedule that goes on has a next slot, or one that waits; one that has ended has neither, and a paused one has none that waits',
    find: (sql) => sql`
      select format('%s %s, next %s, %s waiting', d.state, d.id, coalesce(d.next_fire_at::text, 'never'), count(l.id)) as broken
      from schedules d left join schedule_slots l on l.schedule_id = d.id and l.outcome = 'waiting'
      group by d.id
      having case d.state
        when 'active' then d.next_fire_at is null and count(l.id) = 0
        when 'paused' then d.next_fire_at is null or count(l.id) > 0
        else d.next_fire_at is not null or count(l.id) > 0 end`,
  },
  {
    claim: 'a slot that has been is before the next one',
    find: (sql) => sql`
      select format('slot %s of schedule %s, whose next is %s', l.slot, d.id, d.next_fire_at) as broken
      from schedules d join schedule_slots l on l.schedule_id = d.id and not l.manual and l.slot >= d.next_fire_at`,
  },
]

const ANNOUNCEMENTS: Check[] = [
  {
    claim: 'every slot that has fired, or was passed by, was announced once, and nothing else was',
    find: (sql) => sql`
      with told as (
        select subject_id, type, data ->> 'slot' as slot, data ->> 'subtask_id' as subtask_id, data ->> 'outcome' as outcome
        from events where subject_kind = 'schedule' and type in ('schedule.fired', 'schedule.skipped')
        union all
        select subject_id, type, data ->> 'slot', data ->> 'subtask_id', data ->> 'outcome'
        from muster_system.waiting_events where subject_kind = 'schedule' and type in ('schedule.fired', 'schedule.skipped')
      ),
      counted as (
        select subject_id, slot::timestamptz as slot, coalesce(subtask_id, outcome) as what, count(*) as times from told group by 1, 2, 3
      )
      select format('%s slot %s of %s: %s times', coalesce(l.outcome, c.what), coalesce(l.slot, c.slot), coalesce(l.schedule_id, c.subject_id), coalesce(c.times, 0)) as broken
      from (select * from schedule_slots where outcome <> 'waiting') as l
      full join counted c on c.subject_id = l.schedule_id and c.slot = l.slot and c.what = coalesce(l.subtask_id::text, l.outcome)
      where c.times is distinct from 1 or l.id is null`,
  },
  {
    claim: 'the end of a schedule was announced once, and nothing after it',
    find: (sql) => sql`
      select format('%s %s: %s is number %s of %s', d.state, d.id, a.type, a.nth, a.total) as broken
      from (${announced(sql, 'schedule')}) as a join schedules d on d.id = a.subject_id
      where (a.type in ('schedule.finished', 'schedule.deactivated')) <> (a.nth = a.total and d.state in ('finished', 'deactivated'))
      union all
      select format('%s %s was not announced', d.state, d.id) from schedules d
      where d.state in ('finished', 'deactivated') and not exists (
        select from (${announced(sql, 'schedule')}) as a where a.subject_id = d.id and a.type = 'schedule.' || d.state)`,
  },
]

/** What must hold of schedules and of what became of their slots. */
export const SCHEDULES: readonly Check[] = [...ROWS, ...ANNOUNCEMENTS]

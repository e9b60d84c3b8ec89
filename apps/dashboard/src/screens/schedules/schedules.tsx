import type { Schedule, SlotOutcome } from '@muster/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Expandable } from '../../design/expandable.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Facts, Page, Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { showError, toasts } from '../../design/toasts.tsx'
import { useGrowingList } from '../../live/growing-list.ts'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'
import { Calendar } from './calendar.tsx'
import { NewSchedule } from './new-schedule.tsx'

const idOf = ({ id }: Schedule) => id
const listSchedules = () => muster.schedules.list({ active: 'all', limit: 200 })
const KEY = keys.list('schedule', 'all')

/** Rules in words: write one, see how it is read, and what came of each slot. */
export function Schedules() {
  const list = useCallback(listSchedules, [])
  const schedules = useGrowingList(KEY, list, idOf)
  return (
    <Page title="Schedules">
      <div className="stack">
        <NewSchedule />
        <Loaded query={schedules.query}>
          {() =>
            schedules.items.length === 0 ? (
              <Panel title="No schedules yet">
                <Empty
                  curl={curlLine('/schedules', { task: 'Summarise yesterday', every: 'weekday at 9', timezone: 'Europe/Berlin' })}
                  sdk={`await muster.schedules.create({ task: 'Summarise yesterday', every: 'weekday at 9', timezone: 'Europe/Berlin' })`}
                >
                  A schedule starts a subtask at each point in time of its rule, exactly once.
                </Empty>
              </Panel>
            ) : (
              <>
                <Calendar schedules={schedules.items} />
                {schedules.items.map((schedule) => (
                  <ScheduleCard key={schedule.id} schedule={schedule} />
                ))}
                {schedules.hasMore && <Button onClick={schedules.loadMore}>Load more</Button>}
              </>
            )
          }
        </Loaded>
      </div>
    </Page>
  )
}

function ScheduleCard({ schedule }: { schedule: Schedule }) {
  const title = (
    <span className="row">
      <Badge status={schedule.state} />
      {schedule.canonical}
    </span>
  )
  return (
    <Panel title={title} actions={<ScheduleActions schedule={schedule} />}>
      <div className="stack">
        <Facts
          of={{
            Task: schedule.task,
            Reading: schedule.reading,
            Next: <Time at={schedule.next_fire_at} exact />,
            Fired: `${schedule.fire_count}${schedule.max_fires === null ? '' : ` of ${schedule.max_fires}`} times`,
            Warnings: schedule.warnings.length === 0 ? undefined : schedule.warnings.map(({ message }) => message).join(' '),
          }}
        />
        <Expandable summary="Slots">
          <Runs schedule={schedule} />
        </Expandable>
      </div>
    </Panel>
  )
}

function ScheduleActions({ schedule }: { schedule: Schedule }) {
  const act = useMutation({
    mutationFn: (action: 'pause' | 'resume' | 'trigger' | 'deactivate'): Promise<unknown> => muster.schedules[action](schedule.id),
    onSuccess: (_, action) =>
      toasts.add({ title: { pause: 'Paused.', resume: 'Resumed.', trigger: 'Started a subtask.', deactivate: 'Deactivated.' }[action] }),
    onError: showError,
  })
  const isActive = schedule.state === 'active'
  return (
    <>
      <Button onClick={() => act.mutate('trigger')}>Run now</Button>
      {(isActive || schedule.state === 'paused') && (
        <>
          <Button onClick={() => act.mutate(isActive ? 'pause' : 'resume')}>{isActive ? 'Pause' : 'Resume'}</Button>
          <Button kind="danger" onClick={() => act.mutate('deactivate')}>
            Deactivate
          </Button>
        </>
      )}
    </>
  )
}

const RUNS_SHOWN = 20

/** Why a slot has the outcome that it has. */
const REASONS: Record<SlotOutcome, string> = {
  waiting: 'starts as soon as the run before it has ended',
  fired: '',
  skipped_overlap: 'the run before it had not ended',
  skipped_missed: 'no worker was there in time, and the schedule does not catch up',
  skipped_paused: 'the schedule was paused',
}

function Runs({ schedule }: { schedule: Schedule }) {
  const query = useQuery({
    queryKey: keys.one('schedule', schedule.id, 'runs'),
    queryFn: () => muster.schedules.runs(schedule.id, { limit: RUNS_SHOWN }).page(),
  })
  return (
    <Loaded query={query}>
      {({ items }) =>
        items.length === 0 ? (
          <p className="hint">It has not been due yet.</p>
        ) : (
          <ul className="list">
            {items.map((run) => (
              <li key={`${run.slot}${run.manual}`}>
                <Badge status={run.outcome} />
                <span className="grow">
                  <Time at={run.slot} exact /> <span className="hint">{run.manual ? 'started by hand' : REASONS[run.outcome]}</span>
                </span>
                {run.subtask_id !== null && (
                  <Link to="/subtasks/$id" params={{ id: run.subtask_id }}>
                    Subtask
                  </Link>
                )}
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

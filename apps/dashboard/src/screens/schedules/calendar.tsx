import type { Schedule } from '@muster/client'
import { queryOptions, useQueries } from '@tanstack/react-query'
import { Panel } from '../../design/panel.tsx'
import { useNow } from '../../design/time.tsx'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'

const DAYS = 14
const DAY_MS = 24 * 60 * 60 * 1000
/** Lines of a day. */
const SHOWN = 4
/** Of a schedule that fires more often in a day, the number is shown. */
const TIMES_SHOWN = 2
/** Firings that are read of one schedule. */
const READ = 200
/** Each schedule is a request. */
const SCHEDULES_MAX = 100
const DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' })
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })

const firingsQuery = (id: string, until: string) =>
  queryOptions({
    queryKey: keys.one('schedule', id, 'firings', until),
    queryFn: ({ signal }) => muster.schedules.firings(id, { until, limit: READ }, { signal }),
  })

interface Due {
  schedule: Schedule
  times: Date[]
  /** More come after the last of them, and are not known. */
  isCut: boolean
}

/** The next two weeks, in this browser's time zone. */
export function Calendar({ schedules }: { schedules: Schedule[] }) {
  const today = new Date(useNow())
  today.setHours(0, 0, 0, 0)
  // Noon and not midnight: days are 23 or 25 hours long when clocks change.
  const days = Array.from({ length: DAYS }, (_, offset) => new Date(today.getTime() + offset * DAY_MS + DAY_MS / 2))
  const end = new Date(days.at(-1) ?? today)
  end.setHours(23, 59, 59, 999)
  const active = schedules.filter(({ state }) => state === 'active')
  const read = active.slice(0, SCHEDULES_MAX)
  const found = useQueries({ queries: read.map(({ id }) => firingsQuery(id, end.toISOString())) })
  const due = read.map((schedule, place): Due => {
    const { firings = [], is_cut: isCut = false } = found[place]?.data ?? {}
    return { schedule, times: firings.map((at) => new Date(at)), isCut }
  })
  return (
    <Panel title="Next two weeks" count={active.length > read.length ? `of the newest ${SCHEDULES_MAX} schedules` : undefined}>
      <ol className="calendar">
        {days.map((day) => (
          <Day key={day.toDateString()} day={day} due={due} />
        ))}
      </ol>
    </Panel>
  )
}

interface Line {
  key: string
  /** In milliseconds since the epoch: what comes first stands above. */
  atMs: number
  text: string
  title: string
}

function Day({ day, due }: { day: Date; due: readonly Due[] }) {
  const lines = due.flatMap((each) => linesOf(each, day)).sort((a, b) => a.atMs - b.atMs)
  return (
    <li className="calendar-day">
      <h3>{DAY.format(day)}</h3>
      {lines.slice(0, SHOWN).map(({ key, text, title }) => (
        <p key={key} className="hint" title={title}>
          {text}
        </p>
      ))}
      {lines.length > SHOWN && (
        <details className="hint">
          <summary>{lines.length - SHOWN} more</summary>
          {lines.slice(SHOWN).map(({ key, text, title }) => (
            <p key={key} title={title}>
              {text}
            </p>
          ))}
        </details>
      )}
    </li>
  )
}

/** What a schedule does on a day: each of a few firings, or how many there are. */
function linesOf({ schedule, times, isCut }: Due, day: Date): Line[] {
  const { id, task, canonical } = schedule
  const last = times.at(-1)
  const title = `${task}\n${canonical}`
  if (isCut && last !== undefined && last < day && last.toDateString() !== day.toDateString()) {
    return [{ key: id, atMs: 0, text: `${canonical}: ${task}`, title }]
  }
  const ofDay = times.filter((at) => at.toDateString() === day.toDateString())
  const [first] = ofDay
  if (first === undefined) return []
  if (ofDay.length <= TIMES_SHOWN) {
    return ofDay.map((at) => ({ key: `${id}${at.getTime()}`, atMs: at.getTime(), text: `${TIME.format(at)} ${task}`, title }))
  }
  const goesOn = isCut && last === ofDay.at(-1)
  return [{ key: id, atMs: first.getTime(), text: `${ofDay.length}${goesOn ? '+' : ''}× from ${TIME.format(first)} ${task}`, title }]
}

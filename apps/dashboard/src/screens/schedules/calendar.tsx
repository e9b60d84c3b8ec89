import type { Schedule } from '@muster/client'
import { Panel } from '../../design/panel.tsx'
import { useNow } from '../../design/time.tsx'

const DAYS = 14
const DAY_MS = 24 * 60 * 60 * 1000
const SHOWN = 4
const DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' })
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })

/** The next two weeks, in this browser's time zone: the next five firings of each schedule. */
export function Calendar({ schedules }: { schedules: Schedule[] }) {
  const today = new Date(useNow())
  today.setHours(0, 0, 0, 0)
  const firings = schedules
    .filter(({ state }) => state === 'active')
    .flatMap((schedule) => schedule.upcoming.map((at) => ({ at: new Date(at), schedule })))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
  return (
    <Panel title="Next two weeks" count="the next five firings of each">
      <ol className="calendar">
        {Array.from({ length: DAYS }, (_, offset) => {
          // Noon and not midnight: days are 23 or 25 hours long when clocks change.
          const day = new Date(today.getTime() + offset * DAY_MS + DAY_MS / 2)
          const due = firings.filter(({ at }) => at.toDateString() === day.toDateString())
          return (
            <li key={day.toDateString()} className="calendar-day">
              <h3>{DAY.format(day)}</h3>
              {due.slice(0, SHOWN).map(({ at, schedule }) => (
                <p key={`${schedule.id}${at.getTime()}`} className="hint" title={schedule.task}>
                  {TIME.format(at)} {schedule.task}
                </p>
              ))}
              {due.length > SHOWN && <p className="hint">{due.length - SHOWN} more</p>}
            </li>
          )
        })}
      </ol>
    </Panel>
  )
}

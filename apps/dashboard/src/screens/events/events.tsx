import type { Event } from '@muster/client'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Empty } from '../../design/empty.tsx'
import { JsonBlock } from '../../design/json-block.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { VirtualList } from '../../design/virtual-list.tsx'
import { followLive } from '../../live/events.ts'
import { SubjectLink } from './subject-link.tsx'

const route = getRouteApi('/events')

/** Older events than these leave the page; the log keeps them. */
const KEPT = 5_000

/** The event log as it grows, from the moment this screen was opened. */
export function Events() {
  const [events, setEvents] = useState<readonly Event[]>([])
  const { q = '' } = route.useSearch()
  const [filter, setFilter] = useState(q)
  const navigate = useNavigate()
  const change = (next: string) => {
    setFilter(next)
    void navigate({ to: '/events', search: next === '' ? {} : { q: next }, replace: true })
  }
  useEffect(() => {
    let arrived: Event[] = []
    // Many events are shown at once: a page for each would be too slow.
    const show = setInterval(() => {
      if (arrived.length === 0) return
      const more = arrived
      arrived = []
      setEvents((before) => [...before, ...more].slice(-KEPT))
    }, 100)
    const stop = followLive((live) => {
      if ('event' in live) arrived.push(live.event)
    })
    return () => {
      clearInterval(show)
      stop()
    }
  }, [])
  const shown = filter === '' ? events : events.filter(({ type, subject }) => type.includes(filter) || subject.id.includes(filter))
  return (
    <Page title="Events">
      <div className="stack">
        <input
          className="input"
          aria-label="Filter by type or subject"
          placeholder="Filter by type or subject"
          value={filter}
          onChange={(event) => change(event.target.value)}
        />
        <Panel title="Since this screen was opened" count={shown.length} isFlush>
          {shown.length === 0 ? (
            <Empty
              curl={`curl -sN '${window.location.origin}/events?after=0'`}
              sdk={'for await (const event of muster.events.follow({ after: 0 })) console.log(event.type)'}
            >
              Nothing has happened since. The whole log, from its oldest event:
            </Empty>
          ) : (
            <VirtualList label="Events" items={shown} idOf={({ id }) => String(id)} followsEnd>
              {(event) => <EventRow event={event} />}
            </VirtualList>
          )}
        </Panel>
      </div>
    </Page>
  )
}

function EventRow({ event }: { event: Event }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div>
      <div className="list-row">
        <span className="meta">{event.id}</span>
        <button type="button" className="link grow" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {event.type}
        </button>
        <SubjectLink subject={event.subject} />
        <span className="meta wide-only">{event.actor.id}</span>
        <Time at={event.at} />
      </div>
      {isOpen && (
        <div className="panel-body">
          <JsonBlock label="Data" value={event.data} />
        </div>
      )}
    </div>
  )
}

import type { Event, Subtask } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'

/** A stream that has no more stored events says nothing. In milliseconds. */
const QUIET_MS = 400

/** The events of a subtask from its creation. An ended one closes its stream; of another, the stored ones are read. */
async function readEvents(id: string, signal: AbortSignal): Promise<Event[]> {
  const events: Event[] = []
  const stop = new AbortController()
  let quiet = setTimeout(() => stop.abort(), 4 * QUIET_MS)
  try {
    for await (const event of muster.subtasks.handle(id).events({ after: 0, signal: AbortSignal.any([signal, stop.signal]) })) {
      events.push(event)
      clearTimeout(quiet)
      quiet = setTimeout(() => stop.abort(), QUIET_MS)
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    clearTimeout(quiet)
  }
  return events
}

/** What happened to a subtask: its attempts, waits, cancels and end. */
export function Timeline({ subtask }: { subtask: Subtask }) {
  const query = useQuery({ queryKey: keys.one('subtask', subtask.id, 'events'), queryFn: ({ signal }) => readEvents(subtask.id, signal) })
  return (
    <Panel title="Timeline" count={query.data?.length} isFlush>
      <Loaded query={query}>
        {(events) => (
          <ul className="list">
            {events.map((event) => (
              <li key={event.id}>
                <code>{event.type}</code>
                <span className="grow hint">{describe(event)}</span>
                <span className="meta">{event.actor.id}</span>
                <Time at={event.at} exact />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  )
}

function describe({ data }: Event): string {
  const { attempt, reason, error, final_outcome } = data
  const parts = [
    typeof attempt === 'number' ? `attempt ${attempt}` : undefined,
    [final_outcome, reason, error].find((part): part is string => typeof part === 'string'),
  ]
  return parts.filter((part) => part !== undefined).join(': ')
}

import type { Event } from '@muster/client'
import type { UseQueryResult } from '@tanstack/react-query'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'

/** The events of one subject, oldest first. */
export function EventTable({ query }: { query: UseQueryResult<Event[]> }) {
  return (
    <Panel title="Events" count={query.data?.length} isFlush>
      <Loaded query={query}>
        {(events) => (
          <ul className="list">
            {events.map((event) => (
              <li key={event.id}>
                <code>{event.type}</code>
                <span className="grow hint">{describe(event)}</span>
                <span className="meta wide-only">{event.actor.id}</span>
                <Time at={event.at} exact />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  )
}

/** Who or what an event is about, in a few words. */
function describe({ type, data }: Event): string {
  const { attempt, reason, error, final_outcome, delivered_to, subagent_session_id, revision } = data
  const parts = [
    typeof attempt === 'number' ? `attempt ${attempt}` : undefined,
    type === 'task.assigned' && typeof subagent_session_id === 'string' ? `to ${subagent_session_id}` : undefined,
    type === 'task.revised' && typeof revision === 'number' ? `revision ${revision}` : undefined,
    typeof delivered_to === 'string' ? `to ${delivered_to}` : undefined,
    [final_outcome, reason, error].find((part): part is string => typeof part === 'string'),
  ]
  return parts.filter((part) => part !== undefined).join(': ')
}

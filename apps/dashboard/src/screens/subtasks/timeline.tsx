import type { Subtask } from '@muster/client'
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { keys } from '../../live/refresh.ts'
import { readStored } from '../../live/stored-events.ts'
import { muster } from '../../muster.ts'
import { EventTable } from '../events/event-table.tsx'
import { Attempts } from './attempts.tsx'
import { transcriptQuery } from './queries.ts'
import { toolCallsOf } from './steps.ts'

const eventsQuery = (id: string, isEnded: boolean) =>
  queryOptions({
    queryKey: keys.one('subtask', id, 'events', isEnded),
    queryFn: ({ signal }) => readStored((stop) => muster.subtasks.handle(id).events({ after: 0, signal: stop }), signal, isEnded),
    placeholderData: keepPreviousData,
  })

/** What happened to a subtask: its attempts with their tool calls on one axis of time, then every event. */
export function Timeline({ subtask, isEnded }: { subtask: Subtask; isEnded: boolean }) {
  const client = useQueryClient()
  const events = useQuery(eventsQuery(subtask.id, isEnded))
  const transcript = useQuery(transcriptQuery(client, subtask.id))
  return (
    <div className="stack">
      {events.data !== undefined && <Attempts subtask={subtask} events={events.data} calls={toolCallsOf(transcript.data?.steps ?? [])} />}
      <EventTable query={events} />
    </div>
  )
}

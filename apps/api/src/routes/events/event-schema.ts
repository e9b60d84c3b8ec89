import { EVENT_TYPES, type LoggedEvent } from '@muster/domain'
import { z } from 'zod'
import { component, referenceSchema, time, toTime } from '../../http/schemas.ts'

export const eventTypeSchema = component('EventType', z.enum(EVENT_TYPES))

export const eventSchema = component(
  'Event',
  z.object({
    id: z.int().describe('Position in the log. A reader that pages by it misses no event.'),
    type: eventTypeSchema,
    at: time(),
    project_id: z.uuid(),
    subject: referenceSchema,
    data: z.record(z.string(), z.unknown()),
    actor: referenceSchema,
  }),
  {
    id: 1042,
    type: 'subtask.completed',
    at: '2026-03-02T08:00:09.310Z',
    project_id: '00000000-0000-7000-8000-000000000001',
    subject: { kind: 'subtask', id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47' },
    data: { subtask_id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47', task: 'List the public functions of src/ …', parent_session_id: 'research-1' },
    actor: { kind: 'worker', id: 'worker-7' },
  },
)

export function presentEvent(event: LoggedEvent): z.output<typeof eventSchema> {
  return {
    id: event.id,
    type: event.type as z.output<typeof eventTypeSchema>,
    at: toTime(event.at),
    project_id: event.projectId,
    subject: { kind: event.subject.kind, id: event.subject.id },
    data: event.data,
    actor: { kind: event.actor.kind, id: event.actor.id },
  }
}

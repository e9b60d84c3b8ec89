import { notFound, ownSubjectId } from '@muster/domain'
import { latestEventSeq } from '@muster/usecases'
import { z } from 'zod'
import { checkCursor, cursorOf, follow } from '../../events/follow.ts'
import { streamEndpoint } from '../../http/endpoint.ts'
import { printableId, queryNumber } from '../../http/schemas.ts'
import { eventSchema, eventTypeSchema } from './event-schema.ts'

export const afterQuery = queryNumber(0)
  .optional()
  .describe('Continue after this event id; 0 starts with the oldest kept event. The header `Last-Event-ID` takes precedence.')

export const streamEventsEndpoint = streamEndpoint({
  operationId: 'streamEvents',
  method: 'GET',
  path: '/events',
  tag: 'Events',
  summary: 'Follow the events of the project',
  description:
    'Server-sent events: `id` is the position in the log, `event` the type, `data` an Event as JSON. Without a cursor the stream starts now, with an `id` as its first line. A reader that reconnects with `Last-Event-ID` misses no event. One that falls too far behind is disconnected.',
  access: 'events:read',
  query: z.strictObject({
    type: eventTypeSchema.optional().describe('Only events of this type.'),
    subject: printableId('Only events about this subtask, task or guide.', 'port-already-in-use').optional(),
    after: afterQuery,
  }),
  answers: { 200: { description: 'A stream without end.', schema: eventSchema, contentType: 'text/event-stream' } },
  errors: ['not_found', 'cursor_invalid', 'cursor_pruned'],
  async open({ ctx, deps, query }, headers) {
    const own = ownSubjectId(ctx.actor)
    if (own !== undefined && query.subject !== undefined && query.subject !== own) throw notFound('subject')
    const cursor = cursorOf(headers, query.after)
    if (cursor !== undefined) await checkCursor(ctx, cursor)
    const afterSeq = cursor ?? (await latestEventSeq(ctx))
    return {
      stream(sink) {
        if (cursor === undefined) sink.beginAfter(afterSeq)
        return follow(ctx, deps.feed, sink, { afterSeq, type: query.type, subjectId: own ?? query.subject })
      },
    }
  },
})

import { isTerminal, isTerminalSubtaskEvent } from '@muster/domain'
import { type Ctx, getSubtask, readEvents } from '@muster/usecases'
import { z } from 'zod'
import { checkCursor, cursorOf, follow } from '../../events/follow.ts'
import type { EventSink } from '../../events/sink.ts'
import { streamEndpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { eventSchema } from '../events/event-schema.ts'
import { afterQuery } from '../events/stream.ts'

/** How long the last event of an ended subtask may be on its way into the log. */
const LAST_EVENT_WITHIN_MS = 5_000

export const streamSubtaskEventsEndpoint = streamEndpoint({
  operationId: 'streamSubtaskEvents',
  method: 'GET',
  path: '/subtasks/{id}/events',
  tag: 'Subtasks',
  summary: 'Follow one subtask',
  description:
    'Server-sent events of one subtask, from its first event or from the cursor. The stream closes after the event that ends the subtask. A reader that has read that event gets 204.',
  access: 'events:read',
  params: idParams('subtask'),
  query: z.strictObject({ after: afterQuery }),
  answers: {
    200: { description: 'A stream that ends with the subtask.', schema: eventSchema, contentType: 'text/event-stream' },
    204: { description: 'The subtask has ended and there are no events after the cursor.' },
  },
  errors: ['not_found', 'cursor_invalid', 'cursor_pruned'],
  async open({ ctx, deps, params, query }, headers) {
    const subtask = await getSubtask(ctx, params.id)
    const afterSeq = cursorOf(headers, query.after) ?? 0
    await checkCursor(ctx, afterSeq)
    const hasEnded = isTerminal(subtask.status)
    if (hasEnded && afterSeq > 0 && (await endedBy(ctx, params.id, afterSeq))) return null
    return {
      stream(sink) {
        // Its last event may have been pruned long ago; a stream of what has ended must end.
        if (hasEnded) endAfter(sink, LAST_EVENT_WITHIN_MS)
        return follow(ctx, deps.feed, sink, { afterSeq, subjectId: params.id, endsWithSubtask: true })
      },
    }
  },
})

/** Whether the event that ended the subtask is at or below a place of the log. */
async function endedBy(ctx: Ctx, subtaskId: string, seq: number): Promise<boolean> {
  let afterSeq = 0
  for (;;) {
    const page = await readEvents(ctx, { afterSeq, subjectId: subtaskId, limit: 200 })
    const end = page.find((event) => isTerminalSubtaskEvent(event.type))
    if (end !== undefined) return end.id <= seq
    const last = page.at(-1)
    if (last === undefined || page.length < 200) return false
    afterSeq = last.id
  }
}

function endAfter(sink: EventSink, ms: number): void {
  const timer = setTimeout(() => sink.end(), ms)
  sink.closed.addEventListener('abort', () => clearTimeout(timer))
}

import { checkIn } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'
import { checkedInSchema, checkInTextSchema, newCheckInSchema, presentCheckedIn } from './task-changes-schema.ts'

export const checkInEndpoint = endpoint({
  operationId: 'checkIn',
  method: 'POST',
  path: '/tasks/{id}/check-ins',
  tag: 'Tasks',
  summary: 'Report on a task',
  description:
    'Takes a text with check-in blocks: which criteria are met, what comes next, and by the revision that a block names, which updates were taken in. The first one moves an assigned task to `in_progress`. Open to the credential of the sub-agent that holds it.',
  access: 'tasks:write',
  params: idParams('task'),
  body: newCheckInSchema,
  markdown: checkInTextSchema,
  answers: { 201: { description: 'What was understood.', schema: checkedInSchema } },
  errors: ['not_found', 'invalid_transition'],
  handle: ({ ctx, params, body }) =>
    checkIn(ctx, params.id, typeof body === 'string' ? { content: body } : { content: body.content, sessionId: body.session_id ?? undefined }),
  answer: (checkedIn) => ({ status: 201, body: presentCheckedIn(checkedIn) }),
})

import { checkIn } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { checkedInSchema, checkInTextSchema, newCheckInSchema, presentCheckedIn } from './task-changes-schema.ts'

export const checkInEndpoint = endpoint({
  operationId: 'checkIn',
  method: 'POST',
  path: '/tasks/{id}/check-ins',
  tag: 'Tasks',
  summary: 'Report on a task',
  description:
    'Reads the check-in blocks of a text: which criteria are met, what comes next, and which revision the assignee works from. Updates up to it become `acknowledged`. The first check-in moves an assigned task to `in_progress`. The assignee’s own credential may call this.',
  access: 'tasks:write',
  params: idParams('task'),
  body: newCheckInSchema,
  markdown: checkInTextSchema,
  answers: { 201: { description: 'The check-in as it was read.', schema: checkedInSchema } },
  errors: ['not_found', 'invalid_transition'],
  handle: ({ ctx, params, body }) =>
    checkIn(
      ctx,
      params.id,
      typeof body === 'string' ? { content: body } : { content: body.content, sessionId: body.session_id ?? undefined, revision: body.revision ?? undefined },
    ),
  answer: (checkedIn) => ({ status: 201, body: presentCheckedIn(checkedIn) }),
})

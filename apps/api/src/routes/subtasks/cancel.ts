import { cancelSubtask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentSubtask, subtaskSchema } from './subtask-schema.ts'

export const cancelSubtaskEndpoint = endpoint({
  operationId: 'cancelSubtask',
  method: 'DELETE',
  path: '/subtasks/{id}',
  tag: 'Subtasks',
  summary: 'Cancel a subtask',
  description: 'A pending subtask is cancelled at once. A running one is asked to stop; an event reports its end.',
  access: 'subtasks:write',
  params: idParams('subtask'),
  answers: {
    200: { description: 'The subtask was pending and is cancelled.', schema: subtaskSchema },
    202: { description: 'The subtask is running and was asked to stop.', schema: subtaskSchema, headers: ['Location'] },
  },
  errors: ['not_found', 'not_cancellable'],
  handle: ({ ctx, params }) => cancelSubtask(ctx, params.id),
  answer: ({ subtask, cancelled }) =>
    cancelled
      ? { status: 200, body: presentSubtask(subtask) }
      : { status: 202, headers: { location: `/subtasks/${subtask.id}` }, body: presentSubtask(subtask) },
})

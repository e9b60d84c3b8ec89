import { cancelSubtask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/fields-schemas.ts'
import { presentSubtask, subtaskSchema } from './subtask-schema.ts'

export const cancelSubtaskEndpoint = endpoint({
  operationId: 'cancelSubtask',
  method: 'DELETE',
  path: '/subtasks/{id}',
  tag: 'Subtasks',
  summary: 'Cancel a subtask',
  description:
    'A pending subtask is cancelled at once. A running one is told to stop; its end comes as an event. Whichever commits first counts: its end or the cancel.',
  access: 'subtasks:write',
  params: idParams('subtask'),
  answers: {
    200: { description: 'It was pending and is cancelled.', schema: subtaskSchema },
    202: { description: 'It is running and has been told to stop.', schema: subtaskSchema, headers: { Location: 'Where the subtask can be read.' } },
  },
  errors: ['not_found', 'not_cancellable'],
  handle: ({ ctx, params }) => cancelSubtask(ctx, params.id),
  answer: ({ subtask, cancelled }) =>
    cancelled
      ? { status: 200, body: presentSubtask(subtask) }
      : { status: 202, headers: { location: `/subtasks/${subtask.id}` }, body: presentSubtask(subtask) },
})

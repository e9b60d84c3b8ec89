import { noteTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentUpdate, updateSchema } from '../subtasks/update-schema.ts'
import { newNoteSchema } from './task-changes-schema.ts'

export const noteTaskEndpoint = endpoint({
  operationId: 'noteTask',
  method: 'POST',
  path: '/tasks/{id}/updates',
  tag: 'Tasks',
  summary: 'Send a note to the holder of a task',
  description: 'The brief does not change. If the task has no assignee, the first assignee receives the note.',
  access: 'tasks:write',
  params: idParams('task'),
  body: newNoteSchema,
  answers: { 202: { description: 'Stored, with its receipt.', schema: updateSchema, headers: ['Location'] } },
  errors: ['not_found', 'invalid_transition'],
  handle: ({ ctx, params, body }) => noteTask(ctx, params.id, body.content),
  answer: (update) => ({ status: 202, headers: { location: `/tasks/${update.taskId}/updates` }, body: presentUpdate(update) }),
})

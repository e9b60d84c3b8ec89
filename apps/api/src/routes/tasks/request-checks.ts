import { requestChecks } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { checkRunListSchema, presentCheckRun } from './check-run-schema.ts'

export const requestTaskChecksEndpoint = endpoint({
  operationId: 'requestTaskChecks',
  method: 'POST',
  path: '/tasks/{id}/checks',
  tag: 'Tasks',
  summary: 'Execute the checks of a task',
  description:
    'A worker executes the checks that the criteria name, in the folder of the task. If the task is in review and a check ends otherwise than before, the submission is evaluated again, and `review: auto` decides by that. The end of each is the event `check.completed` of the task.',
  access: 'tasks:write',
  params: idParams('task'),
  answers: { 202: { description: 'Requested.', schema: checkRunListSchema } },
  errors: ['not_found', 'invalid_transition', 'conflict'],
  handle: ({ ctx, params }) => requestChecks(ctx, params.id),
  answer: (items) => ({ status: 202, body: { items: items.map(presentCheckRun), next_cursor: null } }),
})

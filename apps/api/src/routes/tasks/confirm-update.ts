import { confirmUpdate } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { uuid } from '../../http/fields-schemas.ts'
import { confirmedUpdateSchema, presentConfirmedUpdate } from './task-changes-schema.ts'

export const confirmUpdateEndpoint = endpoint({
  operationId: 'confirmUpdate',
  method: 'GET',
  path: '/updates/{update_id}',
  tag: 'Tasks',
  summary: 'Confirm an update',
  description:
    'For whoever was told of a change: what was sent under this id, by whom, word for word. 404 says that it did not come from here, or is about the work of others.',
  access: 'tasks:read',
  params: z.strictObject({ update_id: uuid('Id that the update came with.') }),
  answers: { 200: { description: 'It is genuine.', schema: confirmedUpdateSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => confirmUpdate(ctx, params.update_id),
  answer: (update) => ({ status: 200, body: presentConfirmedUpdate(update) }),
})

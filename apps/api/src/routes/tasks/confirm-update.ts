import { confirmUpdate } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { uuid } from '../../http/schemas.ts'
import { confirmedUpdateSchema, presentConfirmedUpdate } from './task-changes-schema.ts'

export const confirmUpdateEndpoint = endpoint({
  operationId: 'confirmUpdate',
  method: 'GET',
  path: '/updates/{update_id}',
  tag: 'Tasks',
  summary: 'Confirm an update',
  description:
    'The update exactly as it was sent, and its sender, for an agent that verifies what it received. 404: it did not come from this server, or belongs to work that the credential cannot read.',
  access: 'tasks:read',
  params: z.strictObject({ update_id: uuid('Id that the update came with.') }),
  answers: { 200: { description: 'The update is genuine.', schema: confirmedUpdateSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => confirmUpdate(ctx, params.update_id),
  answer: (update) => ({ status: 200, body: presentConfirmedUpdate(update) }),
})

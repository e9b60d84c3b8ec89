import { steerSubtask } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { idParams, requestComponent, text } from '../../http/schemas.ts'
import { deliverySchema, presentUpdate, updateSchema } from './update-schema.ts'

const newUpdateSchema = requestComponent(
  'NewUpdate',
  z.strictObject({
    content: text(20_000).describe('What the agent should know or do from now on.'),
    delivery: deliverySchema.default('next_step'),
  }),
  { content: 'Leave out the test files.' },
)

export const steerSubtaskEndpoint = endpoint({
  operationId: 'steerSubtask',
  method: 'POST',
  path: '/subtasks/{id}/updates',
  tag: 'Subtasks',
  summary: 'Steer a subtask',
  description:
    'Sends a note and answers with its receipt. A pending subtask receives it with its prompt, a running one before its next step. A note that is not delivered before the end becomes `expired`.',
  access: 'subtasks:write',
  params: idParams('subtask'),
  body: newUpdateSchema,
  answers: {
    202: {
      description: 'Stored. `delivery` is how the note will be delivered: `next_step` if the runner cannot be interrupted.',
      schema: updateSchema,
      headers: ['Location'],
    },
  },
  errors: ['not_found', 'invalid_transition', 'not_steerable'],
  handle: ({ ctx, deps, params, body }) =>
    steerSubtask(ctx, params.id, {
      content: body.content,
      delivery: body.delivery,
      steerable: (name) => deps.runners().some((runner) => runner.name === name && runner.steerable),
      interruptible: (name) => deps.runners().some((runner) => runner.name === name && runner.interruptible),
    }),
  answer: (update) => ({ status: 202, headers: { location: `/subtasks/${update.subtaskId}/updates` }, body: presentUpdate(update) }),
})

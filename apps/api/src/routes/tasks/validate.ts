import { validateTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { unknownFields } from '../../http/validation.ts'
import { newTaskSchema, presentValidatedBrief, validatedBriefSchema } from './brief-schema.ts'

export const validateTaskEndpoint = endpoint({
  operationId: 'validateTask',
  method: 'POST',
  path: '/tasks/validate',
  tag: 'Tasks',
  summary: 'Validate a task without creating it',
  description: 'Takes the body of a creation, with the same checks. Stores nothing.',
  access: 'tasks:write',
  needsNoRoom: 'it stores nothing',
  unaudited: 'stores nothing but the answer to repeat',
  spawns: true,
  body: newTaskSchema,
  validatesBody: true,
  answers: { 200: { description: 'The brief as it would be stored, with warnings.', schema: validatedBriefSchema } },
  errors: ['spawn_blocked'],
  handle: ({ ctx, body }) => validateTask(ctx, body, unknownFields(newTaskSchema, body)),
  answer: (judged) => ({ status: 200, body: presentValidatedBrief(judged) }),
})

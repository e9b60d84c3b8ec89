import { validateTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { unknownFields } from '../../http/validation.ts'
import { newTaskSchema, presentValidatedBrief, validatedBriefSchema } from './new-task-schema.ts'

export const validateTaskEndpoint = endpoint({
  operationId: 'validateTask',
  method: 'POST',
  path: '/tasks/validate',
  tag: 'Tasks',
  summary: 'Validate a task without creating it',
  description: 'Takes what creating takes and judges it in the same way, but stores nothing.',
  access: 'tasks:write',
  spawns: true,
  body: newTaskSchema,
  validatesBody: true,
  answers: { 200: { description: 'It would be stored like this.', schema: validatedBriefSchema } },
  errors: ['spawn_blocked'],
  handle: ({ ctx, body }) => validateTask(ctx, body, unknownFields(newTaskSchema, body)),
  answer: (judged) => ({ status: 200, body: presentValidatedBrief(judged) }),
})

import { createTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { unknownFields } from '../../http/validation.ts'
import { createdTaskSchema, readCallback } from './brief-schema.ts'
import { TASK_HEADERS, taskAnswer, taskSchema } from './task-schema.ts'

export const createTaskEndpoint = endpoint({
  operationId: 'createTask',
  method: 'POST',
  path: '/tasks',
  tag: 'Tasks',
  summary: 'Create a task',
  description:
    'Stores a brief: instructions, criteria, required outputs and context. One answer lists every problem and warning. A task with open dependencies starts as `blocked`.',
  access: 'tasks:write',
  spawns: true,
  body: createdTaskSchema,
  validatesBody: true,
  answers: { 201: { description: 'Stored, as revision 1.', schema: taskSchema, headers: [...TASK_HEADERS, 'Location'] } },
  errors: ['spawn_blocked', 'secrets_not_configured'],
  handle: ({ ctx, body: { callback: given, ...body } }) => {
    const { callback, problems } = readCallback(given)
    return createTask(ctx, body, [...unknownFields(createdTaskSchema, body), ...problems], callback)
  },
  answer: (task) => taskAnswer(task, 201, { location: `/tasks/${task.id}` }),
})

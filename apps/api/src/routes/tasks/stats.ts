import { getTaskStats } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { presentTaskStats, taskStatsSchema } from './task-changes-schema.ts'

export const getStatsEndpoint = endpoint({
  operationId: 'getStats',
  method: 'GET',
  path: '/stats',
  tag: 'Tasks',
  summary: 'Count tasks',
  description: 'The number of tasks in the project, in total and per state.',
  access: 'tasks:read',
  answers: { 200: { description: 'The current counts.', schema: taskStatsSchema } },
  handle: ({ ctx }) => getTaskStats(ctx),
  answer: (stats) => ({ status: 200, body: presentTaskStats(stats) }),
})

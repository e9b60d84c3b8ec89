import { FORMER_PRIORITIES, readPriority } from '@muster/domain'
import { listTasks } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery, printableId, showAs, text } from '../../http/schemas.ts'
import { prioritySchema } from '../subtasks/subtask-schema.ts'
import { presentTaskSummary, taskListSchema, taskStatusSchema } from './task-schema.ts'

export const listTasksEndpoint = endpoint({
  operationId: 'listTasks',
  method: 'GET',
  path: '/tasks',
  tag: 'Tasks',
  summary: 'List tasks',
  description: 'Newest first. `q` searches title, description and instructions, with the syntax of a web search: "a phrase", or, -not.',
  access: 'tasks:read',
  query: z.strictObject({
    status: taskStatusSchema.optional().describe('Only tasks in this state.'),
    parent_session_id: printableId('Only those that this session wants done.', 'research-1').optional(),
    subagent_session_id: printableId('Only those that this session holds.', 'writer-1').optional(),
    priority: showAs(
      prioritySchema,
      z
        .string()
        .transform((value) => readPriority(value) ?? value)
        .pipe(prioritySchema),
    )
      .optional()
      .describe('Only tasks of this priority.'),
    q: text(1_000).optional().describe('Only tasks that contain these words.'),
    ...pageQuery,
  }),
  queryAliases: { parent_session: 'parent_session_id', subagent_session: 'subagent_session_id' },
  hasFormerValue: ({ priority }) => typeof priority === 'string' && FORMER_PRIORITIES.has(priority.trim().toLowerCase()),
  answers: { 200: { description: 'A page of tasks.', schema: taskListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query }) =>
    listTasks(ctx, {
      status: query.status,
      parentSession: query.parent_session_id,
      subagentSession: query.subagent_session_id,
      priority: query.priority,
      text: query.q,
      limit: query.limit,
      cursor: query.cursor,
    }),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentTaskSummary), next_cursor: nextCursor } }),
})

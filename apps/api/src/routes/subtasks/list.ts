import { listSubtasks } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { pageQuery, printableId, subagentNameField } from '../../http/schemas.ts'
import { presentListedSubtask, subtaskListSchema, subtaskStatusSchema } from './subtask-schema.ts'

export const listSubtasksEndpoint = endpoint({
  operationId: 'listSubtasks',
  method: 'GET',
  path: '/subtasks',
  tag: 'Subtasks',
  summary: 'List subtasks',
  description: 'Newest first. A result and outputs longer than 2,000 characters are null; `shortened` has their beginning.',
  access: 'subtasks:read',
  query: z.strictObject({
    status: subtaskStatusSchema.optional().describe('Only subtasks in this state.'),
    parent_session_id: printableId('Only those that this session asked for.', 'research-1').optional(),
    agent_id: printableId('Only those of this agent.', 'default').optional(),
    task_id: z.uuid().optional().describe('Only subtasks of this task.'),
    schedule_id: z.uuid().optional().describe('Only subtasks that this schedule started.'),
    subagent: subagentNameField.optional().describe('Only runs of this sub-agent.'),
    ...pageQuery,
  }),
  queryAliases: { session: 'parent_session_id' },
  answers: { 200: { description: 'A page of subtasks.', schema: subtaskListSchema } },
  errors: ['cursor_invalid'],
  handle: ({ ctx, query }) =>
    listSubtasks(ctx, {
      status: query.status,
      session: query.parent_session_id,
      agentId: query.agent_id,
      taskId: query.task_id,
      scheduleId: query.schedule_id,
      subagent: query.subagent,
      limit: query.limit,
      cursor: query.cursor,
    }),
  answer: ({ items, nextCursor }) => ({ status: 200, body: { items: items.map(presentListedSubtask), next_cursor: nextCursor } }),
})

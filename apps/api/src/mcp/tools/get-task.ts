import { DomainError, hasScope, notFound, requireScope, type Scope } from '@muster/domain'
import { type Ctx, getSchedule, getSubtask, getTask } from '@muster/usecases'
import { z } from 'zod'
import { uuid } from '../../http/schemas.ts'
import { presentSchedule, scheduleSchema } from '../../routes/schedules/schedule-schema.ts'
import { presentSubtask, subtaskSchema } from '../../routes/subtasks/subtask-schema.ts'
import { presentTask, taskSchema } from '../../routes/tasks/task-schema.ts'
import { mcpTool } from '../tool.ts'

const output = z.object({
  kind: z.enum(['task', 'subtask', 'schedule']).describe('What the id is of: the field of that name has it.'),
  task: taskSchema.optional(),
  subtask: subtaskSchema.optional(),
  schedule: scheduleSchema.optional(),
})

type Found = z.output<typeof output>

const LOOKS: readonly { scope: Scope; look: (ctx: Ctx, id: string) => Promise<Found> }[] = [
  { scope: 'tasks:read', look: async (ctx, id) => ({ kind: 'task', task: presentTask(await getTask(ctx, id)) }) },
  { scope: 'subtasks:read', look: async (ctx, id) => ({ kind: 'subtask', subtask: presentSubtask(await getSubtask(ctx, id)) }) },
  { scope: 'schedules:read', look: async (ctx, id) => ({ kind: 'schedule', schedule: presentSchedule(await getSchedule(ctx, id)) }) },
]

export const getTaskTool = mcpTool({
  name: 'get_task',
  title: 'Read a task',
  description:
    'The whole brief as it is now: instructions, acceptance criteria with their ids, required outputs, revision. Also reads a subtask or a schedule by its id. Call it when you are not sure that you know the newest revision.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ task_id: uuid('Id of the task, the subtask or the schedule.') }),
  output,
  async handle({ ctx }, { task_id: id }) {
    requireScope(ctx.actor, LOOKS.find(({ scope }) => hasScope(ctx.actor, scope))?.scope ?? 'tasks:read')
    for (const { scope, look } of LOOKS) {
      const found = hasScope(ctx.actor, scope) ? await look(ctx, id).catch(nullIfNotFound) : null
      if (found !== null) return found
    }
    throw notFound('task, subtask or schedule')
  },
})

function nullIfNotFound(error: unknown): null {
  if (error instanceof DomainError && error.code === 'not_found') return null
  throw error
}

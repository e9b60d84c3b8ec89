import type { TaskCheckIn } from '@muster/usecases'
import { z } from 'zod'
import { component, listComponent, time, toTime } from '../../http/schemas.ts'
import { authorSchema, checkedInCriterionSchema } from './task-changes-schema.ts'

const taskCheckInSchema = component(
  'TaskCheckIn',
  z.object({
    id: z.uuid(),
    task_id: z.uuid(),
    session_id: z.string().nullable().describe('The session that reports. Null if it is not known.'),
    revision: z.int().describe('The revision with the criteria that it reports on.'),
    criteria: z.array(checkedInCriterionSchema).describe('The criteria that it says something of.'),
    unmatched: z.array(z.string()).describe('Lines that match no criterion, or more than one.'),
    next_steps: z.array(z.string()),
    author: authorSchema,
    created_at: time(),
  }),
  {
    id: '0198c9d0-7a10-7c3e-8b52-4e1f0a9d8c7c',
    task_id: '0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31',
    session_id: 'worker-session-1',
    revision: 2,
    criteria: [{ id: '0198c9b1-4c01-7000-8000-000000000001', text: 'All tests pass', state: 'met', note: 'All 48 pass.' }],
    unmatched: [],
    next_steps: ['Write the documentation'],
    author: { kind: 'key', id: '0198c9a0-0000-7000-8000-00000000000a' },
    created_at: '2026-03-02T08:04:00.000Z',
  },
)

export const taskCheckInListSchema = listComponent('TaskCheckInList', taskCheckInSchema)

export function presentTaskCheckIn(checkIn: TaskCheckIn): z.output<typeof taskCheckInSchema> {
  const texts = new Map(checkIn.criteria.map(({ id, text }) => [id, text]))
  return {
    id: checkIn.id,
    task_id: checkIn.taskId,
    session_id: checkIn.sessionId,
    revision: checkIn.revision,
    criteria: checkIn.verdicts.map(({ criterionId, state, note }) => ({ id: criterionId, text: texts.get(criterionId) ?? '', state, note })),
    unmatched: checkIn.unmatched,
    next_steps: checkIn.nextSteps,
    author: { kind: checkIn.authorKind, id: checkIn.authorId },
    created_at: toTime(checkIn.createdAt),
  }
}

import { CHECK_STATUSES } from '@muster/domain'
import type { CheckRun } from '@muster/usecases'
import { z } from 'zod'
import { component, listComponent, time, toTime, toTimeOrNull } from '../../http/schemas.ts'

const checkRunSchema = component(
  'CheckRun',
  z.object({
    id: z.uuid(),
    batch_id: z.uuid().describe('The same for all checks of one request, or of one submission.'),
    task_id: z.uuid(),
    subtask_id: z.uuid().nullable().describe('The run whose result is checked.'),
    evaluation_id: z.uuid().nullable().describe('The evaluation to which the verdicts are added. Null if nothing was submitted.'),
    criterion_id: z.string(),
    check: z.string().describe('Its name in `CHECKS`.'),
    status: component('CheckStatus', z.enum(CHECK_STATUSES)).describe('met: exit code 0. could_not_run: nothing was proved, and the criterion is unclear.'),
    exit_code: z.int().nullable(),
    reason: z.string().nullable().describe('Why it is not met.'),
    output: z.string().nullable().describe('The last 8 KiB of what it printed.'),
    duration_ms: z.int().nullable(),
    tries: z.int().describe('How often it was started: a second time if its worker was lost.'),
    worker_id: z.uuid().nullable(),
    created_at: time(),
    started_at: time('When it was started last.').nullable(),
    ended_at: time().nullable(),
  }),
  {
    id: '0198c9d0-7a10-7c3e-8b52-4e1f0a9d8c7b',
    batch_id: '0198c9d0-7a10-7c3e-8b52-4e1f0a9d8c7a',
    task_id: '0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31',
    subtask_id: '0198c9b1-5d00-7a11-8a7e-5d2b9c1f0e32',
    evaluation_id: '0198c9d0-7a09-7c3e-8b52-4e1f0a9d8c79',
    criterion_id: '0198c9b1-4c01-7000-8000-000000000001',
    check: 'unit-tests',
    status: 'unmet',
    exit_code: 1,
    reason: 'The program exited with code 1.',
    output: '1 test failed',
    duration_ms: 5_120,
    tries: 1,
    worker_id: '0198c9a0-0000-7000-8000-000000000001',
    created_at: '2026-03-02T08:05:00.000Z',
    started_at: '2026-03-02T08:05:00.010Z',
    ended_at: '2026-03-02T08:05:05.130Z',
  },
)

export const checkRunListSchema = listComponent('CheckRunList', checkRunSchema)

export function presentCheckRun(run: CheckRun): z.output<typeof checkRunSchema> {
  return {
    id: run.id,
    batch_id: run.batchId,
    task_id: run.taskId,
    subtask_id: run.subtaskId,
    evaluation_id: run.evaluationId,
    criterion_id: run.criterionId,
    check: run.checkName,
    status: run.status,
    exit_code: run.exitCode,
    reason: run.reason,
    output: run.output,
    duration_ms: run.durationMs,
    tries: run.tries,
    worker_id: run.workerId,
    created_at: toTime(run.createdAt),
    started_at: toTimeOrNull(run.startedAt),
    ended_at: toTimeOrNull(run.endedAt),
  }
}

import type { InboxItem } from '@muster/usecases'
import { z } from 'zod'
import { component, requestComponent } from '../../http/components-schemas.ts'
import { time, toTime } from '../../http/fields-schemas.ts'
import { finalOutcomeSchema, recommendationSchema } from '../subtasks/subtask-schema.ts'

export const ackSchema = component(
  'InboxAck',
  z.enum(['auto', 'manual']).describe('auto: what is handed over is gone. manual: it comes again after 60 s unless the claim is acknowledged.'),
)

export const inboxClaimSchema = requestComponent(
  'InboxClaimRequest',
  z.strictObject({
    limit: z.int().min(1).max(200).default(50).describe('How many results at most.'),
    ack: ackSchema.default('auto'),
  }),
  { limit: 10 },
)

const itemKindSchema = component(
  'InboxItemKind',
  z
    .enum(['subtask', 'task'])
    .describe(
      'subtask: a subtask of the session ended. task: a task with this `parent_session_id` ended or waits for a review, without a subtask that ran it.',
    ),
)

const reportedStatusSchema = component(
  'ReportedStatus',
  z.enum(['completed', 'failed', 'cancelled', 'in_review']).describe('in_review only of a task: it was handed in and waits for its review.'),
)

const inboxItemSchema = component(
  'InboxItem',
  z.object({
    inbox_id: z.uuid(),
    kind: itemKindSchema,
    subtask_id: z.uuid().nullable().describe('Null of kind task.'),
    task_id: z.uuid().nullable().describe('The task, or the task that the subtask ran.'),
    task: z.string().describe('What the subtask was given, or the title of the task.'),
    status: reportedStatusSchema,
    final_outcome: finalOutcomeSchema.nullable().describe('Null of kind task.'),
    score: z.number().min(0).max(1).nullable().describe('Of the latest evaluation of its result.'),
    recommendation: recommendationSchema.nullable().describe('Null where it did not complete.'),
    result: z
      .string()
      .nullable()
      .describe(
        'Of kind task: its outputs as text. Null also where it has to be revised: then it is at `GET /subtasks/{id}/payload` or `/tasks/{id}/payload`.',
      ),
    summary: z
      .string()
      .nullable()
      .describe('The summary that came with it. Of a result that has to be revised: what is wrong with it, its first and its last part.'),
    error: z.string().nullable().describe('Why it did not complete.'),
    truncated: z.boolean().describe('True where the result was cut.'),
    completed_at: time('When the subtask or the task ended, or the task was handed in for review.'),
  }),
  {
    inbox_id: '0198c9a4-2f6b-7e10-9c3d-5a7b8c9d0e1f',
    kind: 'subtask',
    subtask_id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47',
    task_id: null,
    task: 'List the public functions of src/ with one sentence each.',
    status: 'completed',
    final_outcome: 'completed',
    score: null,
    recommendation: null,
    result: 'Four public functions: …',
    summary: null,
    error: null,
    truncated: false,
    completed_at: '2026-03-02T08:00:09.310Z',
  },
)

export const claimedInboxSchema = component(
  'ClaimedInbox',
  z.object({
    claim_id: z.uuid().nullable().describe('To acknowledge with; null when nothing was waiting or nothing is to be acknowledged.'),
    items: z.array(inboxItemSchema).describe('Oldest first; each result is handed over exactly once. At most 2 MiB of text, but for a single larger item.'),
    has_more: z.boolean().describe('Whether more wait: claim again.'),
  }),
)

export function presentClaimedInbox(claim: { claimId: string | null; items: InboxItem[]; hasMore: boolean }): z.output<typeof claimedInboxSchema> {
  return { claim_id: claim.claimId, items: claim.items.map(presentItem), has_more: claim.hasMore }
}

function presentItem(item: InboxItem): z.output<typeof inboxItemSchema> {
  return {
    inbox_id: item.inboxId,
    kind: item.subtaskId === null ? 'task' : 'subtask',
    subtask_id: item.subtaskId,
    task_id: item.taskId,
    task: item.task,
    status: item.status,
    final_outcome: item.finalOutcome,
    score: item.score,
    recommendation: item.recommendation,
    result: item.result,
    summary: item.summary,
    error: item.error,
    truncated: item.truncated,
    completed_at: toTime(item.completedAt),
  }
}

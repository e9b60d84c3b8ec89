import type { InboxItem } from '@muster/usecases'
import { z } from 'zod'
import { component, formerly, requestComponent, time, toTime } from '../../http/schemas.ts'
import { finalOutcomeSchema, recommendationSchema } from '../subtasks/subtask-schema.ts'

export const ackSchema = component(
  'InboxAck',
  z.enum(['auto', 'manual']).describe('auto: delivered once, without acknowledgement. manual: delivered again after 60 s unless the claim is acknowledged.'),
)

export const inboxClaimSchema = requestComponent(
  'InboxClaimRequest',
  z.strictObject({
    limit: z.int().min(1).max(200).default(50).describe('The maximum number of items.'),
    ack: ackSchema.default('auto'),
  }),
  { limit: 10 },
)

const itemKindSchema = component(
  'InboxItemKind',
  z
    .enum(['subtask', 'task', 'question'])
    .describe(
      'subtask: a subtask of the session ended. task: a task with this `parent_session_id`, not run by a subtask, ended or waits for a review. question: a run or an assignee asks something.',
    ),
)

const reportedStatusSchema = component(
  'ReportedStatus',
  z
    .enum(['completed', 'failed', 'cancelled', 'in_review', 'blocked', 'open', 'answered', 'expired', 'withdrawn'])
    .describe(
      'in_review: a task whose outputs wait for a review. blocked: a task whose assignee went in circles, with the evidence in `error`. open, answered, expired, withdrawn: the state of a question.',
    ),
)

const inboxItemSchema = component(
  'InboxItem',
  z.object({
    id: z.uuid(),
    inbox_id: formerly(z.uuid(), 'id'),
    kind: itemKindSchema,
    question_id: z.uuid().nullable().describe('Null unless kind is question.'),
    subtask_id: z.uuid().nullable().describe('Null for kind task.'),
    task_id: z.uuid().nullable().describe('The task, or the task that the subtask ran.'),
    task: z.string().describe('The instructions of the subtask, the title of the task, or the prompt of the question.'),
    status: reportedStatusSchema,
    final_outcome: finalOutcomeSchema.nullable().describe('Null for kind task.'),
    score: z.number().min(0).max(1).nullable().describe('The score of the latest evaluation of the result.'),
    recommendation: recommendationSchema.nullable().describe('Null if the subtask did not complete.'),
    result: z
      .string()
      .nullable()
      .describe(
        'The result; of a task, its outputs as text; of a question, what its answer has to fit. Null if the result has to be revised: then read `/subtasks/{id}/payload` or `/tasks/{id}/payload`.',
      ),
    summary: z.string().nullable().describe('The submitted summary. For a result that has to be revised: the problems, and its first and last part.'),
    error: z.string().nullable().describe('Why the work did not complete.'),
    truncated: z.boolean().describe('True if the result was cut.'),
    completed_at: time('When the subtask or the task ended, or the task was handed in for review.'),
  }),
  {
    id: '0198c9a4-2f6b-7e10-9c3d-5a7b8c9d0e1f',
    inbox_id: '0198c9a4-2f6b-7e10-9c3d-5a7b8c9d0e1f',
    kind: 'subtask',
    question_id: null,
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
    claim_id: z.uuid().nullable().describe('The id to acknowledge; null if there is nothing to acknowledge.'),
    items: z.array(inboxItemSchema).describe('Oldest first, each delivered exactly once. At most 2 MiB of text, or one larger item.'),
    has_more: z.boolean().describe('Whether more items are waiting. If true, claim again.'),
  }),
)

export function presentClaimedInbox(claim: { claimId: string | null; items: InboxItem[]; hasMore: boolean }): z.output<typeof claimedInboxSchema> {
  return { claim_id: claim.claimId, items: claim.items.map(presentItem), has_more: claim.hasMore }
}

function presentItem(item: InboxItem): z.output<typeof inboxItemSchema> {
  return {
    id: item.inboxId,
    inbox_id: item.inboxId,
    kind: item.questionId !== null ? 'question' : item.subtaskId === null ? 'task' : 'subtask',
    question_id: item.questionId,
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

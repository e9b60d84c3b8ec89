import { createHash } from 'node:crypto'
import { type DiffPart, TASK_STATUSES, type TaskStatus } from '@muster/domain'
import type { CheckedIn, Review, TaskRevision, TaskStats, Update } from '@muster/usecases'
import { z } from 'zod'
import { component, formerly, listComponent, printableId, referenceSchema, requestComponent, storable, text, time, toTime } from '../../http/schemas.ts'
import { presentRequiredOutputs, requiredOutputSchema } from '../subtasks/subtask-schema.ts'
import { presentSender, senderSchema } from '../subtasks/update-schema.ts'
import { briefDiffSchema } from './brief-schema.ts'
import { criterionSchema, criterionStateSchema, presentCriterion, taskSchema } from './task-schema.ts'

export const authorSchema = referenceSchema.describe('The owner of the credential that made the request.')

const taskRevisionSchema = component(
  'TaskRevision',
  z.object({
    task_id: z.uuid(),
    revision: z.int(),
    fields: z.array(z.string()).describe('The changed fields; for revision 1, the fields that were sent.'),
    diff: briefDiffSchema.nullable().describe('Null for revision 1.'),
    acceptance_criteria: z.array(criterionSchema).describe('The criteria as of this revision.'),
    required_outputs: z.array(requiredOutputSchema),
    author: authorSchema,
    created_at: time(),
  }),
  {
    task_id: '0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31',
    revision: 2,
    fields: ['instructions'],
    diff: {
      instructions: [
        { op: 'remove', text: 'List the public functions of src/ with one sentence each.' },
        { op: 'add', text: 'List the public functions of src/ and tests/ with one sentence each.' },
      ],
    },
    acceptance_criteria: [],
    required_outputs: [],
    author: { kind: 'key', id: '0198c9a0-0000-7000-8000-00000000000a' },
    created_at: '2026-03-02T08:02:00.000Z',
  },
)

export const taskRevisionListSchema = listComponent('TaskRevisionList', taskRevisionSchema)

export function presentTaskRevision(revision: TaskRevision): z.output<typeof taskRevisionSchema> {
  return {
    task_id: revision.taskId,
    revision: revision.revision,
    fields: revision.fields,
    diff: revision.diff as Record<string, DiffPart[]> | null,
    acceptance_criteria: revision.criteria.map(presentCriterion),
    required_outputs: presentRequiredOutputs(revision.requiredOutputs),
    author: { kind: revision.author.kind, id: revision.author.id },
    created_at: toTime(revision.createdAt),
  }
}

export const newNoteSchema = requestComponent(
  'NewNote',
  z.strictObject({ content: text(20_000).describe('What the assignee should know or do from now on.') }),
  {
    content: 'The tests in tests/legacy are known to fail.',
  },
)

export const assignmentRequestSchema = requestComponent(
  'AssignmentRequest',
  z.strictObject({
    subagent_session_id: printableId('The session that is to do it.', 'writer-1'),
    resend: z.boolean().default(false).describe('Deliver the whole brief again to the session that already holds the task.'),
  }),
  { subagent_session_id: 'writer-1' },
)

export const assignedTaskSchema = component(
  'AssignedTask',
  z.object({
    task: taskSchema,
    subagent_credential: z.string().nullable().describe('Opens this task only, and cannot start work. Shown once; null when the answer is repeated.'),
  }),
)

export const completionSchema = requestComponent(
  'TaskCompletion',
  z.strictObject({
    outputs: storable(z.record(z.string(), z.unknown())).describe('By name; at least the required outputs, more are stored too.'),
    summary: text(20_000).nullish(),
  }),
  { outputs: { functions: [{ name: 'parse', does: 'Reads a file.' }] }, summary: 'All 12 functions are listed.' },
)

export const reviewDecisionSchema = component('ReviewDecision', z.enum(['approve', 'request_revision']))

export const reviewSchema = requestComponent(
  'TaskReview',
  z.strictObject({
    decision: reviewDecisionSchema,
    note: text(20_000).nullish().describe('What to revise, or why the outputs are accepted.'),
    criteria: z
      .array(
        requestComponent(
          'NewVerdict',
          z.strictObject({
            criterion_id: z.uuid().describe('A criterion of the current brief.'),
            verdict: component('PersonVerdict', z.enum(['met', 'unmet', 'unclear'])),
            comment: text(2_000).nullish(),
          }),
        ),
      )
      .max(200)
      .optional()
      .describe(
        'Your verdicts on single criteria, which override those of the agent, of checks and of judges. A request for revision lists those that are not met.',
      ),
  }),
  {
    decision: 'request_revision',
    note: 'The functions of the parser are missing.',
    criteria: [{ criterion_id: '0198c9b1-4c01-7000-8000-000000000001', verdict: 'unmet', comment: 'parse() is not listed.' }],
  },
)

export function personVerdicts(criteria: z.output<typeof reviewSchema>['criteria']): Review['criteria'] {
  return criteria?.map(({ criterion_id: criterionId, verdict, comment = null }) => ({ criterionId, verdict, comment }))
}

export const reasonSchema = requestComponent('Reason', z.strictObject({ reason: text(20_000).describe('Stored in `last_error`.') }), {
  reason: 'The customer has withdrawn the request.',
})

export const taskStatsSchema = component(
  'TaskStats',
  z.object({
    total_tasks: z.int(),
    active_tasks: z.int().describe('Tasks that have not ended.'),
    tasks_by_status: component(
      'TaskStatusCounts',
      z.object(Object.fromEntries(TASK_STATUSES.map((status) => [status, z.int()])) as Record<TaskStatus, z.ZodInt>),
    ),
  }),
)

export function presentTaskStats(stats: TaskStats): z.output<typeof taskStatsSchema> {
  return { total_tasks: stats.total, active_tasks: stats.active, tasks_by_status: stats.byStatus }
}

export const confirmedUpdateSchema = component(
  'ConfirmedUpdate',
  z.object({
    genuine: z.literal(true).describe('Always true: every other case is answered with 404.'),
    task_id: z.uuid().nullable(),
    subtask_id: z.uuid().nullable(),
    revision: z.int().nullable(),
    sender: senderSchema,
    created_at: time(),
    content_sha256: z.string().describe('SHA-256 of the content in UTF-8, in hexadecimal.'),
    content: z.string(),
  }),
)

export function presentConfirmedUpdate(update: Update): z.output<typeof confirmedUpdateSchema> {
  return {
    genuine: true,
    task_id: update.taskId,
    subtask_id: update.subtaskId,
    revision: update.revision,
    sender: presentSender(update.sender),
    created_at: toTime(update.createdAt),
    content_sha256: createHash('sha256').update(update.content).digest('hex'),
    content: update.content,
  }
}

const CHECK_IN = `<npl-block type="check-in" task-id="0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31" revision="2">
acceptance_criteria:
  - ✅ Every exported function is listed (0198c9b1-4c01-7000-8000-000000000001)
status: in_progress
next_steps:
  - Describe the parser
</npl-block>`

export const newCheckInSchema = requestComponent(
  'NewCheckIn',
  z.strictObject({
    content: text(100_000).describe('A text with a check-in block of this task.'),
    session_id: printableId('The session that says it. Default: the one that holds the task.', 'writer-1').nullish(),
    revision: z.int().min(1).max(2_147_483_647).nullish().describe('The revision that the assignee works from, if the block names none.'),
  }),
  { content: CHECK_IN },
)

export const checkInTextSchema = requestComponent('CheckInText', text(100_000), CHECK_IN)

export const checkedInCriterionSchema = component(
  'CheckedInCriterion',
  z.object({ id: z.uuid(), text: z.string(), state: criterionStateSchema, note: z.string() }),
)

export const checkedInSchema = component(
  'CheckedIn',
  z.object({
    id: z.uuid(),
    check_in_id: formerly(z.uuid(), 'id'),
    revision: z.int().describe('The revision that the check-in refers to. The current one where it names none or one that there is not.'),
    criteria: z.array(checkedInCriterionSchema),
    unmatched: z.array(z.string()).describe('Lines that match no criterion, or more than one.'),
    next_steps: z.array(z.string()),
    acknowledged_update_ids: z.array(z.uuid()).describe('Updates that the check-in acknowledges, by the revision that it names.'),
  }),
)

export function presentCheckedIn(checkIn: CheckedIn): z.output<typeof checkedInSchema> {
  return {
    id: checkIn.checkInId,
    check_in_id: checkIn.checkInId,
    revision: checkIn.revision,
    criteria: checkIn.criteria.map(({ criterionId, text, state, note }) => ({ id: criterionId, text, state, note })),
    unmatched: checkIn.unmatched,
    next_steps: checkIn.nextSteps,
    acknowledged_update_ids: checkIn.acknowledgedUpdateIds,
  }
}

export const taskTextSchema = component('PromptSection', z.string(), '\n📋 BACKGROUND CONTEXT:\nThe guide is out of date.\n')

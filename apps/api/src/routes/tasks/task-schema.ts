import {
  budgetField,
  CRITERION_SOURCES,
  CRITERION_STATES,
  type Criterion,
  ENFORCEMENT_LEVELS,
  FILE_STATUSES,
  REVIEW_MODES,
  TASK_STATUSES,
  type Task,
} from '@muster/domain'
import type { TaskSummary } from '@muster/usecases'
import { z } from 'zod'
import type { Answer } from '../../http/endpoint.ts'
import { entityTag } from '../../http/if-match.ts'
import { component, formerly, listComponent, time, toTime, toTimeOrNull } from '../../http/schemas.ts'
import { presentRequiredOutputs, prioritySchema, requiredOutputSchema } from '../subtasks/subtask-schema.ts'

export const taskStatusSchema = component('TaskStatus', z.enum(TASK_STATUSES).describe('completed, failed and cancelled are final.'))
export const reviewModeSchema = component(
  'ReviewMode',
  z.enum(REVIEW_MODES).describe('Who reviews the submitted outputs: none, auto (the evaluation), or manual (a person or controller).'),
)
export const enforcementLevelSchema = component(
  'EnforcementLevel',
  z.enum(ENFORCEMENT_LEVELS).describe('strict: a constraint counts as a criterion. advisory: it only warns.'),
)
export const criterionStateSchema = component(
  'CriterionState',
  z.enum(CRITERION_STATES).describe('The state in the latest check-in, or by its latest check; `open` before the first.'),
)

export const criterionSourceSchema = component('CriterionSource', z.enum(CRITERION_SOURCES))

export const criterionSchema = component(
  'Criterion',
  z.object({
    id: z.uuid().describe('Lasts across edits of the brief.'),
    text: z.string(),
    source: criterionSourceSchema,
    required: z.boolean(),
    check: z.string().optional().describe('The check that decides it. Absent if none does.'),
    state: criterionStateSchema,
  }),
)

const fileCheckSchema = component(
  'FileCheck',
  z
    .object({
      field: component('FileField', z.enum(['relevant_files', 'related_documentation'])),
      path: z.string().describe('As it was sent.'),
      status: component('FileStatus', z.enum(FILE_STATUSES)).describe(
        '`not_checked` wherever the server may not look: outside of `WORKSPACE_ROOTS`, also by way of links.',
      ),
      nearest: z.string().nullable().describe('For `not_found`: the path in the same folder with the most similar name, if there is one.'),
    })
    .describe('What the server knew about a file when it validated the brief.'),
)

const taskContextSchema = component(
  'TaskContext',
  z
    .object({
      background_context: z.string().optional(),
      expected_deliverables: component('TaskDeliverables', z.object({ items: z.array(z.string()), validation_added: z.string() })).optional(),
      success_criteria: component('TaskSuccessCriteria', z.object({ criteria: z.array(z.string()), all_required: z.boolean() })).optional(),
      constraints: component('TaskConstraints', z.object({ rules: z.array(z.string()), enforcement_level: enforcementLevelSchema })).optional(),
      relevant_files: z.array(z.string()).optional(),
      related_documentation: z.array(z.string()).optional(),
      file_checks: z.array(fileCheckSchema).optional(),
      validation_performed: z.boolean(),
      validation_timestamp: z.string(),
      validation_warnings: z.array(z.string()),
    })
    .describe('The context of a task. Parts that were not sent are left out.'),
)

export const briefWarningSchema = component(
  'BriefWarning',
  z.object({ field: z.string(), message: z.string(), timestamp: z.string() }).describe('A suggestion that does not block the request.'),
)

export const taskBudgetSchema = component(
  'TaskBudget',
  z
    .object({ max_tokens: z.int().nullable(), max_cost_usd: z.number().nullable() })
    .describe('What all subtasks and judgements of a task may use together; null for any amount.'),
)

const EXAMPLE_ID = '0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31'

export const taskSchema = component(
  'Task',
  z.object({
    id: z.uuid(),
    title: z.string(),
    instructions: z.string(),
    description: z.string().nullable().describe('Set if the task was created with a description.'),
    status: taskStatusSchema,
    revision: z.int().describe('Increases with every change of the brief. Also in `ETag`.'),
    priority: prioritySchema,
    acceptance_criteria: z.array(criterionSchema).describe('Acceptance criteria, success criteria and strict constraints.'),
    required_outputs: z.array(requiredOutputSchema),
    completion_outputs: z.record(z.string(), z.unknown()).nullable(),
    summary: z.string().nullable(),
    tsgs: z.array(component('LinkedTsg', z.object({ id: z.string(), tsg_id: formerly(z.string(), 'id'), title: z.string() }))),
    parent_session_id: z.string().nullable(),
    subagent_session_id: z.string().nullable().describe('The session that holds the task.'),
    depends_on: z.array(z.uuid()),
    blocked_by: z.array(z.uuid()).describe('The tasks in depends_on that are not completed.'),
    task_context: taskContextSchema.nullable(),
    validation: component('TaskValidation', z.object({ performed: z.boolean(), warnings: z.array(briefWarningSchema) })),
    review: reviewModeSchema,
    client_cwd: z.string().nullable().describe('The folder that relative paths start at.'),
    workspace: z.string().nullable().describe('The task’s own folder on the server.'),
    budget: taskBudgetSchema.nullable().describe('Null: any amount.'),
    metadata: z.record(z.string(), z.unknown()),
    next_steps: z.array(z.string()).describe('The next steps that the assignee named in its latest check-in with next steps.'),
    last_error: z.string().nullable().describe('Why the task failed, was cancelled, or returned from the subtask that ran it.'),
    created_at: time(),
    updated_at: time('When anything about it changed last.'),
    completed_at: time().nullable(),
  }),
  {
    id: EXAMPLE_ID,
    title: 'Document the public functions',
    instructions: 'List the public functions of src/ with one sentence each.',
    description: null,
    status: 'pending',
    revision: 1,
    priority: 'high',
    acceptance_criteria: [
      { id: '0198c9b1-4c01-7000-8000-000000000001', text: 'Every exported function is listed', source: 'acceptance', required: true, state: 'open' },
    ],
    required_outputs: [{ name: 'functions', description: null, schema: null }],
    completion_outputs: null,
    summary: null,
    tsgs: [],
    parent_session_id: 'research-1',
    subagent_session_id: null,
    depends_on: [],
    blocked_by: [],
    task_context: null,
    validation: { performed: true, warnings: [] },
    review: 'none',
    client_cwd: null,
    workspace: `/var/lib/muster/tasks/${EXAMPLE_ID}`,
    budget: null,
    metadata: {},
    next_steps: [],
    last_error: null,
    created_at: '2026-03-02T08:00:00.000Z',
    updated_at: '2026-03-02T08:00:00.000Z',
    completed_at: null,
  },
)

export function presentCriterion({ id, text, source, required, check, state }: Criterion): z.output<typeof criterionSchema> {
  return { id, text, source, required, ...(check === undefined ? {} : { check }), state }
}

export function presentTask(task: Task): z.output<typeof taskSchema> {
  return {
    id: task.id,
    title: task.title,
    instructions: task.instructions,
    description: task.description,
    status: task.status,
    revision: task.revision,
    priority: task.priority,
    acceptance_criteria: task.criteria.map(presentCriterion),
    required_outputs: presentRequiredOutputs(task.requiredOutputs),
    completion_outputs: task.completionOutputs,
    summary: task.summary,
    tsgs: task.tsgs.map(({ tsgId, title }) => ({ id: tsgId, tsg_id: tsgId, title })),
    parent_session_id: task.parentSessionId,
    subagent_session_id: task.subagentSessionId,
    depends_on: task.dependsOn,
    blocked_by: task.blockedBy,
    task_context: task.context,
    validation: { performed: true, warnings: task.warnings.map(({ field, message, timestamp }) => ({ field, message, timestamp })) },
    review: task.review,
    client_cwd: task.clientCwd,
    workspace: task.workspace,
    budget: budgetField(task),
    metadata: task.metadata,
    next_steps: task.nextSteps,
    last_error: task.lastError,
    created_at: toTime(task.createdAt),
    updated_at: toTime(task.updatedAt),
    completed_at: toTimeOrNull(task.completedAt),
  }
}

/** For the reference of every answer that is a task. */
export const TASK_HEADERS = ['ETag'] as const

/** An answer that is a task. */
export function taskAnswer(task: Task, status = 200, headers: Record<string, string> = {}): Answer {
  return { status, headers: { ...headers, etag: entityTag(task.revision) }, body: presentTask(task) }
}

const taskSummarySchema = component(
  'TaskSummary',
  z.object({
    id: z.uuid(),
    title: z.string(),
    status: taskStatusSchema,
    priority: prioritySchema,
    parent_session_id: z.string().nullable(),
    subagent_session_id: z.string().nullable(),
    has_enhanced_context: z.boolean(),
    deliverables_count: z.int(),
    success_criteria_count: z.int(),
    created_at: time(),
    updated_at: time('When anything about it changed last.'),
  }),
  {
    id: EXAMPLE_ID,
    title: 'Document the public functions',
    status: 'in_progress',
    priority: 'high',
    parent_session_id: 'research-1',
    subagent_session_id: 'writer-1',
    has_enhanced_context: false,
    deliverables_count: 0,
    success_criteria_count: 0,
    created_at: '2026-03-02T08:00:00.000Z',
    updated_at: '2026-03-02T08:01:00.000Z',
  },
)

export const taskListSchema = listComponent('TaskList', taskSummarySchema)

export function presentTaskSummary(task: TaskSummary): z.output<typeof taskSummarySchema> {
  return {
    id: task.id,
    title: task.title,
    status: task.status,
    priority: task.priority,
    parent_session_id: task.parentSessionId,
    subagent_session_id: task.subagentSessionId,
    has_enhanced_context: task.hasEnhancedContext,
    deliverables_count: task.deliverablesCount,
    success_criteria_count: task.successCriteriaCount,
    created_at: toTime(task.createdAt),
    updated_at: toTime(task.updatedAt),
  }
}

import { BRIEF_LIMITS, budgetField, type CleanBrief, type FieldProblem } from '@muster/domain'
import type { RevisedTask, ValidatedTask } from '@muster/usecases'
import { z } from 'zod'
import { component, components, listOrObject, requestComponent, showAs } from '../../http/schemas.ts'
import { check } from '../../http/validation.ts'
import { newRequiredOutput } from '../subtasks/new-subtask-schema.ts'
import { presentRequiredOutputs, prioritySchema, requiredOutputSchema } from '../subtasks/subtask-schema.ts'
import { callbackSchema } from '../webhooks/webhook-schema.ts'
import {
  briefWarningSchema,
  criterionSourceSchema,
  enforcementLevelSchema,
  presentTask,
  reviewModeSchema,
  taskBudgetSchema,
  taskSchema,
} from './task-schema.ts'

// Only shapes: the domain validates a brief as a whole, so that one answer lists every problem.

const string = (maxLength: number, minLength = 1) => z.string().meta({ minLength, maxLength })
const strings = (maxItems: number, maxLength: number) => z.array(string(maxLength)).meta({ maxItems })

const newCriterion = requestComponent(
  'NewCriterion',
  z.strictObject({
    id: z.uuid().optional().describe('The id of an existing criterion of this task.'),
    text: z.string(),
    check: z
      .string()
      .nullish()
      .describe(
        'A check of `CHECKS`. Its exit code decides the criterion, whatever the agent says. A criterion that the task has keeps its check where this is absent; null removes it.',
      ),
  }),
)
const criterion = z.union([z.string(), newCriterion])
const criteria = (maxItems: number) => z.array(criterion).meta({ maxItems })

const context = {
  background_context: string(BRIEF_LIMITS.background).nullish().describe('Why the task exists and the current situation.'),
  expected_deliverables: strings(BRIEF_LIMITS.deliverables, BRIEF_LIMITS.item).nullish(),
  success_criteria: listOrObject(
    criteria(BRIEF_LIMITS.successCriteria),
    requestComponent('NewSuccessCriteria', z.strictObject({ criteria: criteria(BRIEF_LIMITS.successCriteria), all_required: z.boolean().optional() })),
  )
    .nullish()
    .describe('How to recognise that the task is done. A plain list of criteria is taken as well.'),
  constraints: listOrObject(
    criteria(BRIEF_LIMITS.constraints),
    requestComponent('NewConstraints', z.strictObject({ rules: criteria(BRIEF_LIMITS.constraints), enforcement_level: enforcementLevelSchema.optional() })),
  )
    .nullish()
    .describe('Rules that the work must follow. A plain list of rules is taken as well.'),
  relevant_files: strings(BRIEF_LIMITS.files, BRIEF_LIMITS.path).nullish().describe('Relative paths start at `client_cwd`.'),
  related_documentation: strings(BRIEF_LIMITS.documents, BRIEF_LIMITS.path).nullish().describe('URLs (the server does not fetch them) or files.'),
}

const brief = {
  title: string(BRIEF_LIMITS.title).nullish().describe('Send it together with `instructions`, or send `description` instead of both.'),
  instructions: string(BRIEF_LIMITS.instructions).nullish(),
  acceptance_criteria: criteria(BRIEF_LIMITS.acceptanceCriteria).nullish(),
  required_outputs: z
    .array(z.union([string(BRIEF_LIMITS.outputName), newRequiredOutput]))
    .meta({ maxItems: BRIEF_LIMITS.requiredOutputs })
    .nullish()
    .describe(
      'The outputs that completion must submit, each a name or an object. Without a schema, null and empty values (`""`, blanks, `[]`, `{}`) count as missing.',
    ),
  priority: showAs(prioritySchema, z.string()).nullish().describe('low, normal (the default), high or urgent.'),
  depends_on: z.array(z.uuid()).meta({ maxItems: BRIEF_LIMITS.dependsOn }).nullish().describe('Tasks that must be completed first.'),
  client_cwd: string(BRIEF_LIMITS.path)
    .nullish()
    .describe('The absolute folder that relative paths start at. A dispatched run works there if it is inside `WORKSPACE_ROOTS`, otherwise in `workspace`.'),
  ...context,
  budget: requestComponent('NewTaskBudget', z.strictObject({ max_tokens: z.int().nullish().describe('Read and written.'), max_cost_usd: z.number().nullish() }))
    .nullish()
    .describe('What all its subtasks and judgements may use together. Default: any amount.'),
  metadata: z.record(z.string(), z.unknown()).nullish().describe('Your own data, at most 16 KiB as JSON.'),
}

export const newTaskSchema = requestComponent(
  'NewTask',
  z.strictObject({
    ...brief,
    description: string(BRIEF_LIMITS.description, BRIEF_LIMITS.descriptionMin)
      .nullish()
      .describe('In place of title and instructions: its first line is the title.'),
    tsgs: z.array(string(64)).meta({ maxItems: BRIEF_LIMITS.tsgs }).nullish().describe('Ids of troubleshooting guides that belong to the task.'),
    parent_session_id: string(BRIEF_LIMITS.sessionId)
      .nullish()
      .describe('The session whose inbox reports the end of the task, and that it waits for review.')
      .meta({ examples: ['research-1'] }),
    review: reviewModeSchema.nullish().describe('Who reviews the submitted outputs. Default: none.'),
  }),
  {
    title: 'Document the public functions',
    instructions: 'List the public functions of src/ with one sentence each.',
    acceptance_criteria: ['Every exported function is listed'],
    required_outputs: ['functions'],
    priority: 'high',
    parent_session_id: 'research-1',
  },
)

/** A brief that is stored, not only validated. */
export const createdTaskSchema = requestComponent(
  'CreatedTask',
  newTaskSchema.extend({ callback: callbackSchema.optional() }),
  components.get(newTaskSchema)?.example as object,
)

/** Reads `callback` beside a brief, whose fields the domain validates. */
export function readCallback(given: unknown): { callback: z.output<typeof callbackSchema> | undefined; problems: FieldProblem[] } {
  const problems: FieldProblem[] = []
  const callback = check(z.object({ callback: callbackSchema.optional() }), { callback: given }, 'body', problems)?.callback
  return { callback, problems }
}

export const taskPatchSchema = requestComponent(
  'TaskPatch',
  z.strictObject(brief).describe('Only the fields to change. A list replaces the stored list. Null removes a field or resets it to its default.'),
  { instructions: 'List the public functions of src/ and tests/ with one sentence each.' },
)

const cleanCriterionSchema = component(
  'CleanCriterion',
  z.object({ text: z.string(), source: criterionSourceSchema, required: z.boolean(), check: z.string().optional() }),
)

export const validatedBriefSchema = component(
  'ValidatedBrief',
  z.object({
    cleaned: component(
      'CleanBrief',
      z.object({
        title: z.string(),
        instructions: z.string(),
        description: z.string().nullable(),
        priority: prioritySchema,
        acceptance_criteria: z.array(cleanCriterionSchema),
        required_outputs: z.array(requiredOutputSchema),
        tsgs: z.array(z.string()),
        parent_session_id: z.string().nullable(),
        client_cwd: z.string().nullable(),
        depends_on: z.array(z.uuid()),
        review: reviewModeSchema,
        task_context: taskSchema.shape.task_context,
        budget: taskBudgetSchema.nullable(),
        metadata: z.record(z.string(), z.unknown()),
      }),
    ).describe('The brief as it would be stored.'),
    warnings: z.array(briefWarningSchema),
  }),
)

export function presentValidatedBrief({ cleaned, warnings }: ValidatedTask): z.output<typeof validatedBriefSchema> {
  return { cleaned: presentCleaned(cleaned), warnings: warnings.map(({ field, message, timestamp }) => ({ field, message, timestamp })) }
}

function presentCleaned(cleaned: CleanBrief): z.output<typeof validatedBriefSchema>['cleaned'] {
  return {
    title: cleaned.title,
    instructions: cleaned.instructions,
    description: cleaned.description,
    priority: cleaned.priority,
    acceptance_criteria: cleaned.criteria.map(({ text, source, required, check }) => ({ text, source, required, ...(check == null ? {} : { check }) })),
    required_outputs: presentRequiredOutputs(cleaned.requiredOutputs),
    tsgs: cleaned.tsgIds,
    parent_session_id: cleaned.parentSessionId,
    client_cwd: cleaned.clientCwd,
    depends_on: cleaned.dependsOn,
    review: cleaned.review,
    task_context: cleaned.context,
    budget: budgetField(cleaned),
    metadata: cleaned.metadata,
  }
}

const diffPartSchema = component('DiffPart', z.object({ op: component('DiffOp', z.enum(['keep', 'add', 'remove'])), text: z.string() }))

export const briefDiffSchema = component(
  'BriefDiff',
  z.record(z.string(), z.array(diffPartSchema)).describe('For each changed field, its sentences, lines or items in order.'),
)

export const revisedTaskSchema = component(
  'RevisedTask',
  z.object({
    task: taskSchema,
    update_id: z.uuid().nullable().describe('The update for the assignee. Null if nothing that the brief shows has changed.'),
    revision: z.int(),
    diff: briefDiffSchema,
  }),
)

export function presentRevisedTask({ task, update, diff }: RevisedTask): z.output<typeof revisedTaskSchema> {
  return { task: presentTask(task), update_id: update?.updateId ?? null, revision: task.revision, diff }
}

import { type Answer, DECISIONS, ON_EXPIRY, QUESTION_KINDS, QUESTION_STATUSES } from '@muster/domain'
import type { Question } from '@muster/usecases'
import { z } from 'zod'
import {
  component,
  formerly,
  listComponent,
  printableId,
  referenceSchema,
  requestComponent,
  storable,
  text,
  time,
  toTime,
  toTimeOrNull,
} from '../../http/schemas.ts'

const WEEK_SECONDS = 7 * 86_400
const DAY_SECONDS = 86_400
const VALUE_BYTES_MAX = 65_536

function withinSize<Schema extends z.ZodType>(schema: Schema): Schema {
  return storable(schema).check((context) => {
    const bytes = Buffer.byteLength(JSON.stringify(context.value) ?? '')
    if (bytes > VALUE_BYTES_MAX) context.issues.push({ code: 'custom', message: `must be at most 64 KiB as JSON, and is ${bytes} bytes`, input: context.value })
  })
}

const value = withinSize(z.unknown())
const object = withinSize(z.record(z.string(), z.unknown()))

const kindSchema = component(
  'QuestionKind',
  z.enum(QUESTION_KINDS).describe('question: asks for an option, a form or a text. approval: asks whether a call with exactly these arguments may be made.'),
)
export const questionStatusSchema = component('QuestionStatus', z.enum(QUESTION_STATUSES))
const onExpirySchema = component(
  'OnExpiry',
  z
    .enum(ON_EXPIRY)
    .describe(
      'default: the default becomes the answer. continue: the run or assignee receives a note that no answer came. fail: the task fails; a subtask is cancelled.',
    ),
)
const decisionSchema = component('ApprovalDecision', z.enum(DECISIONS))

const optionSchema = component('QuestionOption', z.object({ id: z.string(), label: z.string(), description: z.string().nullable() }))
const newOptionSchema = requestComponent(
  'NewQuestionOption',
  z.strictObject({ id: text(64), label: text(200), description: text(2_000).nullable().default(null) }),
)

const answerFields = {
  option_id: text(64).optional(),
  answer: value.optional().describe('The answer to a question without options, valid against its schema; beside a decision, a text.'),
  decision: decisionSchema.optional(),
}

const newQuestion = z.strictObject({
  kind: kindSchema.default('question'),
  prompt: text(20_000).describe('What the session that is asked should decide.'),
  options: z.array(newOptionSchema).min(1).max(50).nullable().default(null),
  schema: object.nullable().default(null).describe('JSON Schema that the answer must fit. Not together with options.'),
  arguments: object.nullable().default(null).describe('For an approval: the arguments that it permits. Required there.'),
  default: requestComponent('NewDefaultAnswer', z.strictObject(answerFields))
    .nullable()
    .default(null)
    .describe('The answer if none comes in time. Never an approval.'),
  expires_in_seconds: z.int().min(1).max(WEEK_SECONDS).default(DAY_SECONDS),
  on_expiry: onExpirySchema.default('continue'),
})

const EXAMPLE = {
  prompt: 'Which database should the example use?',
  options: [
    { id: 'pg', label: 'PostgreSQL', description: 'As in production.' },
    { id: 'sqlite', label: 'SQLite' },
  ],
  default: { option_id: 'pg' },
  on_expiry: 'default' as const,
  expires_in_seconds: 3600,
}

export const newTaskQuestionSchema = requestComponent('NewTaskQuestion', newQuestion, EXAMPLE)
export const newSubtaskQuestionSchema = requestComponent(
  'NewSubtaskQuestion',
  newQuestion.extend({ lease_token: text(512).optional().describe('`lease.token` of the claim, where an outside worker asks with its key.') }),
  EXAMPLE,
)

export function toNewQuestion(body: z.output<typeof newQuestion>) {
  return {
    kind: body.kind,
    prompt: body.prompt,
    options: body.options,
    schema: body.schema,
    arguments: body.arguments,
    default: body.default === null ? null : toAnswer(body.default),
    expiresInSeconds: body.expires_in_seconds,
    onExpiry: body.on_expiry,
  }
}

export const newAnswerSchema = requestComponent(
  'NewAnswer',
  z.strictObject({
    ...answerFields,
    edited_arguments: object.optional().describe('With approve: permits these arguments instead of those that were asked about.'),
    always: z.boolean().optional().describe('With approve: approves whatever the same rule asks about, for the rest of the run.'),
    arguments_digest: text(64).optional().describe('The `arguments_digest` that you decide about. An approval of other arguments is refused.'),
    revision: z.int().min(1).optional().describe('The current revision of the task, to answer a question that was asked at an older one.'),
  }),
  { decision: 'approve' },
)

/** Without absent fields: the rules distinguish an absent field from a null. */
export function toAnswer(body: { [Field in keyof Answer]?: Answer[Field] | undefined }): Answer {
  return Object.fromEntries(Object.entries(body).filter(([, field]) => field !== undefined)) as Answer
}

const answerSchema = component(
  'Answer',
  z.object({
    option_id: z.string().optional(),
    answer: z.unknown().optional(),
    decision: decisionSchema.optional(),
    edited_arguments: z.record(z.string(), z.unknown()).optional(),
    always: z.boolean().optional(),
    arguments_digest: z.string().optional().describe('Of the arguments that were approved. An approval permits nothing else.'),
  }),
)

export const questionSchema = component(
  'Question',
  z.object({
    id: z.uuid(),
    question_id: formerly(z.uuid(), 'id'),
    kind: kindSchema,
    subtask_id: z.uuid().nullable(),
    task_id: z.uuid().nullable(),
    session_id: z.string().nullable().describe('The parent session, which finds the question in its inbox.'),
    prompt: z.string(),
    options: z.array(optionSchema).nullable(),
    schema: z.record(z.string(), z.unknown()).nullable(),
    default: answerSchema.nullable(),
    revision: z.int().nullable().describe('The revision of the task when it was asked; null for a subtask without a task.'),
    arguments: z.record(z.string(), z.unknown()).nullable(),
    arguments_digest: z.string().nullable().describe('SHA-256 of the arguments as JSON with sorted keys, in hexadecimal.'),
    status: questionStatusSchema,
    expires_at: time('When it expires, unless it is answered.'),
    on_expiry: onExpirySchema,
    answer: answerSchema.nullable(),
    answered_by: referenceSchema.nullable().describe('The owner of the credential that answered; null for an expiry.'),
    update_id: z.uuid().nullable().describe('The update that delivers the answer to the run or assignee, with its receipt.'),
    asked_at: time(),
    answered_at: time().nullable(),
  }),
  {
    id: '0198c9a5-11b2-7d4e-8a55-0c9e7d1f3b20',
    question_id: '0198c9a5-11b2-7d4e-8a55-0c9e7d1f3b20',
    kind: 'approval',
    subtask_id: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47',
    task_id: null,
    session_id: 'research-1',
    prompt: 'May I push to main?',
    options: null,
    schema: null,
    default: null,
    revision: null,
    arguments: { branch: 'main' },
    arguments_digest: 'c1a2f0…',
    status: 'open',
    expires_at: '2026-03-03T08:00:05.000Z',
    on_expiry: 'continue',
    answer: null,
    answered_by: null,
    update_id: null,
    asked_at: '2026-03-02T08:00:05.000Z',
    answered_at: null,
  },
)

export const questionListSchema = listComponent('QuestionList', questionSchema)

export const sessionFilter = printableId('Only questions to this parent session.', 'research-1').optional()

export function presentQuestion(question: Question): z.output<typeof questionSchema> {
  return {
    id: question.id,
    question_id: question.id,
    kind: question.kind,
    subtask_id: question.subtaskId,
    task_id: question.taskId,
    session_id: question.sessionId,
    prompt: question.prompt,
    options: question.options,
    schema: question.schema,
    default: question.defaultAnswer,
    revision: question.revision,
    arguments: question.arguments,
    arguments_digest: question.argumentsDigest,
    status: question.status,
    expires_at: toTime(question.expiresAt),
    on_expiry: question.onExpiry,
    answer: question.answer,
    answered_by: question.answeredByKind === null ? null : { kind: question.answeredByKind, id: question.answeredById as string },
    update_id: question.updateId,
    asked_at: toTime(question.askedAt),
    answered_at: toTimeOrNull(question.answeredAt),
  }
}

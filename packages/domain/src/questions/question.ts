import { DomainError, type FieldProblem } from '../core/errors.ts'
import { checkOutputSchema, outputProblems } from '../tasks/output-schema.ts'

export const QUESTION_KINDS = ['question', 'approval'] as const
export type QuestionKind = (typeof QUESTION_KINDS)[number]

export const QUESTION_STATUSES = ['open', 'answered', 'expired', 'withdrawn'] as const
export type QuestionStatus = (typeof QUESTION_STATUSES)[number]

export const ON_EXPIRY = ['default', 'continue', 'fail'] as const
export type OnExpiry = (typeof ON_EXPIRY)[number]

export const DECISIONS = ['approve', 'reject'] as const
export type Decision = (typeof DECISIONS)[number]

export interface QuestionOption {
  id: string
  label: string
  description: string | null
}

/** An answer as it is stored. A question has `option_id` or `answer`; an approval has `decision`, and `answer` for the words beside it. */
export interface Answer {
  option_id?: string
  answer?: unknown
  decision?: Decision
  /** What was approved, where it differs from what was asked. */
  edited_arguments?: Record<string, unknown>
  /** With approve: whatever asks by the same rule is approved for the rest of the run. */
  always?: boolean
  /** Of the arguments that were approved. An approval permits nothing else. */
  arguments_digest?: string
}

/** What decides about an answer. */
export interface AskedQuestion {
  kind: QuestionKind
  options: QuestionOption[] | null
  schema: Record<string, unknown> | null
  argumentsDigest: string | null
}

/** What is asked, before it is stored. */
export interface NewQuestion extends Omit<AskedQuestion, 'argumentsDigest'> {
  arguments: Record<string, unknown> | null
  default: Answer | null
  onExpiry: OnExpiry
}

/** An open subtask or task has at most this many open questions. */
export const OPEN_QUESTIONS_MAX = 50

const problem = (field: string, reason: string): FieldProblem => ({ pointer: `/${field}`, field, reason })

/** What is wrong with a new question. */
export function questionProblems(question: NewQuestion): FieldProblem[] {
  const { kind, options, schema, onExpiry } = question
  const problems: FieldProblem[] = []
  if (kind === 'approval') {
    if (question.arguments === null) problems.push(problem('arguments', 'is required for an approval, which permits these arguments and nothing else'))
    if (options !== null) problems.push(problem('options', 'is for a question: an approval is answered with a decision'))
    if (schema !== null) problems.push(problem('schema', 'is for a question: an approval is answered with a decision'))
  } else {
    if (question.arguments !== null) problems.push(problem('arguments', 'is for an approval'))
    if (options !== null && schema !== null) problems.push(problem('schema', 'cannot be combined with options'))
  }
  if (options !== null && new Set(options.map(({ id }) => id)).size < options.length) problems.push(problem('options', 'has two options with the same id'))
  const schemaProblem = schema === null ? null : checkOutputSchema(schema)
  if (schemaProblem !== null) problems.push(problem('schema', schemaProblem))
  if (onExpiry === 'default' && question.default === null) problems.push(problem('default', 'is required if on_expiry is default'))
  if (question.default !== null && problems.length === 0) problems.push(...defaultProblems(question, question.default))
  return problems
}

function defaultProblems(question: NewQuestion, answer: Answer): FieldProblem[] {
  // Silence never permits anything.
  if (answer.decision === 'approve') return [problem('default/decision', 'must be reject: an approval is not given by expiry')]
  const found = answerProblems({ ...question, argumentsDigest: null }, answer)
  return found.map(({ field, reason }) => problem(`default/${field}`, reason))
}

/** What is wrong with an answer. */
export function answerProblems({ kind, options, schema }: AskedQuestion, given: Answer): FieldProblem[] {
  if (kind === 'approval') {
    return [
      ...(given.decision === undefined ? [problem('decision', 'is required: approve or reject')] : []),
      ...(given.option_id === undefined ? [] : [problem('option_id', 'is for a question with options')]),
      ...(given.answer === undefined || typeof given.answer === 'string' ? [] : [problem('answer', 'must be a text beside a decision')]),
      ...(given.always === true && given.decision === 'reject' ? [problem('always', 'is for approve only')] : []),
      ...(given.edited_arguments !== undefined && given.decision === 'reject' ? [problem('edited_arguments', 'is for approve only')] : []),
    ]
  }
  const misplaced = (['decision', 'edited_arguments', 'always', 'arguments_digest'] as const).filter((field) => given[field] !== undefined)
  if (misplaced.length > 0) return misplaced.map((field) => problem(field, 'is for an approval'))
  if (options !== null) {
    if (given.answer !== undefined) return [problem('answer', 'is for a question without options: send option_id')]
    if (options.some(({ id }) => id === given.option_id)) return []
    return [problem('option_id', `must be one of ${options.map(({ id }) => id).join(', ')}`)]
  }
  if (given.option_id !== undefined) return [problem('option_id', 'is for a question with options')]
  return outputProblems([{ name: 'answer', description: null, schema }], { answer: given.answer }).map(({ name, reason }) => problem(name, reason))
}

/** @throws DomainError `validation_failed`, naming each problem */
export function requireValid(problems: readonly FieldProblem[]): void {
  if (problems.length === 0) return
  const listed = problems.map(({ field, reason }) => `${field} ${reason}`).join('; ')
  throw new DomainError('validation_failed', `The request has ${problems.length === 1 ? 'a problem' : 'problems'}: ${listed}.`, { errors: [...problems] })
}

/** Whether Muster asked this, because a run has used up its budget. A run that asks is named as the asker, and Muster names none. */
export function isAboutBudget({ kind, subtaskId, askedBySession }: { kind: QuestionKind; subtaskId: string | null; askedBySession: string | null }): boolean {
  return kind === 'approval' && subtaskId !== null && askedBySession === null
}

/** JSON with sorted keys: the same value has the same text, whatever the order in which it was written or stored. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`)
    .join(',')}}`
}

/** What an answer has to fit, as text for the session that is asked: options, arguments that an approval permits, or a form. Null for a free answer. */
export function expectedAnswerText({
  options,
  schema,
  arguments: args,
  argumentsDigest,
}: Pick<AskedQuestion, 'options' | 'schema' | 'argumentsDigest'> & Pick<NewQuestion, 'arguments'>): string | null {
  if (options !== null) {
    return ['Options:', ...options.map(({ id, label, description }) => `${id}: ${label}${description === null ? '' : ` (${description})`}`)].join('\n')
  }
  if (args !== null) return `To approve, exactly these arguments (arguments_digest ${argumentsDigest}):\n${JSON.stringify(args, null, 2)}`
  return schema === null ? null : `JSON Schema of the answer:\n${JSON.stringify(schema)}`
}

/** How an answer reads in the update that delivers it. */
export function answerText(questionId: string, prompt: string, options: readonly QuestionOption[] | null, answer: Answer): string {
  const label = options?.find(({ id }) => id === answer.option_id)?.label
  const lines = [
    `Answer to question ${questionId}`,
    `Question: ${prompt}`,
    answer.option_id === undefined ? null : `Option: ${answer.option_id}${label === undefined ? '' : ` (${label})`}`,
    answer.decision === undefined ? null : `Decision: ${answer.decision}`,
    answer.answer === undefined ? null : `Answer: ${typeof answer.answer === 'string' ? answer.answer : JSON.stringify(answer.answer)}`,
    answer.edited_arguments === undefined ? null : `Use these arguments: ${JSON.stringify(answer.edited_arguments)}`,
    answer.always === true ? 'For the rest of this run, no such question has to be asked again.' : null,
    answer.arguments_digest === undefined ? null : `Digest of the arguments: ${answer.arguments_digest}`,
  ]
  return lines.filter((line) => line !== null).join('\n')
}

/** The update for a question that a run waits for, and that was withdrawn. */
export function withdrawalText(questionId: string, prompt: string): string {
  return `Question ${questionId} was withdrawn. Continue without an answer.\nQuestion: ${prompt}`
}

/** The update for a question that expired without a default. */
export function expiryText(questionId: string, prompt: string): string {
  return `Question ${questionId} expired without an answer. Continue without it.\nQuestion: ${prompt}`
}

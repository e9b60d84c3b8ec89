import type { BodyOf, Question } from '@muster/client'
import { usageError } from '../exit-codes.ts'

const APPROVALS: Record<string, 'approve' | 'reject'> = { approve: 'approve', yes: 'approve', y: 'approve', reject: 'reject', no: 'reject', n: 'reject' }

/**
 * What a person typed as the answer to a question: `approve` or `reject` for an approval, the number, id or label of an option, JSON where the question
 * has a schema, and words else.
 *
 * @throws CliError that lists what can be answered
 */
export function answerOf(question: Question, text: string): BodyOf<'answerQuestion'> {
  const shared = question.revision === null ? {} : { revision: question.revision }
  if (question.kind === 'approval') {
    const decision = APPROVALS[text.toLowerCase()]
    if (decision === undefined) throw usageError(`This is an approval: answer approve or reject, not ${text}.`)
    return { ...shared, decision, ...(question.arguments_digest === null ? {} : { arguments_digest: question.arguments_digest }) }
  }
  const options = question.options ?? []
  const option = options.find(({ id, label }) => id === text || label.toLowerCase() === text.toLowerCase()) ?? options[Number(text) - 1]
  if (option !== undefined) return { ...shared, option_id: option.id }
  if (options.length > 0)
    throw usageError(`There is no option ${text}. Answer with one of: ${options.map(({ id }, index) => `${index + 1} ${id}`).join(', ')}.`)
  return { ...shared, answer: question.schema === null ? text : parsed(text) }
}

/** Words that are no JSON are the text itself: the server says whether the schema takes it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

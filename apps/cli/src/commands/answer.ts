import type { BodyOf, Question } from '@muster/client'
import { usageError } from '../exit-codes.ts'

/**
 * What a person typed as the answer to a question: yes, always or no with a reason for an approval, the number, id or label of an option, JSON where the question
 * has a schema, and words else.
 *
 * @throws CliError that lists what can be answered
 */
export function answerOf(question: Question, text: string): BodyOf<'answerQuestion'> {
  if (question.kind === 'approval') return approvalOf(question, text)
  const shared = question.revision === null ? {} : { revision: question.revision }
  const options = question.options ?? []
  // The number that was shown first: an id may look like another one.
  const option = options[Number(text) - 1] ?? options.find(({ id, label }) => id === text || label.toLowerCase() === text.toLowerCase())
  if (option !== undefined) return { ...shared, option_id: option.id }
  if (options.length > 0)
    throw usageError(`There is no option ${text}. Answer with one of: ${options.map(({ id }, index) => `${index + 1} ${id}`).join(', ')}.`)
  return { ...shared, answer: question.schema === null ? text : parsed(text) }
}

/** Only what was shown is approved: the server compares the digest of the arguments. */
function approvalOf({ revision, arguments_digest }: Question, text: string): BodyOf<'answerQuestion'> {
  const shared = { ...(revision === null ? {} : { revision }), ...(arguments_digest === null ? {} : { arguments_digest }) }
  if (/^(y|yes|approve)$/i.test(text)) return { ...shared, decision: 'approve' }
  if (/^always$/i.test(text)) return { ...shared, decision: 'approve', always: true }
  const reason = /^(?:n|no|reject)(?:$|[\s:,.]+)(.*)$/is.exec(text)?.[1]
  if (reason === undefined) throw usageError(`This is an approval: answer yes, always, or no with a reason, not ${text}.`)
  return { ...shared, decision: 'reject', ...(reason === '' ? {} : { answer: reason }) }
}

/** Words that are no JSON are the text itself: the server says whether the schema takes it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

import type { Question } from '@muster/client'
import { describe, expect, it } from 'vitest'
import { answerOf } from './answer.ts'

const question = (more: Partial<Question>): Question =>
  ({ id: 'q', kind: 'question', options: null, schema: null, revision: null, arguments_digest: null, ...more }) as Question
const OPTIONS = [
  { id: 'keep', label: 'Keep it', description: null },
  { id: 'drop', label: 'Drop it', description: null },
]

describe('what a person types as an answer', () => {
  it.each([
    ['the number of an option', '2', { option_id: 'drop' }],
    ['its id', 'keep', { option_id: 'keep' }],
    ['its label, in any case', 'drop IT', { option_id: 'drop' }],
  ])('may be %s', (_what, text, answer) => {
    expect(answerOf(question({ options: OPTIONS }), text)).toEqual(answer)
  })

  it.each(['3', '0', 'other'])('is refused with the options, if it is none of them: %s', (text) => {
    expect(() => answerOf(question({ options: OPTIONS }), text)).toThrow('Answer with one of: 1 keep, 2 drop.')
  })

  it('decides an approval for the arguments that were shown, and nothing else does', () => {
    const approval = question({ kind: 'approval', arguments_digest: 'sha256:1', revision: 3 })
    expect(answerOf(approval, 'Yes')).toEqual({ decision: 'approve', arguments_digest: 'sha256:1', revision: 3 })
    expect(answerOf(approval, 'reject')).toMatchObject({ decision: 'reject' })
    expect(answerOf(approval, 'always')).toMatchObject({ decision: 'approve', always: true })
    expect(answerOf(approval, 'no, not on Friday')).toMatchObject({ decision: 'reject', answer: 'not on Friday' })
    for (const text of ['maybe', 'yesterday', 'nothing', 'approve it later'])
      expect(() => answerOf(approval, text)).toThrow('answer yes, always, or no with a reason')
  })

  it('is JSON where a form is asked for, and words else', () => {
    expect(answerOf(question({ schema: { type: 'object' } }), '{"a": 1}')).toEqual({ answer: { a: 1 } })
    expect(answerOf(question({ schema: { type: 'string' } }), 'plain words')).toEqual({ answer: 'plain words' })
    expect(answerOf(question({}), '{"a": 1}')).toEqual({ answer: '{"a": 1}' })
  })
})

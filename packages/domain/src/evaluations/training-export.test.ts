import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluate, MESSAGE_ROLES, TRAINING_FORMATS, type TrainingExample, type TrainingMessage, trainingRecord } from '../index.ts'

const criteria = [{ id: 'c1', text: 'Works', source: 'acceptance' as const, required: true }]
const evaluation = evaluate({ output: '<npl-block type="check-in">\n✅ Works\n</npl-block>', criteria, criteriaRevision: 2 })

function example(...messages: [TrainingMessage['role'], string][]): TrainingExample {
  return { messages: messages.map(([role, content]) => ({ role, content })), evaluation, quality: 'good', tags: ['a', 'b'] }
}

function read(format: (typeof TRAINING_FORMATS)[number], of: TrainingExample): unknown {
  return JSON.parse(trainingRecord(format, of) ?? 'null')
}

const conversation = example(
  ['system', 'Be brief.'],
  ['user', 'Do it.'],
  ['user', 'Now.'],
  ['assistant', 'I look.'],
  ['tool', 'found'],
  ['assistant', 'Done.'],
  ['user', ' '],
  ['user', 'Thanks.'],
)

describe('a training record', () => {
  it('for openai is the conversation up to the last answer', () => {
    expect(read('openai', conversation)).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Do it.' },
        { role: 'user', content: 'Now.' },
        { role: 'assistant', content: 'I look.' },
        { role: 'user', content: 'found' },
        { role: 'assistant', content: 'Done.' },
      ],
    })
  })

  it('for anthropic takes turns, with the words of the system apart', () => {
    expect(read('anthropic', conversation)).toEqual({
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Do it.\n\nNow.' },
        { role: 'assistant', content: 'I look.' },
        { role: 'user', content: 'found' },
        { role: 'assistant', content: 'Done.' },
      ],
    })
    expect(read('anthropic', example(['assistant', 'Hello.'], ['user', 'Do it.'], ['assistant', 'Done.']))).toEqual({
      messages: [
        { role: 'user', content: 'Do it.' },
        { role: 'assistant', content: 'Done.' },
      ],
    })
  })

  it('as jsonl has everything that is known of it', () => {
    expect(read('jsonl', example(['user', 'Do it.'], ['tool', '']))).toEqual({
      messages: [
        { role: 'user', content: 'Do it.' },
        { role: 'tool', content: '' },
      ],
      evaluation: {
        score: 1,
        recommendation: 'approve',
        dimensions: { correctness: 1, security: null, style: null, completeness: null },
        criteria: [{ id: 'c1', text: 'Works', verdict: 'met', evidence: 'Works', method: 'check_in' }],
        criteria_revision: 2,
      },
      quality: 'good',
      tags: ['a', 'b'],
    })
    expect(read('jsonl', { messages: [], evaluation: null, quality: null, tags: [] })).toEqual({ messages: [], evaluation: null, quality: null, tags: [] })
  })

  it('is none where there is nothing to learn', () => {
    expect(trainingRecord('openai', example(['system', 'a'], ['user', 'b']))).toBeNull()
    expect(trainingRecord('openai', example(['assistant', ' ']))).toBeNull()
    expect(trainingRecord('anthropic', example(['assistant', 'a']))).toBeNull()
    expect(trainingRecord('anthropic', example(['assistant', 'a'], ['user', 'b']))).toBeNull()
    expect(trainingRecord('anthropic', example())).toBeNull()
  })

  it('is one line to every reader, in order and turn, whatever was said', () => {
    // Of its own: fast-check takes a second to make the like for all of Unicode.
    const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((codes) => String.fromCharCode(...codes))
    const content = fc.oneof(units, fc.constantFrom('a\u2028b', '\r\n', '\u0085', '\uD800', ' '))
    const messages = fc.array(fc.record({ role: fc.constantFrom(...MESSAGE_ROLES), content }), { maxLength: 8 })
    fc.assert(
      fc.property(fc.constantFrom(...TRAINING_FORMATS), messages, (format, said) => {
        const line = trainingRecord(format, { messages: said, evaluation: null, quality: null, tags: [] })
        if (line === null) return
        expect(line).not.toMatch(/[\n\r\u0085\u2028\u2029]/)
        expect(line.isWellFormed()).toBe(true)
        const record = JSON.parse(line) as { messages: TrainingMessage[] }
        if (format === 'anthropic')
          expect(record.messages.map(({ role }) => role)).toEqual(record.messages.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')))
        if (format !== 'jsonl') expect(record.messages.at(-1)?.role).toBe('assistant')
        else expect(record.messages).toEqual(said.map((message) => ({ ...message, content: message.content.toWellFormed() })))
      }),
      { numRuns: 60 },
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutToUnits, messageOf } from '../index.ts'

describe('the message of an event', () => {
  it.each([
    [
      { type: 'subtask.completed', data: { task: 'Research snow', result: 'Base depth is 62".' } },
      '✅ Task completed: "Research snow"',
      'Result: Base depth is 62".',
    ],
    [{ type: 'task.completed', data: { title: 'Count' } }, '✅ Task completed: "Count"', ''],
    [{ type: 'subtask.failed', data: { task: 'Research\n  snow', error: 'It broke.' } }, '❌ Task failed: "Research snow"', 'Error: It broke.'],
    [{ type: 'subtask.failed', data: { task: 'x', error: null } }, '❌ Task failed: "x"', 'Error: no reason was given'],
    [{ type: 'question.asked', data: { kind: 'question', prompt: 'Which one?' } }, '❓ Question', 'Which one?'],
    [{ type: 'question.asked', data: { kind: 'approval', prompt: 'Push?' } }, '❓ Approval needed', 'Push?'],
  ])('%j', (event, heading, text) => expect(messageOf(event)).toEqual({ heading, text, buttons: [] }))

  it('shortens what was asked to one line', () => {
    expect(messageOf({ type: 'task.completed', data: { title: 'word '.repeat(100) } }).heading).toMatch(/^✅ Task completed: "(word )+.*…"$/)
  })
})

it('a cut text keeps within its limit, and has no half of a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (text, max) => {
      const cut = cutToUnits(text, max)
      expect(cut.text.length).toBeLessThanOrEqual(max)
      expect(cut.text.isWellFormed()).toBe(true)
      expect(cut.isCut).toBe(text.length > max)
    }),
  )
})

import { describe, expect, it } from 'vitest'
import { renderBrief, renderUpdate } from './index.ts'

const input = { task: 'Count the files.', parentSessionId: null, background: true, requiredOutputs: [], updates: [], feedback: null }

describe('a brief', () => {
  it('says what it is, for whom, and what to do', () => {
    expect(renderBrief(input)).toBe(
      'You are executing a background subtask.\nParent session: none\nDeliver a clear, complete result. Do not ask questions.\n\nTask: Count the files.',
    )
    expect(renderBrief({ ...input, background: false, parentSessionId: 'chat-1' })).toMatch(/^You are executing a subtask\.\nParent session: chat-1\n/)
  })

  it('goes on with the outputs, then the notes in their order, then what was wrong last time', () => {
    const brief = renderBrief({
      ...input,
      requiredOutputs: [
        { name: 'files', description: 'every path', schema: null },
        { name: 'count', description: null, schema: { type: 'integer' } },
      ],
      updates: [
        { updateId: 'u1', content: 'Skip node_modules.' },
        { updateId: 'u2', content: 'Hurry.' },
      ],
      feedback: 'The result was empty.',
    })
    expect(brief.split('\n\n').slice(2)).toEqual([
      'Required Outputs:\n- files: every path\n- count',
      renderUpdate('u1', 'Skip node_modules.'),
      renderUpdate('u2', 'Hurry.'),
      'Your last result was refused: The result was empty.',
    ])
  })

  it('shows a note with the id by which it can be confirmed', () => {
    expect(renderUpdate('u1', 'Line 1\nLine 2')).toBe('[Task Update: Note]\nUpdate id: u1\nLine 1\nLine 2')
  })
})

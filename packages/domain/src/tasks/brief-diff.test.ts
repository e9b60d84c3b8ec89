import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changedFields, diffBrief, type Task, updateTypeOf } from '../index.ts'
import { renderDiff } from './brief-diff.ts'

const task: Task = {
  id: '0190a000-0000-7000-8000-000000000001',
  projectId: '0190a000-0000-7000-8000-000000000002',
  title: 'Migrate to JWT',
  instructions: 'Read the code. Change it.\nTell what you did.',
  description: null,
  status: 'pending',
  revision: 1,
  priority: 'normal',
  criteria: [
    { id: 'a', text: 'Tests pass', source: 'acceptance', required: true, state: 'open' },
    { id: 'b', text: 'No warnings', source: 'acceptance', required: true, state: 'open' },
    { id: 'c', text: 'All green', source: 'success', required: true, state: 'open' },
  ],
  requiredOutputs: [{ name: 'report', description: null, schema: null }],
  completionOutputs: null,
  summary: null,
  tsgs: [],
  parentSessionId: null,
  subagentSessionId: null,
  dependsOn: [],
  blockedBy: [],
  context: null,
  warnings: [],
  review: 'none',
  clientCwd: null,
  budgetMaxTokens: null,
  budgetMaxCostMicros: null,
  workspace: null,
  metadata: {},
  lastError: null,
  nextSteps: [],
  createdAt: new Date(0),
  updatedAt: new Date(0),
  completedAt: null,
}

const validation = { validation_performed: true, validation_timestamp: '2026-01-01T00:00:00.000Z', validation_warnings: [] }

describe('the difference between two revisions', () => {
  it('is empty where only the circumstances changed', () => {
    const later: Task = {
      ...task,
      status: 'assigned',
      revision: 2,
      lastError: 'x',
      updatedAt: new Date(1),
      criteria: task.criteria.map((each) => ({ ...each, state: 'met' })),
    }
    expect(diffBrief(task, later)).toEqual({})
    expect(diffBrief({ ...task, context: validation }, { ...task, context: { ...validation, validation_timestamp: 'later' } })).toEqual({})
  })

  it('shows texts by their clauses', () => {
    const after = { ...task, instructions: 'Read the code. Change it carefully.\nTell what you did.' }
    expect(diffBrief(task, after)).toEqual({
      instructions: [
        { op: 'keep', text: 'Read the code.' },
        { op: 'remove', text: ' Change it.' },
        { op: 'add', text: ' Change it carefully.' },
        { op: 'keep', text: '\nTell what you did.' },
      ],
    })
  })

  it.each([
    ['a sentence', ' Leave out the tests.', '+ Leave out the tests.'],
    ['a line', '\n  - indented', '+ - indented'],
    ['two lines', '\nOne.\n  Two.', '+ One.\n+   Two.'],
  ])('of a text to which %s was added is that alone', (_, added, rendered) => {
    const diff = diffBrief(task, { ...task, instructions: `${task.instructions}${added}` })
    expect(diff.instructions).toEqual([
      { op: 'keep', text: task.instructions },
      { op: 'add', text: added },
    ])
    expect(renderDiff(diff)).toBe(`instructions:\n${rendered}`)
  })

  it('shows lists by their items, each source of criteria by itself', () => {
    const after: Task = {
      ...task,
      criteria: [...task.criteria.slice(1), { id: 'd', text: 'Docs updated', source: 'acceptance', required: true, state: 'open' }],
    }
    expect(diffBrief(task, after)).toEqual({
      acceptance_criteria: [
        { op: 'remove', text: 'Tests pass' },
        { op: 'keep', text: 'No warnings' },
        { op: 'add', text: 'Docs updated' },
      ],
    })
  })

  it.each<[string, Partial<Task>, Partial<Task>, string]>([
    ['title', {}, { title: 'Migrate' }, 'title:\n- Migrate to JWT\n+ Migrate'],
    ['priority', {}, { priority: 'urgent' }, 'priority:\n- normal\n+ urgent'],
    [
      'required_outputs',
      {},
      { requiredOutputs: [{ name: 'report', description: 'All', schema: { type: 'string' } }] },
      'required_outputs:\n- report\n+ report: All {"type":"string"}',
    ],
    ['metadata', { metadata: { a: 1, b: 2 } }, { metadata: { a: 1, b: [3] } }, 'metadata:\n- b: 2\n+ b: [3]'],
    ['depends_on', {}, { dependsOn: ['x'] }, 'depends_on:\n+ x'],
    ['tsgs', {}, { tsgs: [{ tsgId: 'port-in-use', title: 'Port in use' }] }, 'tsgs:\n+ port-in-use'],
    ['background_context', { context: { ...validation, background_context: 'Old.\nSame.' } }, {}, 'background_context:\n- Old.\n- Same.'],
    [
      'success_criteria',
      { context: { ...validation, success_criteria: { criteria: ['a'], all_required: true } } },
      { context: { ...validation, success_criteria: { criteria: ['a'], all_required: false } } },
      'success_criteria:\n+ all_required: false',
    ],
    [
      'constraints',
      { context: { ...validation, constraints: { rules: ['a'], enforcement_level: 'advisory' } } },
      { context: { ...validation, constraints: { rules: ['a'], enforcement_level: 'strict' } } },
      'constraints:\n- enforcement_level: advisory',
    ],
    [
      'expected_deliverables',
      {},
      { context: { ...validation, expected_deliverables: { items: ['a'], validation_added: 'now' } } },
      'expected_deliverables:\n+ a',
    ],
    ['relevant_files', {}, { context: { ...validation, relevant_files: ['a'] } }, 'relevant_files:\n+ a'],
    ['related_documentation', {}, { context: { ...validation, related_documentation: ['a'] } }, 'related_documentation:\n+ a'],
  ])('names %s', (field, before, after, rendered) => {
    const diff = diffBrief({ ...task, ...before }, { ...task, ...after })
    expect(changedFields(diff)).toEqual([field])
    expect(renderDiff(diff)).toBe(rendered)
  })

  it('loses nothing: what is kept and removed is the old text, what is kept and added the new one', () => {
    const text = fc
      .array(fc.constantFrom('One. ', 'Two; ', 'three', '\n', '\r\n', '. ', '。', '🎉', ' ', 'é́'), { maxLength: 20 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const parts = diffBrief({ ...task, instructions: before }, { ...task, instructions: after }).instructions ?? [{ op: 'keep', text: before }]
        const without = (op: string) => parts.filter((part) => part.op !== op).map((part) => part.text)
        expect(without('add').join('')).toBe(before)
        expect(without('remove').join('')).toBe(after)
        expect(parts.every(({ op }, index) => parts[index - 1]?.op !== op)).toBe(true)
      }),
    )
  })

  it('of two texts that have nothing in common is both of them, however long', () => {
    const before = 'a. '.repeat(33_000)
    const after = 'b. '.repeat(33_000)
    expect(diffBrief({ ...task, instructions: before }, { ...task, instructions: after }).instructions).toEqual([
      { op: 'remove', text: before },
      { op: 'add', text: after },
    ])
  })
})

describe('what an update is called', () => {
  it.each([
    [['metadata', 'title', 'acceptance_criteria'], 'instructions'],
    [['instructions'], 'instructions'],
    [['acceptance_criteria', 'constraints'], 'acceptance_criteria'],
    [['priority', 'required_outputs'], 'acceptance_criteria'],
    [['success_criteria'], 'context'],
    [['depends_on', 'metadata', 'priority'], 'context'],
  ])('%j: %s', (fields, type) => {
    expect(updateTypeOf(fields)).toBe(type)
  })
})

import { describe, expect, it } from 'vitest'
import { type Criterion, completionText, earlierLines, evaluate, isOutputCriterion, matchLines, outputChecks, type RequiredOutput } from '../index.ts'

const OUTPUTS: RequiredOutput[] = [
  { name: 'count', description: null, schema: { type: 'integer' } },
  { name: 'report', description: null, schema: null },
]
const CRITERIA: Criterion[] = ['It compiles', 'It is documented'].map((text, place) => ({
  id: `c${place}`,
  text,
  source: 'acceptance',
  required: true,
  state: 'open',
}))

function judged(output: string, criteria: readonly Criterion[] = [], more: object = {}) {
  const checks = outputChecks(OUTPUTS)
  return evaluate({ output, criteria: [...criteria, ...checks.criteria], criteriaRevision: 1, schemaVerdicts: checks.schemaVerdicts, ...more })
}

describe('required outputs that were accepted', () => {
  it('are criteria that a validator has met', () => {
    const { criteria } = judged('Done.', CRITERIA)
    expect(criteria.map(({ id, verdict, method, required }) => [id, verdict, method, required])).toEqual([
      ['c0', 'not_addressed', 'check_in', true],
      ['c1', 'not_addressed', 'check_in', true],
      ['output:count', 'met', 'schema', true],
      ['output:report', 'met', 'schema', true],
    ])
    expect(criteria.at(2)?.text).toBe('Required output "count" is delivered and fits its schema')
  })

  it('do not change what the words of the agent come to', () => {
    const output = '<npl-block type="check-in">\n✅ It compiles\n🐛 Required output "count" is delivered and fits its schema\n</npl-block>'
    const plain = evaluate({ output, criteria: [], criteriaRevision: null })
    expect(judged(output)).toMatchObject({ score: plain.score, recommendation: plain.recommendation })
    expect(judged(output).criteria.every(({ verdict }) => verdict === 'met')).toBe(true)
  })

  it('are none of a judge’s business', () => {
    const { criteria, warnings } = judged('It is wrong.', [], { judgeVerdicts: [{ criterionId: 'output:count', verdict: 'unmet', quote: 'It is wrong.' }] })
    expect(criteria[0]).toMatchObject({ verdict: 'met' })
    expect(warnings).toMatchObject([{ code: 'unmatched', criterionId: 'output:count' }])
  })

  it('are told from the criteria of a brief', () => {
    expect([...CRITERIA, ...outputChecks(OUTPUTS).criteria].map(isOutputCriterion)).toEqual([false, false, true, true])
  })
})

describe('completionText', () => {
  it.each<[string | null, Record<string, unknown>, string]>([
    [null, {}, ''],
    ['All of it.', {}, 'All of it.'],
    [null, { report: 'Fine.', count: 3 }, 'report:\nFine.\n\ncount:\n3'],
    ['All of it.', { list: ['a'], nothing: null }, 'All of it.\n\nlist:\n[\n  "a"\n]\n\nnothing:\nnull'],
  ])('of %j and %j', (summary, outputs, text) => {
    expect(completionText(summary, outputs)).toBe(text)
  })
})

describe('what was said before', () => {
  const said = [
    { emoji: '✅', category: 'verified' as const, text: 'It compiles' },
    { emoji: '🐛', category: 'bug' as const, text: 'It is documented' },
    { emoji: '🔒', category: 'security' as const, text: 'The key is in the log' },
  ]
  const { reports, unmatched } = matchLines(said, CRITERIA)
  const verdicts = (now: readonly Criterion[]) =>
    evaluate({ output: '', criteria: now, criteriaRevision: 2, checkIns: [earlierLines({ reports, unmatched, criteria: CRITERIA }, now)] })

  it('counts as when it was said', () => {
    expect(verdicts(CRITERIA)).toMatchObject({
      ...evaluate({ output: '', criteria: CRITERIA, criteriaRevision: 2, checkIns: [{ lines: said }] }),
      warnings: expect.any(Array),
    })
    expect(verdicts(CRITERIA).criteria.map(({ verdict }) => verdict)).toEqual(['met', 'unmet'])
  })

  it('is not about a criterion that says something else by now', () => {
    const now = CRITERIA.map((criterion) => (criterion.id === 'c0' ? { ...criterion, text: 'It compiles without warnings, in three languages' } : criterion))
    expect(verdicts(now).criteria.map(({ verdict }) => verdict)).toEqual(['not_addressed', 'unmet'])
  })

  it('keeps its weight where it was about no criterion', () => {
    expect(verdicts(CRITERIA).closedGates).toContain('security')
  })
})

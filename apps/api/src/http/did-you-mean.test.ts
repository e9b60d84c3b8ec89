import { describe, expect, it } from 'vitest'
import { didYouMean } from './did-you-mean.ts'

const KNOWN = [
  'title',
  'instructions',
  'acceptance_criteria',
  'success_criteria',
  'required_outputs',
  'timeout_seconds',
  'when',
  'cron',
  'every',
  'task',
  'tsgs',
  'notify',
]

describe('a name that is not known', () => {
  it.each([
    ['acceptance_criterias', ['acceptance_criteria']],
    ['acceptanceCriteria', ['acceptance_criteria']],
    ['Acceptance-Criteria', ['acceptance_criteria']],
    ['acceptence_criteria', ['acceptance_criteria']],
    ['acceptance', ['acceptance_criteria']],
    ['criteria', ['success_criteria', 'acceptance_criteria']],
    ['outputs', ['required_outputs']],
    ['timeout', ['timeout_seconds']],
    ['instruction', ['instructions']],
    ['whne', []],
    ['evry', ['every']],
    ['chron', ['cron']],
    ['taks', []],
    ['notifiy', ['notify']],
    ['zzz', []],
    ['', []],
    ['___', []],
    ['x'.repeat(100_000), []],
  ])('%s may stand for %j', (unknown, names) => {
    expect(didYouMean(unknown, KNOWN)).toEqual(names)
  })
})

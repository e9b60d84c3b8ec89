import { describe, expect, it } from 'vitest'
import { isImperative, isMeasurable } from './brief-wording.ts'

describe('a criterion that can be measured', () => {
  it.each([
    'All existing integration tests pass without modification',
    'It passes',
    'The build passed',
    'Migration is COMPLETED',
    'Results equal the reference',
    'The signature verifies',
    'Inputs are validated',
    'Zero user sessions invalidated during migration',
    'No regressions',
    'Legacy token format accepted for 30 days grace period',
    'Answers within 100ms',
    'Coverage of ≥ 80 %',
    'Coverage of 80%',
    'Costs $5 or less',
    'At least 3 reviewers agree',
    'Handles 1,000 requests at once',
    'Takes 1.5 s',
    'Uses up to 2 GiB',
    '5 секунд на ответ',
    '回答は3秒以内',
  ])('%s', (criterion) => {
    expect(isMeasurable(criterion)).toBe(true)
  })

  it.each([
    'It works',
    'Code looks good',
    'People know the result',
    'The hall is tallied',
    'Compass is calibrated',
    'Users understand the attestation',
    'Runs on Python 3',
    'See section 4 of the guide',
    'The 2nd version is nicer',
    'Works with HTTP2',
    'Invalidated caches are rebuilt',
    '',
  ])('not: %j', (criterion) => {
    expect(isMeasurable(criterion)).toBe(false)
  })
})

describe('a constraint that reads like one', () => {
  it.each([
    'Do not modify src/auth/legacy.py - used by payment service',
    "Don't touch it",
    'Don’t touch it',
    'Must use existing pyjwt library',
    'Must maintain REST API backward compatibility',
    'The API must stay as it is',
    'MUST NOT fail',
    'Never call it',
    'You are required to ask',
    'Only use the standard library',
    'Only the owner may write',
    'Users cannot be locked out',
    'Should not take longer',
    'No database schema changes allowed',
    '- no external calls',
  ])('%s', (constraint) => {
    expect(isImperative(constraint)).toBe(true)
  })

  it.each([
    'Do it fast',
    'Know the code',
    'Notes are welcome',
    'Nobody will mind',
    'There is no hurry',
    'It is the only way',
    'Mustard is fine',
    'Whenever possible, be quick',
    'Scannot works',
    '',
  ])('not: %j', (constraint) => {
    expect(isImperative(constraint)).toBe(false)
  })
})

import { randomUUID } from 'node:crypto'
import type { EvaluatedCriterion } from '@muster/domain'

const CRITERIA = [
  'Every public function of the parser has a doc comment',
  'Unit tests cover empty input, one line and a thousand lines',
  'The rate limiter refuses the eleventh request of a second',
  'No request waits longer than five seconds for its answer',
  'Migrations can be run twice without an error',
  'The README says how to start the service on a bare machine',
  'Secrets are read from the environment and never logged',
  'All dates in answers are ISO 8601 with a zone',
]
const PROSE = [
  'I read the module from top to bottom before I changed anything, and noted which callers rely on the order of its results.',
  'The loop over the pages was replaced by one query with a cursor, so that nothing is skipped when a row goes away meanwhile.',
  'Two of the tests were flaky because they slept; they now wait for the event that the change is followed by.',
  'What remains open is whether the limit belongs to the key or to the address; the text of the task allows for both.',
  'The `retry` function doubles its pause up to a second, and gives up after the fifth attempt with the last error as its cause.',
  'In the worst case (an empty table, a filter on a state that no row has) the plan reads one page of the index and ends.',
  'I left the old endpoint in place and made it answer with a redirect, because two scripts outside of this repository call it.',
]
const EMOJI = ['✅', '✅', '✅', '✅', '🐛', '❓', '📝', '⚠️', '🔧', '🔒']

/** What the outputs are held against. */
export function eightCriteria(): EvaluatedCriterion[] {
  return CRITERIA.map((text) => ({ id: randomUUID(), text, source: 'acceptance', required: true }))
}

/** A result as an agent writes one: prose of so many bytes, what it thinks of its work, and what it says of each criterion, differently each time. */
export function outputOf(number: number, bytes: number): string {
  const pick = <T>(from: readonly T[], salt: number): T => from[(number * 7 + salt * 13 + ((number * salt) >> 3)) % from.length] as T
  const reflection = ['<npl-block type="reflection">', ...Array.from({ length: 6 }, (_, item) => `${pick(EMOJI, item)} ${pick(PROSE, item).slice(0, 70)}`)]
  const checkIn = ['<npl-block type="check-in">', 'acceptance_criteria:']
  for (const [place, text] of CRITERIA.entries()) checkIn.push(`  - ${pick(EMOJI, place + 20)} ${text}${number % 3 === 0 ? ', as asked' : ''}`)
  const end = [...reflection, '</npl-block>', '', ...checkIn, 'status: in_progress', 'next_steps:', '  - Wait for a review', '</npl-block>'].join('\n')
  let prose = `Part ${number} is done.\n`
  for (let sentence = 0; Buffer.byteLength(prose) + Buffer.byteLength(end) < bytes - 100; sentence += 1) {
    prose += `${pick(PROSE, sentence + 40)}${sentence % 4 === 3 ? '\n\n' : ' '}`
  }
  return `${prose}\n\n${end}\n`
}

/** Texts of so many bytes that are made to take long, by what they are made of. First come those that do take longest. */
export function adversarialOutputs(bytes: number): Record<string, () => string> {
  const fill =
    (piece: string, before = '') =>
    () =>
      before + piece.repeat(Math.floor((bytes - Buffer.byteLength(before)) / Buffer.byteLength(piece)))
  const reflection = '<npl-reflection>\n'
  const report = '<npl-block type="check-in">\n'
  return {
    'nested blocks': fill('<npl-reflection>\n✅ a\n'),
    'check-ins': fill('<npl-block type="check-in">✅ a</npl-block>'),
    'lines of a check-in': fill('✅ a\n', report),
    'unclosed blocks': fill('<npl-ref>✅'),
    emoji: fill('✅', reflection),
    'lines of emoji': fill('⚠\uFE0F\r\n🐛\r🔒 a\n', reflection),
    'joined emoji': fill('🐛\u200D🔥\n', reflection),
    'fenced blocks': fill('```\n<npl-ref>\n✅ a\n</npl-ref>\n```\n'),
    'words of criteria': fill('rate limiter ', `${report}✅ `),
    attributes: fill(' a', '<npl-ref'),
  }
}

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BRIEF_LIMITS, type BriefFields, briefRefused, cleanBrief, titleOf, toBriefFields, withWarnings } from '../index.ts'

const at = new Date('2025-10-29T12:34:56.789Z')
const timestamp = at.toISOString()

const anyText = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''))
const words = { title: 'Title', instructions: 'Count the files.' }

function clean(fields: BriefFields) {
  return cleanBrief(fields, at)
}

/** `pointer reason` of every problem. */
function problemsOf(fields: BriefFields): string[] {
  return clean(fields).problems.map(({ pointer, reason }) => `${pointer} ${reason}`)
}

/** `field: message` of every warning. */
function warningsOf(fields: BriefFields): string[] {
  return clean(fields).warnings.map(({ field, message }) => `${field}: ${message}`)
}

/** [EN] 7.2 */
const GOOD: BriefFields = {
  description: 'Implement JWT token authentication',
  priority: 'high',
  background_context: `
        Current OAuth2 implementation uses deprecated token format.
        Users report intermittent login failures after 2 hours.
        Need to migrate to JWT standard while maintaining backward
        compatibility with existing sessions for 30 days.
    `,
  expected_deliverables: [
    'Updated authentication handler in src/auth/handler.py',
    'JWT token validation function with expiry handling',
    'Migration script for existing sessions in scripts/migrate_auth.py',
    'Integration tests covering auth flow in tests/test_auth_flow.py',
    'Documentation update in docs/authentication.md',
  ],
  success_criteria: [
    'All existing integration tests pass without modification',
    'New JWT tokens validate successfully with proper expiry',
    'Legacy token format accepted for 30 days grace period',
    'Zero user sessions invalidated during migration',
    'Authentication latency remains under 100ms p95',
  ],
  constraints: [
    'Do not modify src/auth/legacy.py - used by payment service',
    'Must use existing pyjwt library version 2.8.0 from requirements.txt',
    'No database schema changes allowed in this sprint',
    'Must maintain REST API backward compatibility',
  ],
  relevant_files: ['src/auth/handler.py', 'src/auth/tokens.py', 'src/auth/middleware.py', 'tests/test_auth.py', 'requirements.txt'],
  related_documentation: ['https://jwt.io/introduction', 'docs/oauth2-migration-guide.md', 'https://pyjwt.readthedocs.io/en/stable/'],
}

describe('the examples of [EN] 7', () => {
  it('finds nothing to say about the good one, and keeps it in the shape of [EN] 3.2', () => {
    const { cleaned, problems, warnings } = clean(GOOD)
    expect(problems).toEqual([])
    expect(warnings).toEqual([])
    expect(cleaned).toMatchObject({
      title: 'Implement JWT token authentication',
      instructions: 'Implement JWT token authentication',
      description: 'Implement JWT token authentication',
      priority: 'high',
      review: 'none',
    })
    expect(cleaned.context).toEqual({
      background_context: GOOD.background_context?.trim(),
      expected_deliverables: { items: GOOD.expected_deliverables, validation_added: timestamp },
      success_criteria: { criteria: GOOD.success_criteria, all_required: true },
      constraints: { rules: GOOD.constraints, enforcement_level: 'strict' },
      relevant_files: GOOD.relevant_files,
      related_documentation: GOOD.related_documentation,
      validation_performed: true,
      validation_timestamp: timestamp,
      validation_warnings: [],
    })
  })

  it('refuses the poor one, with everything that is wrong with it at once', () => {
    const poor = { description: 'Fix bug', expected_deliverables: ['Fix it', 'Test it'], success_criteria: ['It works'], constraints: ['Do it fast'] }
    const { problems, warnings } = clean(poor)
    expect(problems).toEqual([{ pointer: '/description', field: 'description', reason: 'Must be at least 10 characters', value: 'Fix bug' }])
    expect(warnings).toEqual(
      [
        ['expected_deliverables[0]', "Deliverable is very short: 'Fix it'. Consider being more specific."],
        ['expected_deliverables[1]', "Deliverable is very short: 'Test it'. Consider being more specific."],
        ['success_criteria[0]', "Criterion is very short: 'It works'. Consider being more specific."],
        ['success_criteria[0]', "Criterion may not be measurable: 'It works'. Consider adding quantifiable metrics."],
        ['constraints[0]', "Constraint should start with imperative: 'Do it fast'"],
      ].map(([field, message]) => ({ field, message, timestamp })),
    )
    const refusal = briefRefused(problems, warnings)
    expect(refusal).toMatchObject({ code: 'validation_failed', message: "Validation failed for 'description': Must be at least 10 characters" })
    expect(refusal.details).toEqual({ errors: problems, warnings })
  })

  it('takes the minimal one as it is, without a context', () => {
    const { cleaned, problems, warnings } = clean({ description: 'Fix authentication bug in login flow' })
    expect([problems, warnings, cleaned.context, cleaned.priority]).toEqual([[], [], null, 'normal'])
  })
})

describe('vague words', () => {
  it.each([
    [{ description: 'Fix the bug' }, "description: Description is vague: 'Fix the bug'. Say what to do, where, and how to tell that it is done."],
    [
      { title: 'Home page', instructions: 'make it better' },
      "instructions: Instructions are vague: 'make it better'. Say what to do, where, and how to tell that it is done.",
    ],
    [{ ...words, expected_deliverables: ['stuff and things'] }, "expected_deliverables[0]: Deliverable is vague: 'stuff and things'. Name what is handed in."],
    [
      { ...words, success_criteria: ['stuff and things'] },
      "success_criteria[0]: Criterion may not be measurable: 'stuff and things'. Consider adding quantifiable metrics.",
    ],
    [{ ...words, constraints: ['stuff and things'] }, "constraints[0]: Constraint should start with imperative: 'stuff and things'"],
  ])('are warned of: %j', (fields, warning) => {
    expect(clean(fields).warnings.map(({ field, message }) => `${field}: ${message}`)).toEqual([warning])
  })
})

describe('what a brief has to have', () => {
  it.each<[string, BriefFields, string[]]>([
    ['nothing', {}, ['/description Is required, or a title and instructions instead']],
    ['a title alone', { title: 'Title' }, ['/instructions Is required, or a description instead of title and instructions']],
    ['blank texts', { title: ' ', instructions: '\n' }, ['/title Must not be empty', '/instructions Must not be empty']],
    ['a blank description', { description: '\t \u00A0' }, ['/description Must be at least 10 characters']],
    ['an unknown priority', { ...words, priority: 'P4' }, ['/priority Must be one of low, normal, high, urgent']],
    ['an unknown review', { ...words, review: 'later' as 'none' }, ['/review Must be one of none, auto, manual']],
    [
      'text that cannot be stored',
      { title: 'a\0b', instructions: 'a\uD800' },
      ['/title Must not contain the character U+0000', '/instructions Must not contain lone surrogates'],
    ],
    ['a session of several lines', { ...words, parent_session_id: 'a\nb' }, ['/parent_session_id Must not contain control characters']],
    [
      'no guide and no task',
      { ...words, tsgs: ['Über'], depends_on: ['x'] },
      ['/tsgs/0 Must be the id of a troubleshooting guide', '/depends_on/0 Must be the id of a task, a UUID'],
    ],
    [
      'no JSON Schema',
      { ...words, required_outputs: ['a', { name: 'b', schema: { minLength: -1 } }] },
      ['/required_outputs/1/schema Is no JSON Schema: /minLength must be >= 0'],
    ],
    ['a name twice', { ...words, required_outputs: ['a', { name: ' a ' }] }, ['/required_outputs/1/name Is named a second time']],
    [
      'outputs without a name',
      { ...words, required_outputs: [' ', {} as { name: string }] },
      ['/required_outputs/0 Must not be empty', '/required_outputs/1/name Must not be empty', '/required_outputs/1/name Is named a second time'],
    ],
    [
      'an unknown level',
      { ...words, constraints: { rules: [], enforcement_level: 'soft' as 'strict' } },
      ['/constraints/enforcement_level Must be one of strict, advisory'],
    ],
  ])('refuses %s', (_, fields, expected) => {
    expect(problemsOf(fields)).toEqual(expected)
  })

  it.each([
    ['Low', 'low'],
    ['normal', 'normal'],
    [' HIGH ', 'high'],
    ['urgent', 'urgent'],
    ['p0', 'urgent'],
    [' P1 ', 'high'],
    ['P2', 'normal'],
    ['p3', 'low'],
  ])('takes the priority %j in any case, also by its former name', (priority, read) => {
    expect(clean({ ...words, priority }).cleaned.priority).toBe(read)
  })

  it('points into the list as it was sent, and quotes at most 100 characters', () => {
    const { problems } = clean({ ...words, success_criteria: { criteria: ['', 'Zero', 'Zero', '🎉'.repeat(201)] } })
    expect(problems).toEqual([
      {
        pointer: '/success_criteria/criteria/3',
        field: 'success_criteria[3]',
        reason: 'Each item must be at most 200 characters',
        value: `${'🎉'.repeat(100)}…`,
      },
    ])
  })
})

describe('limits', () => {
  const text = (length: number) => '🎉'.repeat(length)
  const items = (count: number, length = 12) => Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'x'))
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `0190a000-0000-7000-8000-${`${index}`.padStart(12, '0')}`)

  // Each limit, with a brief that has as much as it may, and what one more of it is answered with.
  it.each<[string, (size: number) => BriefFields, number, string]>([
    ['title', (size) => ({ ...words, title: text(size) }), 256, 'Must be at most 256 characters'],
    ['instructions', (size) => ({ ...words, instructions: text(size) }), 100_000, 'Must be at most 100000 characters'],
    ['description', (size) => ({ description: text(size) }), 500, 'Must be at most 500 characters'],
    ['background_context', (size) => ({ ...words, background_context: text(size) }), 5_000, 'Must be at most 5000 characters'],
    ['acceptance_criteria', (size) => ({ ...words, acceptance_criteria: items(size) }), 50, 'Maximum 50 items allowed'],
    ['acceptance_criteria[0]', (size) => ({ ...words, acceptance_criteria: [{ text: text(size) }] }), 2_000, 'Each item must be at most 2000 characters'],
    ['required_outputs', (size) => ({ ...words, required_outputs: items(size) }), 50, 'Maximum 50 items allowed'],
    ['required_outputs[0]', (size) => ({ ...words, required_outputs: [text(size)] }), 128, 'Must be at most 128 characters'],
    ['expected_deliverables', (size) => ({ ...words, expected_deliverables: items(size) }), 20, 'Maximum 20 items allowed'],
    ['expected_deliverables[0]', (size) => ({ ...words, expected_deliverables: [text(size)] }), 200, 'Each item must be at most 200 characters'],
    ['success_criteria', (size) => ({ ...words, success_criteria: items(size) }), 15, 'Maximum 15 items allowed'],
    ['success_criteria[0]', (size) => ({ ...words, success_criteria: [text(size)] }), 200, 'Each item must be at most 200 characters'],
    ['constraints', (size) => ({ ...words, constraints: items(size) }), 15, 'Maximum 15 items allowed'],
    ['constraints[0]', (size) => ({ ...words, constraints: [text(size)] }), 200, 'Each item must be at most 200 characters'],
    ['relevant_files', (size) => ({ ...words, relevant_files: items(size) }), 50, 'Maximum 50 items allowed'],
    ['related_documentation', (size) => ({ ...words, related_documentation: items(size) }), 20, 'Maximum 20 items allowed'],
    ['depends_on', (size) => ({ ...words, depends_on: ids(size) }), 50, 'Maximum 50 items allowed'],
    ['tsgs', (size) => ({ ...words, tsgs: items(size) }), 50, 'Maximum 50 items allowed'],
    ['parent_session_id', (size) => ({ ...words, parent_session_id: text(size) }), 128, 'Must be at most 128 characters'],
    ['metadata', (size) => ({ ...words, metadata: { a: 'x'.repeat(size - 8) } }), 16_384, 'Must be at most 16 KiB as JSON, and is 16385 bytes'],
  ])('%s', (field, briefOf, max, reason) => {
    expect(clean(briefOf(max)).problems).toEqual([])
    expect(clean(briefOf(max + 1)).problems).toMatchObject([{ field, reason }])
  })

  it('count after trimming, and after blanks and repetitions are gone', () => {
    const padded = [...items(20), ...items(20).map((item) => `  ${item}\n`), '', ' \t']
    expect(clean({ description: ` ${text(500)}\n`, expected_deliverables: padded }).problems).toEqual([])
    expect(clean({ description: ` ${text(9)} ` }).problems).toMatchObject([{ reason: 'Must be at least 10 characters' }])
    expect(clean({ description: text(10) }).problems).toEqual([])
  })

  it('bound the answer: of a list that is too long only so much is looked at', () => {
    const { problems, warnings } = clean({ ...words, success_criteria: items(10_000, 300), constraints: items(10_000, 5) })
    expect(problems.length).toBe(2 + BRIEF_LIMITS.successCriteria)
    expect(warnings.length).toBe(2 * BRIEF_LIMITS.constraints)
  })
})

describe('advice', () => {
  it('begins where the documents say: items of less than 10 characters, backgrounds of less than 50', () => {
    const fields = (short: number, long: number): BriefFields => ({
      ...words,
      background_context: 'x'.repeat(long),
      expected_deliverables: ['x'.repeat(short)],
      success_criteria: [`${'x'.repeat(short - 5)} pass`],
      constraints: [`No ${'x'.repeat(short - 3)}`],
    })
    expect(warningsOf(fields(10, 50))).toEqual([])
    expect(warningsOf(fields(9, 49)).map((warning) => warning.replace(/: .*/, ''))).toEqual([
      'background_context',
      'expected_deliverables[0]',
      'success_criteria[0]',
      'constraints[0]',
    ])
    expect(warningsOf(fields(9, 49))[0]).toBe('background_context: Background context is very short (<50 chars). Consider adding more detail.')
  })

  it('is numbered as the list that is kept', () => {
    expect(warningsOf({ ...words, constraints: ['', 'Never do that again', 'Never do that again', 'Be reasonably quick'] })).toEqual([
      "constraints[1]: Constraint should start with imperative: 'Be reasonably quick'",
    ])
  })

  it('is part of the context, as messages, with what a look at the disk adds', () => {
    const { cleaned, warnings } = clean({ ...words, constraints: ['Be reasonably quick'] })
    const late = { field: 'relevant_files', message: 'late', timestamp }
    expect(cleaned.context?.validation_warnings).toEqual(warnings.map(({ message }) => message))
    expect(withWarnings(cleaned, [late]).context?.validation_warnings).toEqual([warnings[0]?.message, 'late'])
    expect(withWarnings(clean(words).cleaned, [late]).context).toBeNull()
  })

  it('is given on addresses by their form alone', () => {
    expect(warningsOf({ ...words, related_documentation: ['https://a.example/b c', 'http://', 'ftp://a.example', 'HTTPS://a.example', 'docs/a.md'] })).toEqual([
      "related_documentation: URL contains spaces: 'https://a.example/b c'",
      "related_documentation: URL is malformed: 'http://'",
      "related_documentation: URL is not http or https: 'ftp://a.example'",
    ])
  })
})

describe('lists that may be objects', () => {
  it('say of the whole whether it is required', () => {
    const lists: BriefFields = { ...words, acceptance_criteria: ['Is there'], success_criteria: ['All tests pass'], constraints: ['Never do that again'] }
    const objects: BriefFields = {
      ...words,
      acceptance_criteria: ['Is there'],
      success_criteria: { criteria: ['All tests pass'], all_required: false },
      constraints: { rules: ['Never do that again'], enforcement_level: 'advisory' },
    }
    const required = (fields: BriefFields) => clean(fields).cleaned.criteria.map(({ source, required }) => [source, required])
    expect(required(lists)).toEqual([
      ['acceptance', true],
      ['success', true],
      ['constraint', true],
    ])
    expect(required(objects)).toEqual([
      ['acceptance', true],
      ['success', false],
      ['constraint', false],
    ])
    expect(clean(objects).cleaned.context).toMatchObject({ success_criteria: { all_required: false }, constraints: { enforcement_level: 'advisory' } })
  })

  it('count as absent when they are empty', () => {
    const empty: BriefFields = {
      ...words,
      success_criteria: { criteria: [] },
      constraints: { rules: [' '] },
      expected_deliverables: [],
      background_context: ' ',
    }
    expect(clean(empty).cleaned).toMatchObject({ context: null, criteria: [] })
  })

  it('keep the ids that come with criteria, the first time each is named', () => {
    const given = [' a ', { id: '1', text: 'b' }, 'b', { id: '2', text: 'a' }]
    expect(clean({ ...words, acceptance_criteria: given }).cleaned.criteria).toMatchObject([
      { id: '2', text: 'a' },
      { id: '1', text: 'b' },
    ])
  })

  it('keep required outputs with what they mean', () => {
    const schema = { type: 'array' }
    expect(clean({ ...words, required_outputs: ['report', { name: 'files', description: ' All ', schema }] }).cleaned.requiredOutputs).toEqual([
      { name: 'report', description: null, schema: null },
      { name: 'files', description: 'All', schema },
    ])
  })
})

describe('titles made of descriptions', () => {
  it.each([
    ['Fix it now\nand well', 'Fix it now'],
    ['\n  Fix it now \r\n', 'Fix it now'],
    [`${'a'.repeat(250)} bcdefg`, 'a'.repeat(250)],
    [`${'a'.repeat(250)} bcdef g`, `${'a'.repeat(250)} bcdef`],
    ['🎉'.repeat(300), '🎉'.repeat(256)],
  ])('%#', (description, title) => {
    expect(titleOf(description)).toBe(title)
  })

  it('are taken only where there is no other', () => {
    const { cleaned } = clean({ title: 'Mine', description: 'First line\nof several' })
    expect(cleaned).toMatchObject({ title: 'Mine', instructions: 'First line\nof several', description: 'First line\nof several' })
  })
})

const list = fc.array(fc.oneof(anyText, fc.constantFrom('', ' ', 'Never again, please', 'All tests pass')), { maxLength: 8 })
const brief: fc.Arbitrary<BriefFields> = fc.record(
  {
    title: anyText,
    instructions: anyText,
    description: anyText,
    priority: fc.constantFrom('p1', 'P9'),
    acceptance_criteria: list,
    background_context: anyText,
    expected_deliverables: list,
    success_criteria: fc.oneof(list, fc.record({ criteria: list, all_required: fc.boolean() })),
    constraints: fc.oneof(list, fc.record({ rules: list, enforcement_level: fc.constantFrom('strict' as const, 'advisory' as const) })),
    relevant_files: list,
    related_documentation: list,
    client_cwd: anyText,
    metadata: fc.dictionary(anyText, anyText, { maxKeys: 3 }),
  },
  { requiredKeys: [] },
)

describe('cleaning', () => {
  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(brief, (fields) => {
        const once = clean({ ...words, ...fields })
        const twice = clean(toBriefFields(once.cleaned))
        expect(twice.cleaned).toEqual(once.cleaned)
        expect(twice.warnings).toEqual(once.warnings)
      }),
      { numRuns: 60 },
    )
  })

  it('keeps the order, and every character that is not at the edge', () => {
    fc.assert(
      fc.property(list, (items) => {
        const { cleaned } = clean({ ...words, expected_deliverables: items, acceptance_criteria: items })
        const expected = [...new Set(items.map((item) => item.trim()).filter((item) => item !== ''))]
        expect(cleaned.context?.expected_deliverables?.items ?? []).toEqual(expected)
        expect(cleaned.criteria.map(({ text }) => text)).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  it('never throws, whatever it is given', () => {
    const junk = fc.record(Object.fromEntries(Object.keys({ ...GOOD, ...toBriefFields(clean(words).cleaned) }).map((field) => [field, fc.anything()])))
    fc.assert(
      fc.property(fc.oneof(junk, fc.anything()), (fields) => {
        const { problems } = clean(fields as BriefFields)
        for (const problem of problems) expect(JSON.stringify(problem.value ?? null).length).toBeLessThan(1_000)
      }),
      { numRuns: 60 },
    )
    let deep: Record<string, unknown> = {}
    for (let depth = 0; depth < 20_000; depth += 1) deep = { deep }
    expect(problemsOf({ ...words, metadata: deep, required_outputs: [{ name: 'a', schema: deep }] })).toHaveLength(2)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTsgMarkdown, renderTsgMarkdown, TSG_MATCHES, TSG_SEVERITIES } from './tsg.ts'

const GUIDE = {
  tsgId: 'port-in-use',
  title: 'The port is in use',
  content: '## What to do\n\nFind out who has it: `ss -ltnp`.',
  patterns: ['EADDRINUSE', 'address already in use'],
  match: 'substring' as const,
  applicability: { technologies: ['node'] },
  severity: 'high' as const,
}

describe('a guide as Markdown', () => {
  it('is front matter that people read and write, then its content', () => {
    expect(renderTsgMarkdown(GUIDE)).toBe(`---
tsg_id: port-in-use
title: The port is in use
severity: high
match: substring
patterns:
  - EADDRINUSE
  - address already in use
applicability:
  technologies:
    - node
---

## What to do

Find out who has it: \`ss -ltnp\`.
`)
  })

  it('reads back as what it was, whatever it says', () => {
    // As it is stored: trimmed, and nothing that PostgreSQL cannot keep.
    const unit = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...'- \n\r\t:#"\'|>&*!%@`\\{}[],?~=\u0085\u2028\uFEFF\u0001') },
      fc.string({ unit: 'binary', maxLength: 2 }),
    )
    const stored = fc
      .array(unit, { minLength: 1, maxLength: 12 })
      .map((units) => units.join('').toWellFormed().replaceAll('\0', '').trim())
      .filter((text) => text !== '')
    const guides = fc.record({
      tsgId: fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}$/),
      title: fc.oneof(stored, fc.constantFrom('null', 'yes', '1e3', '~', '---', '...', '- a', 'a: b', '0x1f', '.nan', '2026-01-01', '<<')),
      content: fc.oneof(stored, fc.constantFrom('---', '---\nx: y\n---\nz')),
      patterns: fc.array(stored, { minLength: 1, maxLength: 4 }),
      match: fc.constantFrom(...TSG_MATCHES),
      applicability: fc.record({ technologies: fc.array(stored, { minLength: 1, maxLength: 3 }) }),
      severity: fc.constantFrom(...TSG_SEVERITIES),
    })
    fc.assert(
      fc.property(guides, (guide) => {
        const parsed = parseTsgMarkdown(renderTsgMarkdown(guide))
        if ('problem' in parsed) expect.fail(parsed.problem)
        const { content, ...fields } = parsed.fields
        const { tsgId, content: expected, ...rest } = guide
        expect(fields).toEqual({ tsg_id: tsgId, ...rest })
        expect((content as string).trim()).toBe(expected)
      }),
    )
  })

  it('reads what comes from an editor that ends lines with CR LF', () => {
    expect(parseTsgMarkdown('---\r\ntitle: A title\r\npatterns: [a, b]\r\n---\r\n\r\nText.\r\n')).toEqual({
      fields: { title: 'A title', patterns: ['a', 'b'], content: '\r\nText.\r\n' },
    })
  })

  it.each([
    ['', 'must begin with front matter'],
    ['# A title', 'must begin with front matter'],
    ['---\ntitle: x', 'must begin with front matter'],
    ['---\n---\ntext', 'must name its fields'],
    ['---\n- a\n---\ntext', 'must name its fields'],
    ['---\ntitle: [\n---\ntext', 'is not YAML'],
    ['---\ntitle: a\ntitle: b\n---\ntext', 'is not YAML'],
    ['---\ncontent: a\n---\ntext', 'must not have content in its front matter'],
    ['---\na: &a [x]\nb: *a\n---\ntext', 'cannot be read'],
    [`---\na: ${'x'.repeat(262_144)}\n---\ntext`, 'more than 262144 characters'],
    [`---\na: ${'['.repeat(20_000)}\n---\ntext`, 'front matter that'],
  ])('of %#: what is wrong is said', (text, problem) => {
    expect(parseTsgMarkdown(text)).toEqual({ problem: expect.stringContaining(problem) })
  })

  it('has no way to its prototype', () => {
    const parsed = parseTsgMarkdown('---\n__proto__: {polluted: true}\ntitle: x\n---\ntext')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect(parsed).toMatchObject({ fields: { title: 'x' } })
  })
})

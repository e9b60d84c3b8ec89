import { describe, expect, it } from 'vitest'
import { readMarkdownBrief } from './brief-file.ts'

describe('a brief in Markdown', () => {
  it('has its title, instructions, criteria and outputs in their fields', () => {
    const text = [
      '# Port the parser',
      '',
      'Port `src/a.c`.',
      '```sh',
      '# no heading',
      '```',
      '## Acceptance criteria',
      '- [ ] All tests pass',
      '  on Linux',
      '* It is documented',
      '',
      '## Required outputs',
      '1. `report`: what was done',
      '2. patch',
      '',
      '## Notes',
      'Ask Ada.',
    ].join('\r\n')
    expect(readMarkdownBrief(text)).toEqual({
      title: 'Port the parser',
      instructions: 'Port `src/a.c`.\n```sh\n# no heading\n```\n## Notes\nAsk Ada.',
      acceptance_criteria: ['All tests pass on Linux', 'It is documented'],
      required_outputs: [{ name: 'report', description: 'what was done' }, 'patch'],
    })
  })

  it('may be one line, a heading alone, or begin with a line that is too long for a title', () => {
    const long = 'Port it. '.repeat(40).trim()
    expect(readMarkdownBrief('Port the parser.\n')).toEqual({ description: 'Port the parser.' })
    expect(readMarkdownBrief('# Port the parser')).toEqual({ title: 'Port the parser', instructions: 'Port the parser' })
    const { title, instructions } = readMarkdownBrief(`${long}\nAll of it.`)
    expect([title?.length, instructions]).toEqual([256, `${long}\nAll of it.`])
  })
})

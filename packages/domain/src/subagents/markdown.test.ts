import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BUILTIN_SUBAGENTS } from './builtin-subagents.ts'
import { parseSubagentMarkdown, renderSubagentMarkdown } from './markdown.ts'
import { requireDefinition, SUBAGENT_LIMITS, type SubagentDefinition } from './subagent.ts'

const named = (text: string) => parseSubagentMarkdown(text, { name: 'one' })

/** The lines of what is wrong, each with its field and the beginning of its reason. */
function problemsOf(text: string, severity: 'error' | 'warning'): string[] {
  return named(text)
    .problems.filter((problem) => problem.severity === severity)
    .map(({ line, field, reason }) => `${line} ${field} ${reason}`)
}

function definitionOf(text: string): SubagentDefinition {
  const { definition, problems } = named(text)
  if (definition === null) expect.fail(JSON.stringify(problems))
  return definition
}

const SECTIONS = `# One

## Role
Looks after one thing.
And after nothing else.

## Model
haiku

## Allowed Tools
- mcp__graph__look
- Read

## Protocol
1. Look.

## Thresholds
| a | b |
|---|---|

## Output Format
A sentence.
`

describe('a definition in sections', () => {
  it('says what it is for, its model and its tools, and is the instructions as a whole', () => {
    expect(named(SECTIONS)).toEqual({
      name: 'one',
      callbackSecret: undefined,
      definition: {
        name: 'one',
        title: null,
        description: 'Looks after one thing.\nAnd after nothing else.',
        model: 'haiku',
        tools: ['mcp__graph__look', 'Read'],
        disallowedTools: [],
        instructions: SECTIONS.trim(),
        definitionPath: null,
        version: 1,
        source: 'api',
        targetLatencyMs: null,
        maxTurns: null,
        background: false,
        mcpServers: [],
        skills: [],
        unknownKeys: [],
        unknownValues: {},
      },
      problems: [],
    })
  })

  const role = (rest: string) => `## Role\nr\n\n## Allowed Tools\n- Read\n${rest}`

  it.each<[string, string, Partial<SubagentDefinition>]>([
    ['lines that end with CR LF', SECTIONS.replaceAll('\n', '\r\n'), { model: 'haiku', tools: ['mcp__graph__look', 'Read'], instructions: SECTIONS.trim() }],
    ['lines that end with CR', SECTIONS.replaceAll('\n', '\r'), { model: 'haiku', instructions: SECTIONS.trim() }],
    ['a byte order mark', `\uFEFF${SECTIONS}`, { model: 'haiku', instructions: SECTIONS.trim() }],
    ['tabs', '##\tRole\n\tr\n##\tModel\n\tOpus\t\n##\tAllowed\tTools\n-\tRead\n\t-\tGrep\t', { description: 'r', model: 'opus', tools: ['Read', 'Grep'] }],
    [
      'headings in another case, closed or with a colon',
      '## ROLE:\nr\n## model ##\nhaiku\n## Allowed  tools: ##\n- Read',
      { description: 'r', model: 'haiku', tools: ['Read'] },
    ],
    ['headings that are indented', '   ## Role\nr\n   ## Allowed Tools\n- Read', { description: 'r', tools: ['Read'] }],
    ['no last line end', '## Allowed Tools\n- Read\n## Role\nr', { description: 'r', tools: ['Read'] }],
    ['no model', role(''), { model: 'sonnet' }],
    ['no name of a model', role('## Model\n\n## Protocol\n1. x'), { model: 'sonnet' }],
    ['an alias in another case', role('## Model\nSonnet'), { model: 'sonnet' }],
    ['a model of a provider', role('## Model\n`claude-haiku-4-5`\n\nBecause it is quick.'), { model: 'claude-haiku-4-5' }],
    ['a model as an entry of a list', role('## Model\n- **opus**'), { model: 'opus' }],
    ['tools between backticks', '## Role\nr\n## Allowed Tools\n* `Read`\n+ `Bash(git:*)`\n1. `Grep`', { tools: ['Read', 'Bash(git:*)', 'Grep'] }],
    ['tools in one line', '## Role\nr\n## Allowed Tools\nRead, Grep, Bash(git log:*, git diff:*)', { tools: ['Read', 'Grep', 'Bash(git log:*, git diff:*)'] }],
    ['a tool twice', '## Role\nr\n## Allowed Tools\n- Read\n- Read', { tools: ['Read'] }],
    ['all tools', '## Role\nr\n## Allowed Tools\n- *', { tools: ['*'] }],
    ['tools in a code fence', '## Role\nr\n## Allowed Tools\n```\nRead\nGrep\n```', { tools: ['Read', 'Grep'] }],
    ['tools in two parts', '## Role\nr\n## Allowed Tools\n### Reading\n- Read\n### Writing\n- Write', { tools: ['Read', 'Write'] }],
    ['no tools', '## Role\nr', { tools: [] }],
    ['a heading in a code fence', role('## Protocol\n```\n## Allowed Tools\n- Write\n```\n'), { tools: ['Read'] }],
    ['a heading of the first level that ends a section', '## Role\nr\n# Next\nnot the role\n## Allowed Tools\n- Read', { description: 'r' }],
    ['a section that means nothing, twice', role('## Notes\na\n## Notes\nb\n##\n##\n'), { tools: ['Read'] }],
    ['tools that are denied', role('## Disallowed Tools\n- Write\n- Edit'), { disallowedTools: ['Write', 'Edit'] }],
    ['a target latency', role('## Target Latency\n<500ms'), { targetLatencyMs: 500 }],
    ['a target latency in seconds', role('## Target Latency\n≤ 1.5 s'), { targetLatencyMs: 1500 }],
    ['a target latency without a unit', role('## Target Latency\n\n250\n'), { targetLatencyMs: 250 }],
    ['no target latency', role('## Target Latency\n-'), { targetLatencyMs: null }],
    ['front matter in its middle', role('## Protocol\n---\nname: other\n---\n'), { name: 'one' }],
  ])('%s', (_, text, expected) => {
    expect(definitionOf(text)).toMatchObject(expected)
  })
})

const YAML = `---
name: one
description: Looks after one thing.
tools: Read, Grep
disallowedTools: Write
model: haiku
maxTurns: 5
background: true
mcpServers:
  - github
skills: [a, b]
color: blue
hooks:
  Stop:
    - command: say done
target_latency_ms: 500
---

You look.

## Role
Not read.
`

describe('a definition with front matter', () => {
  it('says everything there, keeps the keys that mean nothing, and is told what follows', () => {
    const { definition, problems } = parseSubagentMarkdown(YAML, { path: '/agents/one.md', version: 3 })
    expect(definition).toEqual({
      name: 'one',
      title: null,
      description: 'Looks after one thing.',
      model: 'haiku',
      tools: ['Read', 'Grep'],
      disallowedTools: ['Write'],
      instructions: 'You look.\n\n## Role\nNot read.',
      definitionPath: '/agents/one.md',
      version: 3,
      source: 'file',
      targetLatencyMs: 500,
      maxTurns: 5,
      background: true,
      mcpServers: ['github'],
      skills: ['a', 'b'],
      unknownKeys: ['color', 'hooks'],
      unknownValues: { color: 'blue', hooks: { Stop: [{ command: 'say done' }] } },
    })
    expect(problems.map(({ line, severity, pointer }) => [line, severity, pointer])).toEqual([
      [12, 'warning', '/unknown_keys'],
      [13, 'warning', '/unknown_keys'],
    ])
  })

  const front = (lines: string, body = 'b') => `---\ndescription: d\n${lines}\n---\n${body}`

  it.each<[string, string, Partial<SubagentDefinition>]>([
    ['lines that end with CR LF', YAML.replaceAll('\n', '\r\n'), { tools: ['Read', 'Grep'], instructions: 'You look.\n\n## Role\nNot read.' }],
    ['a byte order mark', `\uFEFF${YAML}`, { name: 'one', model: 'haiku' }],
    ['blanks behind its delimiters', '---  \ndescription: d\n---\t\nb', { description: 'd', instructions: 'b' }],
    ['no tools: everything, as in Claude Code', front('model: opus'), { tools: ['*'] }],
    ['an empty list of tools: nothing', front('tools: []'), { tools: [] }],
    ['tools without a value: nothing', front('tools:'), { tools: [] }],
    ['tools that are an empty text: nothing', front('tools: ""'), { tools: [] }],
    ['a list of YAML', front('tools:\n  - Read\n  - Bash(git:*)\n  - mcp__a__b'), { tools: ['Read', 'Bash(git:*)', 'mcp__a__b'] }],
    ['a list of YAML in a line', front('tools: [Read, Grep]'), { tools: ['Read', 'Grep'] }],
    ['a list with commas inside of an entry', front('tools:\n  - Read, Grep\n  - Glob'), { tools: ['Read', 'Grep', 'Glob'] }],
    ['a list with blanks', front('tools: Read Grep  Bash(git log:*)'), { tools: ['Read', 'Grep', 'Bash(git log:*)'] }],
    ['commas too many', front('tools: ",Read,, Grep,"'), { tools: ['Read', 'Grep'] }],
    ['a whole server', front('tools: mcp__github, mcp__linear__*'), { tools: ['mcp__github', 'mcp__linear__*'] }],
    ['all tools without quotes', front('tools: *'), { tools: ['*'] }],
    ['all tools with quotes', front('tools: "*"'), { tools: ['*'] }],
    ['uses that ask', front('ask: Bash(git push:*), mcp__*__delete_*'), { ask: ['Bash(git push:*)', 'mcp__*__delete_*'], unknownKeys: [] }],
    ['keys with dashes', front('disallowed-tools: Write\nmax-turns: 3'), { disallowedTools: ['Write'], maxTurns: 3, unknownKeys: [] }],
    [
      'keys as the API has them',
      front('disallowed_tools: [Write]\nmcp_servers: a\nmax_turns: "4"'),
      { disallowedTools: ['Write'], mcpServers: ['a'], maxTurns: 4 },
    ],
    ['tools as skills call them', front('allowed-tools: Read'), { tools: ['Read'] }],
    ['no model', front('tools: Read'), { model: 'sonnet' }],
    ['a model that is null', front('model: ~'), { model: 'sonnet' }],
    ['inherit', front('model: inherit'), { model: 'inherit' }],
    ['a description over several lines', '---\ndescription: >-\n  one\n  two\n---\nb', { description: 'one two' }],
    ['a description with colons and no quotes', "---\ndescription: Use when: it's late\n---\nb", { description: "Use when: it's late" }],
    ['a value that is true as a text', front('background: "true"'), { background: true }],
    ['servers that are set up in place', front('mcpServers:\n  - a: {command: sh}\n  - b'), { mcpServers: ['a', 'b'] }],
    ['a map of servers', front('mcpServers:\n  a: {command: sh}\n  b: {}'), { mcpServers: ['a', 'b'] }],
    ['a latency as a text', front('targetLatency: "<500ms"'), { targetLatencyMs: 500 }],
    ['--- in its body', front('model: opus', 'a\n---\nb'), { instructions: 'a\n---\nb' }],
    ['no body', front('model: opus', ''), { instructions: '' }],
    ['## Allowed Tools in its body beside its own', front('tools: Read', '## Allowed Tools\n- Write'), { tools: ['Read'] }],
    ['values that JSON does not have', front('a: .nan\nb: -.inf\nc: 0x10'), { unknownValues: { a: null, b: null, c: 16 } }],
    ['a date', front('created: 2026-01-01'), { unknownValues: { created: '2026-01-01' } }],
    ['a tool that nobody knows', front('tools: Telepathy'), { tools: ['Telepathy'] }],
  ])('%s', (_, text, expected) => {
    expect(definitionOf(text)).toMatchObject(expected)
  })

  it('has no way to a prototype', () => {
    const { unknownKeys, unknownValues } = definitionOf(front('__proto__: {polluted: true}\nconstructor: x'))
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect([unknownKeys, Object.getPrototypeOf(unknownValues), Object.keys(unknownValues)]).toEqual([
      ['__proto__', 'constructor'],
      Object.prototype,
      ['__proto__', 'constructor'],
    ])
  })
})

describe('what is wrong is said, with its line and what to do', () => {
  it.each<[string, string, string[]]>([
    ['nothing at all', '', ['1 description is missing: say what the sub-agent is for in a section `## Role`']],
    ['neither front matter nor sections', 'You are a reviewer.', ['1 description is missing']],
    ['an empty role', '# x\n\n## Role\n\n## Model\nhaiku', ['3 description is empty']],
    [
      'front matter that is not closed',
      '---\nname: one\ndescription: d\n',
      ['1 definition has front matter that does not end: close it with a line that is ---'],
    ],
    ['front matter further down', '\n\n---\nname: one\n---\n', ['1 description is missing: front matter must begin in the first line']],
    ['nothing in the front matter', '---\n---\nb', ['1 definition must name its fields']],
    ['a list as front matter', '---\n- a\n---\nb', ['1 definition must name its fields']],
    ['front matter that is not YAML', '---\nname: one\ndescription: [a\n---\nb', ['4 definition has front matter that is not YAML']],
    ['a key twice', '---\ndescription: a\ndescription: b\n---\nb', ['3 definition has front matter that is not YAML: Map keys must be unique']],
    ['a key in two spellings', '---\ndescription: d\nmaxTurns: 1\nmax_turns: 2\n---\nb', ['4 max_turns is said twice, by "maxTurns" and "max_turns"']],
    ['tabs for indentation', '---\ndescription: d\ntools:\n\t- Read\n---\nb', ['4 definition has front matter that is not YAML']],
    ['aliases', '---\na: &a [x]\ndescription: [*a]\n---\nb', ['1 definition has front matter that cannot be read']],
    ['no description', '---\nname: one\n---\nb', ['1 description is missing: say what the sub-agent is for, as `description: …`']],
    ['an empty description', '---\nname: one\ndescription: " "\n---\nb', ['3 description is missing']],
    ['a description that is a list', '---\nname: one\ndescription:\n  - a\n---\nb', ['3 description must be text: write description: "…"']],
    ['a description that is too long', `---\ndescription: ${'x'.repeat(10_001)}\n---\nb`, ['2 description must be at most 10000 characters']],
    ['a name that is a number', '---\nname: 1\ndescription: d\n---\nb', ['2 name must be text']],
    ['another name than that of its address', '---\ndescription: d\nname: two\n---\nb', ['3 name is "two", but must be one, like its address, or absent']],
    ['a name without a letter', '---\nname: "…"\ndescription: d\n---\nb', ['2 name is "…": must have a letter or a digit']],
    ['a model of two words', '## Role\nr\n\n## Model\n\nsonnet or opus', ['6 model is "sonnet or opus": must be haiku, sonnet, opus, inherit or the name']],
    ['a model that is a number', '---\ndescription: d\nmodel: 4\n---\nb', ['3 model must be text']],
    ['two models', '## Role\nr\n## Model\nhaiku\n## Model\nopus', ['5 model is said twice, by ## sections in the lines 3 and 5: keep one']],
    ['two roles', '## Role\nr\n## Role\ns', ['3 description is said twice']],
    ['two lists of tools', '## Role\nr\n## Allowed Tools\n- Read\n## allowed tools\n- Write', ['5 tools is said twice']],
    [
      'prose among the tools',
      '## Role\nr\n## Allowed Tools\nOnly these:\n- Read',
      ['4 tools.0 is "Only these:", which names no tool: name one an entry, such as Read'],
    ],
    ['a remark behind a tool', '## Role\nr\n## Allowed Tools\n- Read\n- Grep (sparingly', ['5 tools.1 is "Grep (sparingly", which names no tool']],
    ['a star in the middle', '---\ndescription: d\ntools:\n  - Read\n  - mcp__*__x\n---\nb', ['5 tools.1 is "mcp__*__x"']],
    ['tools that are a map', '---\ndescription: d\ntools:\n  Read: true\n---\nb', ['3 tools must be a list of names, as `tools: A, B`']],
    ['tools that are numbers', '---\ndescription: d\ntools:\n  - Read\n  - 7\n---\nb', ['5 tools must be a list of names']],
    [
      'too many tools',
      `---\ndescription: d\ntools: ${Array.from({ length: 201 }, (_, at) => `mcp__a__${at}`).join(',')}\n---\nb`,
      ['3 tools must name at most 200'],
    ],
    ['tools in the body alone', '---\ndescription: d\n---\n\n## Allowed Tools\n- Read', ['5 tools must be named in the front matter, as `tools: Read, Grep`']],
    ['turns that are none', '---\ndescription: d\nmaxTurns: 0\n---\nb', ['3 max_turns must be a whole number from 1 to 10000']],
    ['turns that are half', '---\ndescription: d\nmaxTurns: 1.5\n---\nb', ['3 max_turns must be a whole number']],
    ['a background that is neither', '---\ndescription: d\nbackground: maybe\n---\nb', ['3 background must be true or false']],
    ['a server that is a path', '---\ndescription: d\nmcpServers: [../x]\n---\nb', ['3 mcp_servers must be names of MCP servers, which "../x" is not']],
    ['skills that are maps', '---\ndescription: d\nskills:\n  - a: b\n---\nb', ['4 skills must be a list of names, as `skills: A, B`']],
    ['a latency in words', '## Role\nr\n## Target Latency\nquick', ['4 target_latency_ms is "quick": must be milliseconds from 1 to 600000']],
    ['a latency of nothing', '---\ndescription: d\ntarget_latency_ms: 0\n---\nb', ['3 target_latency_ms is "0"']],
    ['a latency of an hour', '---\ndescription: d\ntargetLatency: 3600s\n---\nb', ['3 target_latency_ms is "3600s"']],
    ['a latency that is a list', '---\ndescription: d\ntargetLatency: [1]\n---\nb', ['3 target_latency_ms is "[1]"']],
    ['too many keys', `---\ndescription: d\n${Array.from({ length: 51 }, (_, at) => `k${at}: v`).join('\n')}\n---\nb`, ['53 unknown_keys must be at most 50']],
    [
      'a value that is nested too deeply',
      `---\ndescription: d\nx: ${'['.repeat(18)}${']'.repeat(18)}\n---\nb`,
      ['3 unknown_keys have "x", which is nested too deeply'],
    ],
    ['U+0000', '## Role\n\0', ['2 definition must not contain the character U+0000']],
    ['a lone surrogate', '## Role\nr\n\n\uD800', ['4 definition must not contain lone surrogates']],
    ['U+0000 by way of YAML', '---\ndescription: "a\\0b"\n---\nb', ['1 definition has a value that must not contain the character U+0000']],
  ])('%s', (_, text, expected) => {
    expect(named(text).definition).toBeNull()
    expect(problemsOf(text, 'error')).toEqual(expected.map((begin) => expect.stringContaining(begin)))
  })

  it('says all of it at once, by line', () => {
    expect(problemsOf('---\nname: two\nmodel: a b\ntools: Read\nmaxTurns: x\n---\nb', 'error').map((each) => each.split(' ').slice(0, 2))).toEqual([
      ['1', 'description'],
      ['2', 'name'],
      ['3', 'model'],
      ['5', 'max_turns'],
    ])
  })

  it.each<[string, string, string[]]>([
    ['a tool that nobody knows', '## Role\nr\n## Allowed Tools\n- Read\n- Telepathy', ['5 tools.1 is "Telepathy", which is unknown; it is kept']],
    ['a tool in the wrong case', '---\ndescription: d\ntools: bash\n---\nb', ['3 tools.0 is "bash", which is unknown: did you mean Bash?']],
    [
      'a tool of MCP for some of its uses',
      '---\ndescription: d\ntools: mcp__a__b(c)\n---\nb',
      ['3 tools.0 is "mcp__a__b(c)": rules for MCP tools cannot have parentheses'],
    ],
    ['no tools in sections', '## Role\nr', ['1 tools name none, so none is allowed: list them in a section `## Allowed Tools`, or `- *` for all']],
    ['no tools in front matter', '---\ndescription: d\ntools:\n---\nb', ['3 tools name none, so none is allowed: leave the key out to allow all']],
    ['a model left open', '## Role\nr\n## Allowed Tools\n- Read\n## Model\n', ['5 model is empty, so it is sonnet']],
    ['no instructions', '---\ndescription: d\n---\n', ['1 instructions are empty: write the instructions of the sub-agent after the front matter']],
    ['a key that means nothing', '---\ndescription: d\ncolour: red\n---\nb', ['3 unknown_keys have "colour", which means nothing here and is kept']],
    ['a value without quotes', '---\nname: one\ndescription: a: b\n---\nb', ['3 definition has a value that should stand between quotes']],
    ['servers in place', '---\ndescription: d\nmcpServers:\n  a: {}\n---\nb', ['3 mcp_servers are taken by their names alone: the operator sets them up']],
    ['a long role', `## Role\n${'x '.repeat(8_000)}\n## Allowed Tools\n- Read`, ['2 description is cut to 10000 characters; the instructions have all of it']],
  ])('and of %s it is warned', (_, text, expected) => {
    expect(named(text).definition).not.toBeNull()
    expect(problemsOf(text, 'warning')).toEqual(expected.map((begin) => expect.stringContaining(begin)))
  })

  it('becomes the errors of a refusal', () => {
    expect(() => requireDefinition(named('---\nname: two\ndescription: d\nmodel: a b\ntools: bash\n---\nb'))).toThrow(
      expect.objectContaining({
        code: 'subagent_invalid',
        message: expect.stringMatching(/^The definition has 2 problems: line 2: name is "two".*; line 4: model is "a b"/),
        details: {
          errors: [
            { pointer: '/name', field: 'name', line: 2, reason: expect.any(String) },
            { pointer: '/model', field: 'model', line: 4, reason: expect.any(String) },
          ],
        },
      }),
    )
    expect(requireDefinition(named(SECTIONS)).name).toBe('one')
  })
})

describe('the name of a definition', () => {
  const nameOf = (text: string, name?: string) => parseSubagentMarkdown(text, name === undefined ? {} : { name }).definition?.name

  it('comes from its file or address, or from its front matter', () => {
    expect(nameOf(SECTIONS, 'a-file')).toBe('a-file')
    expect(nameOf('---\nname: two\ndescription: d\n---\nb')).toBe('two')
    expect(nameOf('---\nname: two\ndescription: d\n---\nb', 'two')).toBe('two')
    expect(nameOf('---\nname: Explore\ndescription: d\n---\nb')).toBe('Explore')
    expect(nameOf(SECTIONS)).toBeUndefined()
  })

  it.each([
    '../one',
    'one/two',
    '..',
    '.',
    'one.md',
    '/etc/passwd',
    'One',
    'explore ',
    '1one',
    '-one',
    'o\0ne',
    'ｏne',
    'one\n',
    'x'.repeat(65),
    '%2e%2e',
    'a\\b',
    '__proto__',
  ])('is never %j', (name) => {
    expect(nameOf(SECTIONS, name)).toBeUndefined()
    expect(nameOf(`---\nname: ${JSON.stringify(name)}\ndescription: d\n---\nb`, 'other')).toBeUndefined()
  })
})

/** As they are kept: trimmed, and nothing that cannot be stored. */
const kept = (maxLength: number) =>
  fc
    .array(
      fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...'- \n\t:#"\'|>&*!%@`\\{}[],?~=\u0085\u2028\uFEFF\u0001ab') },
        fc.string({ unit: 'binary', maxLength: 2 }),
      ),
      { minLength: 1, maxLength },
    )
    .map((units) =>
      units
        .join('')
        .toWellFormed()
        .replaceAll(/[\0\r]/g, '')
        .trim(),
    )
    .filter((text) => text !== '')
const tool = fc.oneof(
  fc.constantFrom(
    'Read',
    'Grep',
    'Glob',
    'Bash',
    'Bash(git:*)',
    'Bash(git log:*, git diff:*)',
    'mcp__a__b',
    'mcp__a',
    'mcp__a__*',
    '*',
    'Telepathy',
    'WebFetch(domain:a.b)',
  ),
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.:/-]{0,20}$/),
)
const tools = fc.uniqueArray(tool, { maxLength: 6 })
const name = fc.oneof(fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/), fc.constantFrom('Explore', 'Plan', 'null', 'true', 'constructor'))
const model = fc.constantFrom('sonnet', 'haiku', 'opus', 'inherit', 'claude-haiku-4-5', 'ollama/llama3.1:8b')
const MEANT = new Set([
  'name',
  'callback',
  'description',
  'tools',
  'allowedtools',
  'disallowedtools',
  'model',
  'maxturns',
  'background',
  'mcpservers',
  'skills',
])
const isUnknown = (key: string) =>
  !MEANT.has(key.toLowerCase().replaceAll(/[-_]/g, '')) && !key.toLowerCase().replaceAll(/[-_]/g, '').startsWith('targetlatency')
const unknownValues = fc
  .dictionary(fc.oneof(kept(6), fc.constantFrom('color', 'hooks', '__proto__', '<<', 'null', '---', '7')).filter(isUnknown), fc.jsonValue({ maxDepth: 3 }), {
    maxKeys: 3,
    noNullPrototype: true,
  })
  .map((values) => JSON.parse(JSON.stringify(values).replaceAll(/\\u0000|\\ud[89a-f][0-9a-f]{2}/g, '')) as Record<string, unknown>)
const definition: fc.Arbitrary<SubagentDefinition> = fc
  .record({
    name,
    title: fc.constant(null),
    description: kept(12),
    model,
    tools,
    disallowedTools: tools,
    instructions: fc.oneof(kept(12), fc.constantFrom('', '---', '---\nname: x\n---\ny', SECTIONS.trim())),
    targetLatencyMs: fc.option(fc.integer({ min: 1, max: 600_000 })),
    maxTurns: fc.option(fc.integer({ min: 1, max: 10_000 })),
    background: fc.boolean(),
    mcpServers: fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,10}$/), { maxLength: 3 }),
    skills: fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,10}$/), { maxLength: 3 }),
    unknownValues,
  })
  .map((fields) => ({ ...fields, definitionPath: null, version: 1, source: 'api' as const, unknownKeys: Object.keys(fields.unknownValues) }))

describe('the name of a definition', () => {
  it.each([
    ['powershell-5.1-expert', 'powershell-5-1-expert'],
    ['review-kit:code-reviewer', 'review-kit-code-reviewer'],
    ['C# Expert', 'c-expert'],
    ['Crème brûlée', 'creme-brulee'],
    ['3d_artist', 'agent-3d-artist'],
    ['.NET', 'net'],
    ['x'.repeat(80), 'x'.repeat(64)],
  ])('%s becomes %s, with a warning, and is kept as its title', (written, name) => {
    const { definition, problems } = parseSubagentMarkdown(`---\nname: ${JSON.stringify(written)}\ndescription: d\n---\nb`, { fileName: 'other' })
    expect(definition).toMatchObject({ name, title: written })
    expect(problems).toMatchObject([{ severity: 'warning', pointer: '/name', line: 2, reason: expect.stringContaining(`goes by the name ${name}`) }])
  })

  it('is that of its file where the text says none', () => {
    expect(parseSubagentMarkdown('---\ndescription: d\n---\nb', { fileName: 'my.agent' }).definition).toMatchObject({ name: 'my-agent', title: null })
  })
})

describe('a definition that is written again', () => {
  it('reads back as what it was, whatever it says', () => {
    fc.assert(
      fc.property(definition, (given) => {
        const text = renderSubagentMarkdown(given)
        const { definition: read, problems } = parseSubagentMarkdown(text, { name: given.name })
        expect([text, problems.filter(({ severity }) => severity === 'error'), read]).toEqual([text, [], given])
      }),
      { numRuns: 100 },
    )
  })

  it.each([...BUILTIN_SUBAGENTS.map((each) => [each.name, each] as const), ['one in sections', definitionOf(SECTIONS)] as const])('%s, too', (_, given) => {
    expect(parseSubagentMarkdown(renderSubagentMarkdown(given), { source: given.source }).definition).toEqual(given)
  })
})

describe('definitions that people write by hand, in every style', () => {
  const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
  const begin = fc.constantFrom('', '\uFEFF')
  // What would be read as two, or in one of the styles as a list mark.
  const plainTools = fc.uniqueArray(
    fc.constantFrom('Read', 'Grep', 'Bash(git:*)', 'Bash(git log:*, git diff:*)', 'mcp__a__b', 'mcp__a__*', 'Telepathy', 'learn_fact'),
    { maxLength: 5 },
  )

  it('are read alike in sections', () => {
    const style = fc.record({
      lineEnd,
      begin,
      gap: fc.constantFrom(' ', '\t', '   '),
      close: fc.constantFrom('', ' ##', ':'),
      mark: fc.constantFrom('- ', '* ', '+ ', '1. ', '\t- ', '', '-\t'),
      quote: fc.constantFrom('', '`', '**'),
      isUpper: fc.boolean(),
      order: fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }),
    })
    fc.assert(
      fc.property(style, plainTools, model, fc.integer({ min: 1, max: 9999 }), (written, wanted, wantedModel, latency) => {
        const mark = (text: string) => `${written.mark}${written.quote === '**' && text.includes('*') ? text : `${written.quote}${text}${written.quote}`}`
        const sections = [
          ['Role', 'It does one thing.'],
          ['Model', wantedModel],
          ['Allowed Tools', ...wanted.map(mark)],
          ['Target Latency', `< ${latency} ms`],
          ['Protocol', '1. Do it.', '### Then', '```', '## Model', 'not this', '```'],
        ]
        const lines = written.order.flatMap((place) => {
          const [title = '', ...rest] = sections[place] ?? []
          return [`##${written.gap}${written.isUpper ? title.toUpperCase() : title}${written.close}`, '', ...rest, '']
        })
        const { definition: read, problems } = named(`${written.begin}${lines.join(written.lineEnd)}`)
        expect([read?.description, read?.model, read?.tools, read?.targetLatencyMs]).toEqual(['It does one thing.', wantedModel, wanted, latency])
        expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
      }),
    )
  })

  it('are read alike with front matter', () => {
    const style = fc.record({
      lineEnd,
      begin,
      list: fc.constantFrom('comma', 'blank', 'yaml', 'flow'),
      key: fc.constantFrom('disallowedTools', 'disallowed_tools', 'disallowed-tools', 'DisallowedTools'),
      quote: fc.constantFrom('', '"', "'"),
      hasName: fc.boolean(),
      extra: fc.constantFrom([], ['# a remark'], ['color: red'], ['permissionMode: plan', 'memory: user']),
    })
    fc.assert(
      fc.property(style, plainTools, plainTools, model, (written, wanted, denied, wantedModel) => {
        const list = (key: string, values: string[]) => {
          if (written.list === 'yaml' && values.length > 0) return [`${key}:`, ...values.map((value) => `  - "${value}"`)]
          if (written.list === 'yaml' || written.list === 'flow') return [`${key}: [${values.map((value) => JSON.stringify(value)).join(', ')}]`]
          return [`${key}: "${values.join(written.list === 'comma' ? ', ' : ' ')}"`]
        }
        const lines = [
          '---',
          ...(written.hasName ? ['name: one'] : []),
          `description: ${written.quote}It does one thing${written.quote}`,
          ...list('tools', wanted),
          ...written.extra,
          ...list(written.key, denied),
          `model: ${wantedModel}`,
          '---',
          '',
          'Do it.',
          '',
        ]
        const { definition: read, problems } = named(`${written.begin}${lines.join(written.lineEnd)}`)
        expect([read?.description, read?.model, read?.tools, read?.disallowedTools]).toEqual(['It does one thing', wantedModel, wanted, denied])
        expect([read?.instructions, problems.filter(({ severity }) => severity === 'error')]).toEqual(['Do it.', []])
      }),
    )
  })

  it('whatever the text is, it is answered, and a definition or an error comes of it', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '---',
        '## Role',
        '## Model',
        '## Allowed Tools',
        '- Read',
        '```',
        'tools:',
        'description: d',
        'name: one',
        '\n',
        '\r\n',
        '\t',
        '- ',
        '*',
        '&a',
        '{',
        '##',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(piece, fc.constantFrom('\n', '', ' ')), { maxLength: 20 }), (pieces) => {
        const text = pieces.flat().join('')
        const { definition: read, problems } = named(text)
        expect(read === null).toBe(problems.some(({ severity }) => severity === 'error'))
        const lines = text.split(/\r\n?|\n/).length
        for (const { line } of problems) expect(line >= 1 && line <= Math.max(1, lines)).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a callback', () => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const text = (callback: string) => `---\ndescription: d\ncallback: ${callback}\n---\nx`

  it('is read with its secret apart, and the text that is written again has the URL alone', () => {
    const { definition, callbackSecret } = parseSubagentMarkdown(text(`{url: https://example.com/done, secret: ${secret}}`), { name: 'a' })
    expect([definition?.callback, callbackSecret]).toEqual([{ url: 'https://example.com/done' }, secret])
    const again = renderSubagentMarkdown(definition as SubagentDefinition)
    expect(again).not.toContain(secret)
    expect(parseSubagentMarkdown(again, { name: 'a' })).toMatchObject({
      definition: { callback: { url: 'https://example.com/done' } },
      callbackSecret: undefined,
    })
  })

  it.each([
    ['https://example.com', 'callback.url'],
    ['{url: "ftp://example.com"}', 'callback.url'],
    ['{url: "https://ann:pass@example.com"}', 'callback.url'],
    ['{url: https://example.com, secret: whsec_short}', 'callback.secret'],
    ['{url: https://example.com, header: x}', 'callback may'],
  ])('that is %s is refused, without its text', (written, field) => {
    const [problem = ''] = problemsOf(text(written), 'error')
    expect(problem).toContain(field)
    expect(problem).not.toMatch(/pass|short/)
  })

  it('has no secret in a file', () => {
    const { definition, problems } = parseSubagentMarkdown(text(`{url: https://example.com, secret: ${secret}}`), { fileName: 'a', source: 'file' })
    expect([definition, problems[0]?.pointer]).toEqual([null, '/callback/secret'])
    expect(parseSubagentMarkdown(text('{url: https://example.com}'), { fileName: 'a', source: 'file' }).definition?.callback).toBeDefined()
  })
})

describe('uses that ask', () => {
  it('are rules, or the definition is refused', () => {
    expect(problemsOf('---\ndescription: d\nask:\n  - Bash\n  - "(x)"\n---\nx', 'error')).toEqual([expect.stringContaining('is "(x)", which names no tool')])
  })

  it('are absent where none is named, so that nothing that is stored changes', () => {
    expect(Object.keys(definitionOf('---\ndescription: d\nask:\n---\nx'))).not.toContain('ask')
  })

  it('are kept when a definition is written as a text', () => {
    const read = definitionOf('---\ndescription: d\nask: Bash(git push:*)\n---\nx')
    expect(definitionOf(renderSubagentMarkdown(read))).toEqual(read)
  })
})

describe('a text that is large', () => {
  const MIB = SUBAGENT_LIMITS.instructionsBytes

  it('is read up to 1 MiB of instructions, and refused beyond', () => {
    const head = '---\ndescription: d\n---\n'
    expect(definitionOf(head + 'x'.repeat(MIB)).instructions.length).toBe(MIB)
    expect(problemsOf(head + 'é'.repeat(MIB / 2 + 1), 'error')).toEqual([`1 instructions must be at most ${MIB} bytes, and are ${MIB + 2}`])
    expect(definitionOf(`## Role\n${'x'.repeat(MIB - 8)}`).description.length).toBe(SUBAGENT_LIMITS.description)
  })

  it('is refused unread when it is longer than any definition: a million headings, say', () => {
    expect(problemsOf('##\n'.repeat(1_000_000), 'error')).toEqual([expect.stringContaining('1 definition is longer than 2097152 characters')])
  })

  it.each<[string, string]>([
    ['of headings', '##\n'.repeat(MIB / 3)],
    ['of the same section', '## Role\n'.repeat(MIB / 8)],
    ['of tools that are none', `## Role\nr\n## Allowed Tools\n${'- a b\n'.repeat(MIB / 6)}`],
    ['of one heading with blanks', `##${' '.repeat(MIB)}\u2028x`],
    ['of one heading with its closing', `## ${'#'.repeat(MIB)}x`],
    ['of backticks', '`'.repeat(MIB)],
    ['of fences', '```\n'.repeat(MIB / 4)],
    ['of parentheses', `---\ndescription: d\ntools: ${'('.repeat(200_000)}\n---\nb`],
    ['of keys', `---\n${'k: v\n'.repeat(MIB / 5)}---\nb`],
    ['of brackets', `---\nk: ${'['.repeat(20_000)}\n---\nb`],
    ['of colons', `---\ndescription: ${'a:'.repeat(100_000)}\n---\nb`],
    ['of a delimiter', `---${' '.repeat(MIB)}`],
    ['of stars', `## Role\nr\n## Model\n${'*'.repeat(MIB)}`],
  ])('%s is answered, with no more problems than somebody reads', (_, text) => {
    expect(named(text).problems.length).toBeLessThanOrEqual(100)
  })
})

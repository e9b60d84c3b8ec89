import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Actor } from '../core/actor.ts'
import { DomainError, ERROR_CODES } from '../core/errors.ts'
import { SUBAGENT_MCP_TOOLS } from '../tools/tool-rules.ts'
import { BUILTIN_SUBAGENTS } from './builtin-subagents.ts'
import { parseSubagentMarkdown } from './markdown.ts'
import {
  BACKGROUND_ALLOWED_TOOLS,
  checkTool,
  chooseModel,
  decideSpawn,
  definitionOfRun,
  effectiveTools,
  isMcpAllowed,
  type SpawnQuestion,
} from './spawn-policy.ts'
import { isSubagentName, type SubagentDefinition, type SubagentReading } from './subagent.ts'

const caller: Actor = { kind: 'key', id: 'key', projectId: 'project', scopes: ['subagents:spawn'], agentId: null, lineage: null }
const fromSubtask: Actor = {
  ...caller,
  kind: 'subtask',
  scopes: ['admin'],
  lineage: { subtaskId: '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47', taskId: null, sessionId: 'subtask-1', depth: 1 },
}
const fromAssignment: Actor = { ...fromSubtask, kind: 'session', lineage: { subtaskId: null, taskId: 'task', sessionId: 'writer', depth: 1 } }

const GUARDIAN = `## Role
Guards.

## Model
sonnet

## Allowed Tools
- mcp__graph__look
- mcp__graph__act
- Read
`
const READER = '## Role\nReads.\n\n## Model\nhaiku\n\n## Allowed Tools\n- Read\n- Grep\n- recall_deep'

/** A folder of definitions, read when it is asked. */
const FOLDER: Record<string, string> = { guardian: GUARDIAN, reader: READER, broken: '## Role\nr\n## Model\na b' }
const load = (name: string): SubagentReading | undefined => {
  const text = isSubagentName(name) && Object.hasOwn(FOLDER, name) ? FOLDER[name] : undefined
  return text === undefined ? undefined : parseSubagentMarkdown(text, { name, path: `agents/${name}.md` })
}

function spawn(name: string, given: Partial<SpawnQuestion> = {}) {
  return decideSpawn({ actor: caller, name, found: load(name), runInBackground: false, policy: 'reject', ...given })
}

function refusal(work: () => unknown): DomainError {
  try {
    work()
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
  return expect.fail('it was not refused')
}
const titleOf = (work: () => unknown) => ERROR_CODES[refusal(work).code].title

const definition = (given: Partial<SubagentDefinition> = {}): SubagentDefinition => ({
  ...(parseSubagentMarkdown(READER, { name: 'reader' }).definition as SubagentDefinition),
  ...given,
})
const allows = (given: Partial<SubagentDefinition>, toolName: string, background = false) => checkTool(definition(given), { toolName, background }).allowed

describe('the tests that [S10] names', () => {
  it('test_load_definition_success', () => {
    expect(load('guardian')?.definition).toMatchObject({
      name: 'guardian',
      description: 'Guards.',
      model: 'sonnet',
      tools: ['mcp__graph__look', 'mcp__graph__act', 'Read'],
      instructions: GUARDIAN.trim(),
      definitionPath: 'agents/guardian.md',
    })
  })

  it('test_load_definition_not_found', () => {
    const error = refusal(() => spawn('nobody'))
    expect([error.code, titleOf(() => spawn('nobody')), error.details]).toEqual(['subagent_not_found', 'SubagentNotFound', { subagent_type: 'nobody' }])
    expect(ERROR_CODES[error.code].status).toBe(404)
  })

  it('test_spawn_blocked_in_subagent_context', () => {
    for (const actor of [fromSubtask, fromAssignment]) {
      expect(titleOf(() => spawn('reader', { actor }))).toBe('SpawnBlocked')
      expect(titleOf(() => spawn('reader', { actor, runInBackground: true, policy: 'strip' }))).toBe('SpawnBlocked')
      expect(refusal(() => spawn('reader', { actor })).details).toEqual({ id: actor.lineage?.sessionId })
    }
    expect(spawn('reader').definition.name).toBe('reader')
  })

  it('test_spawn_background_mcp_blocked', () => {
    const error = refusal(() => spawn('guardian', { runInBackground: true }))
    expect([error.code, ERROR_CODES[error.code].title, ERROR_CODES[error.code].status]).toEqual(['background_mcp_blocked', 'BackgroundMcpBlocked', 422])
    expect(error.details).toEqual({ subagent_type: 'guardian', tool: 'mcp__graph__look', tools: ['mcp__graph__look', 'mcp__graph__act'] })
    expect(error.message).toContain('run_in_background: false')
  })

  // Their definitions are in subagents/, which tests/repository/subagents.test.ts reads.
  it('test_spawn_context_graph_identity_guardian', () => {
    expect(spawn('guardian')).toMatchObject({ background: false, model: 'sonnet', removed: [] })
  })

  it('test_spawn_context_graph_memory_specialist', () => {
    expect(spawn('reader', { runInBackground: true })).toMatchObject({ background: true, model: 'haiku', removed: [] })
  })

  it('test_is_mcp_allowed', () => {
    expect([isMcpAllowed('mcp__graph__look', true), isMcpAllowed('mcp__graph__look', false), isMcpAllowed('Read', true)]).toEqual([false, true, true])
  })

  it('test_background_allowed_tools', () => {
    expect(BACKGROUND_ALLOWED_TOOLS).toEqual(['Read', 'Grep', 'Glob'])
    for (const toolName of BACKGROUND_ALLOWED_TOOLS) {
      expect(checkTool(definition({ tools: [] }), { toolName, background: true })).toMatchObject({ allowed: true, alwaysAllowed: ['Read', 'Grep', 'Glob'] })
      expect(allows({ tools: [] }, toolName)).toBe(false)
    }
  })
})

describe('a spawn', () => {
  it('is refused by identity before anything else is looked at', () => {
    expect(titleOf(() => spawn('nobody', { actor: fromSubtask }))).toBe('SpawnBlocked')
    expect(titleOf(() => spawn('broken', { actor: fromSubtask, model: '' }))).toBe('SpawnBlocked')
  })

  it('is refused for a definition that cannot be used, with what is wrong with it', () => {
    const error = refusal(() => spawn('broken'))
    expect([error.code, ERROR_CODES[error.code].title, ERROR_CODES[error.code].status]).toEqual(['subagent_invalid', 'SubagentInvalid', 422])
    expect(error.details.errors).toEqual([expect.objectContaining({ pointer: '/model', line: 4 })])
  })

  it.each(['../secrets', 'a/b', '..', '', 'guardian.md', '__proto__', 'x'.repeat(1_000)])('of %j is refused: there is no such sub-agent', (name) => {
    expect(titleOf(() => spawn(name))).toBe('SubagentNotFound')
    expect(refusal(() => spawn(name)).message.length).toBeLessThan(200)
  })

  it('takes the model of the caller before that of the definition', () => {
    expect([undefined, null, 'opus', 'Opus', 'gpt-5', 'inherit'].map((model) => spawn('reader', { ...(model === undefined ? {} : { model }) }).model)).toEqual([
      'haiku',
      'haiku',
      'opus',
      'opus',
      'gpt-5',
      null,
    ])
    expect(chooseModel({ model: 'inherit' })).toBeNull()
    expect(chooseModel({ model: 'inherit' }, 'haiku')).toBe('haiku')
    for (const model of ['', 'a b', '--model', 'x'.repeat(200)]) {
      expect(refusal(() => spawn('reader', { model }))).toMatchObject({ code: 'validation_failed', details: { errors: [{ pointer: '/model' }] } })
    }
  })

  it('is one in the background where the definition says so', () => {
    const found = { definition: definition({ background: true }), problems: [] }
    expect(spawn('reader', { found }).background).toBe(true)
    expect(titleOf(() => spawn('reader', { found: { ...found, definition: definition({ background: true, tools: ['mcp__a__b'] }) } }))).toBe(
      'BackgroundMcpBlocked',
    )
  })

  it.each<[string, Partial<SubagentDefinition>, string[]]>([
    ['a tool', { tools: ['Read', 'mcp__a__b'] }, ['mcp__a__b']],
    ['a tool in another case', { tools: ['MCP__a__b'] }, ['MCP__a__b']],
    ['a server', { tools: ['mcp__a', 'Read'] }, ['mcp__a']],
    ['all tools of a server', { tools: ['mcp__a__*'] }, ['mcp__a__*']],
    ['all of MCP', { tools: ['mcp__*'] }, ['mcp__*']],
    ['to read what servers offer', { tools: ['Read', 'ReadMcpResourceTool'] }, ['ReadMcpResourceTool']],
    ['all of Muster', { tools: ['mcp__muster__*'] }, ['mcp__muster__*']],
    ['a tool of Muster that is not for sub-agents', { tools: ['mcp__muster__list_tasks'] }, ['mcp__muster__list_tasks']],
    ['a server of its own', { tools: ['*'], mcpServers: ['github', 'muster'] }, ['mcpServers: github']],
  ])('in the background that wants %s is refused, or goes without', (_, given, removed) => {
    const found = { definition: definition(given), problems: [] }
    expect(refusal(() => spawn('reader', { found, runInBackground: true })).details.tools).toEqual(removed)
    const stripped = spawn('reader', { found, runInBackground: true, policy: 'strip' })
    expect(stripped.removed).toEqual(removed)
    expect(stripped.definition.tools).toEqual((given.tools ?? []).filter((tool) => !removed.includes(tool)))
    expect(stripped.definition.mcpServers).toEqual((given.mcpServers ?? []).filter((server) => server === 'muster'))
    expect(spawn('reader', { found })).toMatchObject({ definition: given, removed: [] })
  })

  it.each<[string, Partial<SubagentDefinition>]>([
    ['everything, without naming MCP', { tools: ['*'] }],
    ['what Muster has for sub-agents', { tools: [...SUBAGENT_MCP_TOOLS, 'Read'], mcpServers: ['muster'] }],
    ['that MCP is denied', { tools: ['Read'], disallowedTools: ['mcp__*'] }],
  ])('in the background may say %s', (_, given) => {
    const found = { definition: definition(given), problems: [] }
    expect(spawn('reader', { found, runInBackground: true })).toMatchObject({ definition: given, removed: [] })
  })

  it('that is stripped of all of its tools has none, not all', () => {
    const found = { definition: definition({ tools: ['mcp__a__b'] }), problems: [] }
    const { definition: kept } = spawn('reader', { found, runInBackground: true, policy: 'strip' })
    expect(effectiveTools(kept, ['Write', 'Bash', 'mcp__a__b'], { background: true, policy: 'strip' })).toEqual([])
  })

  it('does not change what it was given', () => {
    const given = definition({ tools: ['Read', 'mcp__a__b'], mcpServers: ['a'] })
    const before = structuredClone(given)
    spawn('reader', { found: { definition: given, problems: [] }, runInBackground: true, policy: 'strip' })
    expect(given).toEqual(before)
  })
})

describe('a tool', () => {
  it.each<[string, Partial<SubagentDefinition>, string, boolean, boolean]>([
    // what, definition, tool, in the foreground, in the background
    ['that is listed', { tools: ['Write'] }, 'Write', true, true],
    ['that is not listed', { tools: ['Write'] }, 'Bash', false, false],
    ['in another case than it is listed', { tools: ['Bash'] }, 'bash', false, false],
    ['under a list that is empty', { tools: [] }, 'Write', false, false],
    ['where all are allowed', { tools: ['*'] }, 'Write', true, true],
    ['that only reads', { tools: ['Write'] }, 'Grep', false, true],
    ['that only reads, of a file', { tools: ['Write'] }, 'Read(a.txt)', false, true],
    ['that only reads and is denied', { tools: ['Read'], disallowedTools: ['Read'] }, 'Read', false, false],
    ['that is listed and denied', { tools: ['Write'], disallowedTools: ['Write'] }, 'Write', false, false],
    ['that is denied in another case', { tools: ['*'], disallowedTools: ['bash'] }, 'Bash', false, false],
    ['where all are denied', { tools: ['*'], disallowedTools: ['*'] }, 'Read', false, false],
    ['of MCP that is listed', { tools: ['mcp__a__b'] }, 'mcp__a__b', true, false],
    ['of MCP in another case', { tools: ['*'] }, 'MCP__a__b', true, false],
    ['of MCP where all are allowed', { tools: ['*'] }, 'mcp__a__b', true, false],
    ['that reads what servers of MCP offer', { tools: ['*'] }, 'ListMcpResourcesTool', true, false],
    ['of a server that is listed', { tools: ['mcp__a'] }, 'mcp__a__b', true, false],
    ['of a server that is listed with a star', { tools: ['mcp__a__*'] }, 'mcp__a__b', true, false],
    ['of a server whose name begins alike', { tools: ['mcp__a'] }, 'mcp__ab__c', false, false],
    ['of a server that is denied', { tools: ['*'], disallowedTools: ['mcp__a'] }, 'mcp__a__b', false, false],
    ['of MCP, all of which is denied', { tools: ['*'], disallowedTools: ['mcp__*'] }, 'mcp__a__b', false, false],
    ['of Muster for sub-agents, listed nowhere', { tools: [] }, 'mcp__muster__check_in', true, true],
    ['of Muster for sub-agents that is denied', { tools: ['*'], disallowedTools: ['mcp__muster__check_in'] }, 'mcp__muster__check_in', false, false],
    ['of Muster for others', { tools: ['*'] }, 'mcp__muster__list_tasks', true, false],
    ['of a server that calls itself nearly Muster', { tools: ['*'] }, 'mcp__muster2__check_in', true, false],
    ['Task', { tools: ['Task', '*'] }, 'Task', false, false],
    ['Agent for one kind', { tools: ['Agent(reader)'] }, 'Agent(reader)', false, false],
    ['Agent in another case', { tools: ['*'] }, 'AGENT', false, false],
    ['spawn_task', { tools: ['*', 'spawn_task'] }, 'spawn_task', false, false],
    ['schedule_task by way of MCP', { tools: ['mcp__muster__schedule_task'] }, 'mcp__muster__schedule_task', false, false],
    ['spawn_subagent by way of MCP', { tools: ['mcp__muster__*'] }, 'mcp__muster__spawn_subagent', false, false],
    ['create_task by way of MCP', { tools: ['*'] }, 'mcp__muster__create_task', false, false],
    ['CronCreate', { tools: ['*'] }, 'CronCreate', false, false],
    ['TaskList, which starts nothing', { tools: ['*'] }, 'TaskList', true, true],
    ['that has no name', { tools: ['*'] }, '', false, false],
    ['that is a star', { tools: ['*'] }, '*', false, false],
    ['that is many', { tools: ['*'] }, 'mcp__muster__*', false, false],
    ['that is a sentence', { tools: ['*'] }, 'Read and Write', false, false],
    ['of which some uses are listed', { tools: ['Bash(git:*)'] }, 'Bash', true, true],
    ['in a use that is listed', { tools: ['Bash(git:*)'] }, 'Bash(git status)', true, true],
    ['in a use that is listed, without anything behind it', { tools: ['Bash(git:*)'] }, 'Bash(git)', true, true],
    ['in a use that begins alike', { tools: ['Bash(git:*)'] }, 'Bash(gitk)', false, false],
    ['in a use that is not listed', { tools: ['Bash(git:*)'] }, 'Bash(rm -rf /)', false, false],
    ['in a use that goes on with another', { tools: ['Bash(git:*)'] }, 'Bash(git status && rm -rf /)', false, false],
    ['in a use over several lines', { tools: ['Bash(git:*)'] }, 'Bash(git status\nrm -rf /)', false, false],
    ['in a use with one inside of it', { tools: ['Bash(git:*)'] }, 'Bash(git log $(rm -rf /))', false, false],
    ['in a use that writes somewhere', { tools: ['Bash(git:*)'] }, 'Bash(git log > /etc/passwd)', false, false],
    ['in a use that is listed to the letter', { tools: ['Bash(npm test && npm run lint)'] }, 'Bash(npm test && npm run lint)', true, true],
    ['in a use that fits a star', { tools: ['Bash(npm run * --silent)'] }, 'Bash(npm run test --silent)', true, true],
    ['in a use that does not reach to the end', { tools: ['Bash(npm run * --silent)'] }, 'Bash(npm run test)', false, false],
    ['in a use whose parts would overlap', { tools: ['Bash(ab*ba)'] }, 'Bash(aba)', false, false],
    ['in any use, where a star is all there is', { tools: ['WebFetch(*)'] }, 'WebFetch(domain:a.b)', true, true],
    ['in a use of another tool', { tools: ['Bash(git:*)'] }, 'Write(git:x)', false, false],
    ['of which some uses are denied', { tools: ['Bash'], disallowedTools: ['Bash(rm:*)'] }, 'Bash', true, true],
    ['in a use that is denied', { tools: ['Bash'], disallowedTools: ['Bash(rm:*)'] }, 'Bash(rm -rf /)', false, false],
    ['in a use that is denied in part', { tools: ['Bash'], disallowedTools: ['Bash(rm:*)'] }, 'Bash(cd / && rm -rf .)', false, false],
    ['in a use that is denied further inside', { tools: ['*'], disallowedTools: ['Bash(rm:*)'] }, 'Bash(echo $(rm -rf .))', false, false],
    ['in a use that is not denied', { tools: ['Bash'], disallowedTools: ['Bash(rm:*)'] }, 'Bash(ls)', true, true],
    ['of a server that is not among those it names', { tools: ['*'], mcpServers: ['a'] }, 'mcp__b__c', false, false],
    ['of a server that is among those it names', { tools: ['mcp__a'], mcpServers: ['a', 'd'] }, 'mcp__a__c', true, false],
    ['of Muster, whatever servers it names', { tools: [], mcpServers: ['a'] }, 'mcp__muster__get_task', true, true],
    ['reading what is denied', { tools: ['Read'], disallowedTools: ['Read(.env*)'] }, 'Read(.env.local)', false, false],
  ])('%s', (_, given, toolName, foreground, background) => {
    expect([allows(given, toolName, false), allows(given, toolName, true)]).toEqual([foreground, background])
  })

  it('says why', () => {
    const reasonOf = (given: Partial<SubagentDefinition>, toolName: string, background = false) => checkTool(definition(given), { toolName, background }).reason
    expect(reasonOf({}, 'Task')).toBe('A sub-agent cannot start further work. Its caller decides what comes next.')
    expect(reasonOf({ tools: ['mcp__a__b'] }, 'mcp__a__b', true)).toContain('No MCP tool works in the background, but mcp__muster__get_task')
    expect(reasonOf({}, 'Write')).toBe('reader lists Read, Grep, recall_deep.')
    expect(reasonOf({ tools: [] }, 'Write')).toBe('reader lists no tools.')
    expect(reasonOf({ disallowedTools: ['Read'] }, 'Read')).toBe('reader is denied "Read" by its definition.')
    expect(reasonOf({}, 'Glob', true)).toBe('It is always allowed in the background.')
    expect(reasonOf({ tools: ['Bash(git:*)'], disallowedTools: ['Bash(git push:*)'] }, 'Bash')).toBe(
      'reader lists it as Bash(git:*) and for nothing else. Denied are Bash(git push:*).',
    )
    expect(reasonOf({}, 'x'.repeat(10_000)).length).toBeLessThan(200)
  })

  it('that is denied is not among those that are always allowed', () => {
    const always = (disallowedTools: string[]) => checkTool(definition({ disallowedTools }), { toolName: 'Read', background: true }).alwaysAllowed
    expect([always(['Grep']), always(['Read(.env)']), always(['*'])]).toEqual([['Read', 'Glob'], ['Read', 'Grep', 'Glob'], []])
  })

  it('that starts work is for a session of its own, in the foreground, where the definition lists it', () => {
    const may = (tools: string[], background: boolean) => checkTool(definition({ tools }), { toolName: 'Agent', background, inSubagent: false }).allowed
    expect([may(['Agent'], false), may(['Agent'], true), may(['Read'], false)]).toEqual([true, false, false])
  })

  it('is judged in time that grows with the text', () => {
    const command = `Bash(${'a '.repeat(50_000)}`
    expect(allows({ tools: ['Bash(*a*a*a*a*a*a*a*b)'] }, `${command})`)).toBe(false)
    expect(allows({ tools: ['*'], disallowedTools: [`Bash(${'*a'.repeat(200)}b)`] }, `${command})`)).toBe(true)
    expect(allows({ tools: ['*'], disallowedTools: ['Bash(rm:*)'] }, `Bash(${';'.repeat(100_000)}rm)`)).toBe(false)
    expect(allows({ tools: ['*'] }, command)).toBe(false)
    // No program takes an argument of a mebibyte.
    expect(allows({ tools: ['*'], disallowedTools: ['Bash(rm:*)'] }, `Bash(${'a '.repeat(500_000)})`)).toBe(false)
  })
})

describe('the tools that a run gets', () => {
  const AVAILABLE = ['Read', 'Grep', 'Glob', 'Write', 'Bash', 'Task', 'recall_deep', 'mcp__a__b', 'mcp__muster__check_in', 'mcp__muster__spawn_task', 'Read']

  it.each<[string, Partial<SubagentDefinition>, string[], string[]]>([
    [
      'of a list',
      { tools: ['Read', 'recall_deep'] },
      ['Read', 'recall_deep', 'mcp__muster__check_in'],
      ['Read', 'Grep', 'Glob', 'recall_deep', 'mcp__muster__check_in'],
    ],
    [
      'of everything',
      { tools: ['*'] },
      ['Read', 'Grep', 'Glob', 'Write', 'Bash', 'recall_deep', 'mcp__a__b', 'mcp__muster__check_in'],
      ['Read', 'Grep', 'Glob', 'Write', 'Bash', 'recall_deep', 'mcp__muster__check_in'],
    ],
    [
      'of everything but',
      { tools: ['*'], disallowedTools: ['Write', 'mcp__*', 'Bash'] },
      ['Read', 'Grep', 'Glob', 'recall_deep'],
      ['Read', 'Grep', 'Glob', 'recall_deep'],
    ],
    ['of some uses', { tools: ['Bash(git:*)'] }, ['Bash', 'mcp__muster__check_in'], ['Read', 'Grep', 'Glob', 'Bash', 'mcp__muster__check_in']],
    ['of a tool that is not there', { tools: ['Telepathy'] }, ['mcp__muster__check_in'], ['Read', 'Grep', 'Glob', 'mcp__muster__check_in']],
  ])('%s', (_, given, foreground, background) => {
    const toolsIn = (isBackground: boolean) => effectiveTools(definition(given), AVAILABLE, { background: isBackground, policy: 'reject' })
    expect([toolsIn(false), toolsIn(true)]).toEqual([foreground, background])
  })

  it('are refused where its spawn would have been', () => {
    const given = definition({ tools: ['Read', 'mcp__a__b'] })
    expect(titleOf(() => effectiveTools(given, AVAILABLE, { background: true, policy: 'reject' }))).toBe('BackgroundMcpBlocked')
    expect(effectiveTools(given, AVAILABLE, { background: true, policy: 'strip' })).toEqual(['Read', 'Grep', 'Glob', 'mcp__muster__check_in'])
  })

  it('have nothing of MCP in the background but what is for sub-agents, and nothing that starts work, whatever the definition says', () => {
    const rule = fc.constantFrom(
      '*',
      'Read',
      'Task',
      'Agent(x)',
      'mcp__*',
      'mcp__a',
      'mcp__a__b',
      'MCP__a__b',
      'm*',
      'mcp__muster__*',
      'mcp__muster__get_task',
      'spawn_task',
      'T*',
    )
    const available = [
      'Read',
      'Task',
      'Agent',
      'spawn_task',
      'mcp__a__b',
      'MCP__a__b',
      'mcp__muster__spawn_task',
      'mcp__muster__list_tasks',
      ...SUBAGENT_MCP_TOOLS,
    ]
    fc.assert(
      fc.property(fc.array(rule), fc.array(rule), fc.subarray(['a', 'muster']), (tools, disallowedTools, mcpServers) => {
        const kept = effectiveTools(definition({ tools, disallowedTools, mcpServers }), available, { background: true, policy: 'strip' })
        expect(kept.filter((tool) => tool !== 'Read' && !SUBAGENT_MCP_TOOLS.includes(tool))).toEqual([])
      }),
    )
  })
})

describe('the definition of a run', () => {
  it("is without MCP in the background, but for what is Muster's own, and whole in the foreground", () => {
    const given = definition({ tools: ['Read', 'mcp__a__b', SUBAGENT_MCP_TOOLS[0] as string], mcpServers: ['a', 'muster'] })
    expect(definitionOfRun(given, false)).toEqual(given)
    expect(definitionOfRun(given, true)).toEqual({ ...given, tools: ['Read', SUBAGENT_MCP_TOOLS[0]], mcpServers: ['muster'] })
  })
})

describe('the sub-agents that Muster brings', () => {
  it('are Explore, Plan and general-purpose, which are names only as they are written', () => {
    expect(BUILTIN_SUBAGENTS.map(({ name }) => name)).toEqual(['Explore', 'Plan', 'general-purpose'])
    for (const { name } of BUILTIN_SUBAGENTS) expect(isSubagentName(name)).toBe(true)
    expect(['explore', 'EXPLORE', 'PLAN', 'General-purpose'].map(isSubagentName)).toEqual([true, false, false, false])
  })

  it('run in the background; two of them only read', () => {
    for (const given of BUILTIN_SUBAGENTS) expect(spawn(given.name, { found: { definition: given, problems: [] }, runInBackground: true }).removed).toEqual([])
    const [explore, plan, general] = BUILTIN_SUBAGENTS.map((given) =>
      effectiveTools(given, ['Read', 'Glob', 'Write', 'Task'], { background: false, policy: 'reject' }),
    )
    expect([explore, plan, general]).toEqual([
      ['Read', 'Glob'],
      ['Read', 'Glob'],
      ['Read', 'Glob', 'Write'],
    ])
  })
})

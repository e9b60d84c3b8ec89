import { describe, expect, it } from 'vitest'
import { agentCallOf, hookSessionOf, inputWithSession, isHookEvent, startedAgentOf, taskNamedByCall, toolUseOf } from './hook.ts'

const TASK = '0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31'

describe('the session of a hook', () => {
  const lineage = { subtaskId: TASK, taskId: null, sessionId: `subtask-${TASK}`, depth: 1 } as const

  it.each([
    [null, null, 'main'],
    [null, 'a1', 'main:a1'],
    [lineage, null, `subtask-${TASK}`],
    [lineage, 'a1', `subtask-${TASK}`],
  ])('of lineage %j and agent %j is %s', (given, agentId, session) => {
    expect(hookSessionOf({ lineage: given }, { sessionId: 'main', agentId })).toBe(session)
  })
})

it('names of events count as they are written', () => {
  expect(['PreToolUse', 'SubagentStop', 'pretooluse', 'Notification', 'constructor', ''].map(isHookEvent)).toEqual([true, true, false, false, false, false])
})

describe('the task that a call of the Agent tool hands over', () => {
  const call = (prompt: unknown, more: object = {}, toolName: string | null = 'Agent') =>
    agentCallOf({ toolName, toolInput: { prompt, subagent_type: 'writer', ...more } })
  const none = { taskId: null, subagentType: 'writer' }
  const found = { taskId: TASK, subagentType: 'writer' }

  it.each([
    [`muster-task: ${TASK}`, found],
    [`Do it.\nmuster-task: ${TASK}\nThen stop.`, found],
    [`Do it.\r\n\t Muster-Task:${TASK} \r\nThen stop.`, found],
    [`muster-task: ${TASK.toUpperCase()}`, found],
    [`muster-task: ${TASK}\nmuster-task: 0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e32`, found],
    [`see muster-task: ${TASK}`, none],
    [`muster-task: ${TASK} and more`, none],
    [`muster-task:\n${TASK}`, none],
    ['muster-task: 17', none],
    ['', none],
    [17, none],
    [undefined, none],
  ])('is found in %j', (prompt, expected) => {
    expect(call(prompt)).toEqual(expected)
  })

  it('is found under both names of the tool, and in no other', () => {
    const prompt = `muster-task: ${TASK}`
    expect(call(prompt, {}, 'Task')).toEqual(found)
    for (const toolName of ['Bash', 'agent', 'mcp__x__Agent', null]) expect(call(prompt, {}, toolName)).toBeNull()
    for (const toolInput of [null, undefined, 'muster-task', []])
      expect(agentCallOf({ toolName: 'Agent', toolInput })).toEqual({ taskId: null, subagentType: 'general-purpose' })
  })

  it('is for what Claude Code starts when it is not told a type', () => {
    for (const type of [undefined, '', 7]) {
      expect(call(`muster-task: ${TASK}`, { subagent_type: type })).toEqual({ taskId: TASK, subagentType: 'general-purpose' })
    }
  })
})

it('the answer of the Agent tool names the sub-agent that it started', () => {
  expect(startedAgentOf({ toolResponse: { agentId: 'a1', status: 'async_launched' } })).toBe('a1')
  for (const toolResponse of [undefined, null, 'a1', {}, { agentId: '' }, { agentId: 7 }]) expect(startedAgentOf({ toolResponse })).toBeNull()
})

it('a call of an MCP tool names its task', () => {
  const call = (toolName: string | null, toolInput: unknown) => taskNamedByCall({ toolName, toolInput })
  expect(call('mcp__muster__check_in', { task_id: TASK.toUpperCase() })).toBe(TASK)
  for (const [toolName, toolInput] of [
    ['Read', { task_id: TASK }],
    [null, { task_id: TASK }],
    ['mcp__muster__check_in', { task_id: 'x' }],
    ['mcp__muster__check_in', null],
  ] as const)
    expect(call(toolName, toolInput)).toBeNull()
})

it('a call of a Muster tool, and of no other, gets the session that makes it', () => {
  const named = (toolName: string | null, toolInput: unknown) => inputWithSession({ toolName, toolInput, sessionId: 'chat' })
  expect(named('mcp__muster__spawn_task', { task: 'Count.' })).toEqual({ task: 'Count.', _session: 'chat' })
  expect(named('mcp__muster__list_tasks', {})).toEqual({ _session: 'chat' })
  expect(named('mcp__muster__list_tasks', undefined)).toBeNull()
  for (const toolName of ['mcp__musters__x', 'mcp__other__spawn_task', 'Agent', null]) expect(named(toolName, {})).toBeNull()
})

describe('one use of a tool', () => {
  it.each([
    ['Bash', { command: 'git status && ls' }, 'Bash(git status && ls)'],
    ['PowerShell', { command: 'Get-Item x' }, 'PowerShell(Get-Item x)'],
    ['WebFetch', { url: 'https://example.com:8443/a?b' }, 'WebFetch(domain:example.com)'],
    ['WebFetch', { url: 'https://Example.com./' }, 'WebFetch(domain:example.com)'],
    ['Skill', { skill: 'pdf' }, 'Skill(pdf)'],
    ['Bash', {}, 'Bash()'],
    ['Bash', null, 'Bash()'],
    ['Bash', { command: ['rm'] }, 'Bash()'],
    ['WebFetch', { url: 'nonsense' }, 'WebFetch()'],
    ['Read', { file_path: '/etc/passwd' }, 'Read(/etc/passwd)'],
    ['Write', { file_path: '/work/out/../x' }, 'Write(x)'],
    ['Edit', { file_path: '/work//a/./b' }, 'Edit(a/b)'],
    ['Write', { file_path: '/workshop/x' }, 'Write(/workshop/x)'],
    ['Write', { file_path: 'out/../x' }, 'Write(out/../x)'],
    ['NotebookEdit', { notebook_path: '/work/n.ipynb' }, 'NotebookEdit(n.ipynb)'],
    ['Grep', { pattern: 'x' }, 'Grep(.)'],
    ['Glob', { pattern: 'x', path: '/work' }, 'Glob(.)'],
    ['Write', {}, 'Write()'],
    ['toString', { command: 'x' }, 'toString'],
  ])('%s with %j is %s', (toolName, toolInput, use) => {
    expect(toolUseOf({ toolName, toolInput, cwd: '/work' })).toBe(use)
  })
})

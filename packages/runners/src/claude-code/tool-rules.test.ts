import { BUILTIN_SUBAGENTS, parseSettings, SUBAGENT_MCP_TOOLS, type SubagentDefinition, toolsOfRunner } from '@muster/domain'
import { describe, expect, it } from 'vitest'
import { toolRulesOf } from './tool-rules.ts'

const [explore] = BUILTIN_SUBAGENTS as [SubagentDefinition]
const definition = (tools: string[], disallowedTools: string[] = []): SubagentDefinition => ({ ...explore, tools, disallowedTools })
const FILE_TOOLS = ['Read', 'Grep', 'Glob', 'Write', 'Edit', 'NotebookEdit', 'WebSearch']

describe('the tools of a run', () => {
  it('without a definition are those that stay in the workspace, and what Muster has for sub-agents', () => {
    expect(toolRulesOf({}, false)).toEqual({ ask: [], tools: FILE_TOOLS, allow: [...FILE_TOOLS, ...SUBAGENT_MCP_TOOLS], deny: ['Task', 'Agent'] })
  })

  it.each([false, true])('are those that the warnings of a spawn go by, with commands %s', (hasCommands) => {
    const settings = parseSettings({ ENABLE_BASH_TOOL: String(hasCommands) })
    expect(toolRulesOf({}, hasCommands).tools).toEqual(toolsOfRunner(settings, 'claude-code'))
  })

  it('include commands and fetching only where the operator lets models run commands', () => {
    expect(toolRulesOf({}, true).tools).toEqual([...FILE_TOOLS, 'Bash', 'WebFetch'])
    expect(toolRulesOf({ subagent: definition(['Bash', 'WebFetch', 'Read']) }, false).tools).toEqual(['Read', 'Grep', 'Glob'])
  })

  it.each([
    [['*'], [], FILE_TOOLS],
    [['Write'], [], ['Read', 'Grep', 'Glob', 'Write']],
    [
      ['Write', 'Edit'],
      ['Write', 'grep'],
      ['Read', 'Glob', 'Edit'],
    ],
    [[], ['*'], []],
  ])('of a definition with tools %j that denies %j are %j in the background', (tools, denied, expected) => {
    expect(toolRulesOf({ subagent: definition(tools, denied), background: true }, false).tools).toEqual(expected)
  })

  it('are those of the definition alone in the foreground', () => {
    expect(toolRulesOf({ subagent: definition(['Write']), background: false }, false).tools).toEqual(['Write'])
  })

  it('are allowed only in the uses that a definition lists', () => {
    const rules = toolRulesOf({ subagent: definition(['Bash(git:*)', 'Bash(ls)', 'Write'], ['Bash(git push:*)']), background: false }, true)
    expect(rules).toEqual({
      ask: [],
      tools: ['Write', 'Bash'],
      allow: ['Write', 'Bash(git:*)', 'Bash(ls)', ...SUBAGENT_MCP_TOOLS],
      deny: ['Bash(git push:*)', 'Task', 'Agent'],
    })
  })

  it('that fetch pages fetch none of this machine', () => {
    for (const rules of [toolRulesOf({}, true), toolRulesOf({ subagent: definition(['WebFetch']) }, true)]) {
      expect(rules.deny).toEqual(expect.arrayContaining(['Task', 'Agent', 'WebFetch(domain:localhost)', 'WebFetch(domain:169.254.169.254)']))
    }
  })

  it('are denied in whatever case a definition writes them', () => {
    const { deny } = toolRulesOf({ subagent: definition(['*'], ['bash(rm:*)', 'WRITE', 'mcp__Other__x', 'own_tool']) }, true)
    expect(deny.slice(0, 4)).toEqual(['Bash(rm:*)', 'Write', 'mcp__Other__x', 'own_tool'])
  })

  it('never start an agent, and have of MCP only what is Muster’s', () => {
    const { tools, allow } = toolRulesOf({ subagent: definition(['Task', 'Agent', 'mcp__other__tool', 'Read']), background: false }, true)
    expect(tools).toEqual(['Read'])
    expect(allow).toEqual(['Read', ...SUBAGENT_MCP_TOOLS])
    expect(toolRulesOf({ subagent: definition(['Read'], ['mcp__muster__check_in']) }, false).allow).not.toContain('mcp__muster__check_in')
  })
})

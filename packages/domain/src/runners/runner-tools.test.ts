import { describe, expect, it } from 'vitest'
import { parseSettings } from '../settings/settings.ts'
import { toolsOfRunner, toolWarnings } from './runner-tools.ts'

const plain = parseSettings({})
const all = parseSettings({
  ENABLE_BASH_TOOL: 'true',
  WEB_SEARCH_PROVIDER: 'searxng',
  WEB_SEARCH_URL: 'http://127.0.0.1:9',
  MCP_SERVERS: '{"github": {"url": "https://mcp.example/mcp"}}',
})
const warn = (tools: string[], runner: string, { background = false, settings = plain } = {}) => toolWarnings({ tools }, { runner, background, settings })

describe('the warnings of a run', () => {
  it('name each tool that its definition lists and its runner lacks, once, and what switches it on', () => {
    expect(warn(['Read', 'Edit', 'Bash(git:*)', 'Bash(ls)', 'WebSearch', 'TodoWrite', 'Task'], 'ai')).toEqual([
      'The definition lists Bash, and the runner ai does not have it. ENABLE_BASH_TOOL=true switches it on.',
      'The definition lists WebSearch, and the runner ai does not have it. WEB_SEARCH_PROVIDER switches it on.',
      'The definition lists TodoWrite, and the runner ai does not have it.',
      'The definition lists Task, and the runner ai does not have it.',
    ])
    expect(warn(['Bash', 'WebSearch', 'NotebookEdit'], 'ai', { settings: all })).toEqual([
      'The definition lists NotebookEdit, and the runner ai does not have it.',
    ])
    expect(warn(['Bash', 'WebFetch', 'NotebookEdit'], 'claude-code')).toHaveLength(2)
    expect(warn(['Bash', 'WebFetch', 'NotebookEdit'], 'claude-code', { settings: all })).toEqual([])
  })

  it('say which MCP tools are out of reach', () => {
    expect(warn(['mcp__github__x', 'mcp__github', 'mcp__github__*', 'mcp__*'], 'ai', { settings: all })).toEqual([])
    expect(warn(['mcp__github__x'], 'ai')).toEqual(['The definition lists mcp__github__x: MCP_SERVERS of this server has no github.'])
    expect(warn(['mcp__github__x'], 'ai', { settings: all, background: true })[0]).toContain('run_in_background: false')
    expect(warn(['mcp__github__x'], 'claude-code', { settings: all })[0]).toContain('no MCP server but that of Muster')
  })

  it('are none for everything, and for runners with tools of their own', () => {
    expect(warn(['*'], 'ai')).toEqual([])
    expect(warn(['Telepathy'], 'external')).toEqual([])
    expect([toolsOfRunner(plain, 'external'), toolsOfRunner(plain, 'scout')]).toEqual([null, null])
  })
})

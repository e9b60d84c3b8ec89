import { describe, expect, it } from 'vitest'
import { isLoopback, parseSettings, projectSettingsSchema, SettingsError } from '../index.ts'

function problemsOf(environment: Record<string, string>): string[] {
  try {
    parseSettings(environment)
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
  return []
}

describe('settings', () => {
  it('refuse a limit of a sandbox in which nothing could start', () => {
    expect(problemsOf({ SANDBOX_MEMORY_BYTES_MAX: '512', SANDBOX_PROCESSES_MAX: '4' })).toEqual([
      'SANDBOX_MEMORY_BYTES_MAX: must be 0 or at least 16777216',
      'SANDBOX_PROCESSES_MAX: must be 0 or at least 16',
    ])
    expect(problemsOf({ SANDBOX_MEMORY_BYTES_MAX: '0', SANDBOX_PROCESSES_MAX: '0' })).toEqual([])
  })

  it('need nothing to be set', () => {
    expect(parseSettings({})).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 7300,
      AUTH: 'keys',
      DATA_DIR: '.muster',
      LOG_LEVEL: 'info',
      WORKSPACE_ROOTS: [],
      COMMAND_RUNNERS: {},
      SUBTASK_ENABLED: true,
      SUBTASK_WORKERS: 2,
      SUBTASK_DEFAULT_TIMEOUT: 120,
      SUBTASK_MAX_TIMEOUT: 600,
      SUBTASK_MAX_CONCURRENT: 3,
      SUBTASK_MAX_PENDING: 5,
      SUBTASK_LEASE_SECONDS: 30,
      SUBTASK_AGEING_SECONDS: 60,
    })
    expect(parseSettings({}).DATABASE_URL).toBeUndefined()
  })

  it('take empty variables for absent ones, and leave others alone', () => {
    expect(parseSettings({ PORT: '', HOST: '  ', DATABASE_URL: '', HOME: '/somewhere' })).toEqual(parseSettings({}))
  })

  it.each<[string, Record<string, string>, string[]]>([
    ['a server that is neither', { MCP_SERVERS: '{"a": {"path": "x"}}' }, ['MCP_SERVERS.a: must be {"url": "https://…", "headers": {…}} or {"command"']],
    [
      'the name of our own',
      { MCP_SERVERS: '{"Muster": {"url": "https://a.test/mcp"}}' },
      ['MCP_SERVERS.Muster: this name is that of the server of Muster itself'],
    ],
    ['a name that ends a name', { MCP_SERVERS: '{"a__b": {"command": ["x"]}}' }, ['MCP_SERVERS.a__b: a name of a server is letters and digits']],
    ['a search without its key', { WEB_SEARCH_PROVIDER: 'brave' }, ['WEB_SEARCH_API_KEY: is needed for brave']],
    ['a search without its address', { WEB_SEARCH_PROVIDER: 'searxng' }, ['WEB_SEARCH_URL: is needed for searxng']],
  ])('refuse %s', (_, environment, problems) => {
    const found = problemsOf(environment)
    expect(found).toHaveLength(problems.length)
    for (const [place, problem] of problems.entries()) expect(found[place]).toContain(problem)
  })

  it('know servers of MCP and a provider of searches', () => {
    const servers = { a: { url: 'https://a.test/mcp', headers: { Authorization: 'Bearer x' } }, 'b-2': { command: ['b', '--stdio'], env: { B: '1' } } }
    expect(parseSettings({ MCP_SERVERS: JSON.stringify(servers), WEB_SEARCH_PROVIDER: 'tavily', WEB_SEARCH_API_KEY: 'tvly-key' })).toMatchObject({
      MCP_SERVERS: servers,
      WEB_SEARCH_PROVIDER: 'tavily',
    })
    expect(parseSettings({ WEB_SEARCH_PROVIDER: 'searxng', WEB_SEARCH_URL: 'http://10.0.0.5:8080' }).WEB_SEARCH_API_KEY).toBeUndefined()
  })

  it('are read as what they are', () => {
    const settings = parseSettings({
      PORT: '0',
      SUBTASK_ENABLED: 'false',
      WORKSPACE_ROOTS: '/a: /b ::',
      DATABASE_URL: 'postgresql://muster:pw@db:5432/muster',
      COMMAND_RUNNERS: '{"scout": {"argv": ["node", "scout.mjs"], "steerable": true, "env": {"A": "b"}, "cwd": "/tmp"}}',
      DEFAULT_RUNNER: 'scout',
    })
    expect(settings).toMatchObject({ PORT: 0, SUBTASK_ENABLED: false, WORKSPACE_ROOTS: ['/a', '/b'], DEFAULT_RUNNER: 'scout' })
    expect(settings.COMMAND_RUNNERS.scout).toEqual({ argv: ['node', 'scout.mjs'], steerable: true, env: { A: 'b' }, cwd: '/tmp' })
  })

  it('say everything that is wrong at once, each with its variable', () => {
    const problems = problemsOf({
      PORT: '70000',
      AUTH: 'maybe',
      SUBTASK_WORKERS: '0',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://x/y',
      SUBTASK_ENABLED: 'yes',
      HOST: 'h',
    })
    expect(problems.map((problem) => problem.split(':')[0]).sort()).toEqual(['AUTH', 'DATABASE_URL', 'LOG_LEVEL', 'PORT', 'SUBTASK_ENABLED', 'SUBTASK_WORKERS'])
    expect(new SettingsError(problems).message).toContain('6 problems')
  })

  it('take no folder that depends on where the process was started', () => {
    expect(problemsOf({ WORKSPACE_ROOTS: '/a:b' })).toEqual(['WORKSPACE_ROOTS: must be absolute paths, separated by colons'])
  })

  it('say also what is wrong together', () => {
    const problems = problemsOf({ AUTH: 'open', HOST: '0.0.0.0', SUBTASK_DEFAULT_TIMEOUT: '900', DEFAULT_RUNNER: 'scout' })
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(['AUTH', 'SUBTASK_DEFAULT_TIMEOUT', 'DEFAULT_RUNNER'])
  })

  it.each(['127.0.0.1', 'localhost', '::1', '[::1]', 'LOCALHOST'])('allow AUTH=open on %s', (host) => {
    expect(isLoopback(host)).toBe(true)
    expect(problemsOf({ AUTH: 'open', HOST: host })).toEqual([])
  })

  it.each(['0.0.0.0', '::', '192.168.0.1', 'example.com', '127.0.0.1.example.com', 'localhost.example.com'])('refuse AUTH=open on %s', (host) => {
    expect(problemsOf({ AUTH: 'open', HOST: host })).toEqual([expect.stringContaining('AUTH: open is allowed only on a loopback HOST')])
    expect(problemsOf({ AUTH: 'keys', HOST: host })).toEqual([])
  })

  it.each([
    ['{', 'is not JSON'],
    ['[]', 'expected record'],
    ['{"scout": {}}', 'COMMAND_RUNNERS.scout.argv'],
    ['{"scout": {"argv": []}}', 'COMMAND_RUNNERS.scout.argv'],
    ['{"scout": {"argv": ["node", ""]}}', 'COMMAND_RUNNERS.scout.argv.1'],
    ['{"scout": {"argv": "node scout.mjs"}}', 'COMMAND_RUNNERS.scout.argv'],
    ['{"scout": {"argv": ["node"], "shell": true}}', 'shell'],
    ['{"scout": {"argv": ["node"], "env": {"A": 1}}}', 'COMMAND_RUNNERS.scout.env.A'],
    ['{"Scout": {"argv": ["node"]}}', 'Scout'],
    ['{"external": {"argv": ["node"]}}', 'external'],
    ['{"claude-code": {"argv": ["node"]}}', 'claude-code'],
  ])('refuse COMMAND_RUNNERS=%s', (value, reason) => {
    const problems = problemsOf({ COMMAND_RUNNERS: value })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/^COMMAND_RUNNERS/)
    expect(problems[0]).toContain(reason)
  })

  it('accept external as the default runner, and one of COMMAND_RUNNERS, and no other', () => {
    expect(problemsOf({ DEFAULT_RUNNER: 'external' })).toEqual([])
    expect(problemsOf({ DEFAULT_RUNNER: 'toString' })).toHaveLength(1)
    expect(problemsOf({ DEFAULT_RUNNER: 'valueof' })).toHaveLength(1)
  })
})

describe('the settings of a project', () => {
  it('take limits for all agents and for single ones, and nothing unknown', () => {
    const limits = { pending_per_agent: 0, running_per_agent: 7, agents: { crawler: { running: 1 }, 'a/b': { pending: 2 } } }
    expect(projectSettingsSchema.safeParse({ limits }).success).toBe(true)
    expect(projectSettingsSchema.safeParse({}).success).toBe(true)
    expect(projectSettingsSchema.safeParse({ limits: { running_per_agent: -1 } }).success).toBe(false)
    expect(projectSettingsSchema.safeParse({ limits: { running_per_agent: 1.5 } }).success).toBe(false)
    expect(projectSettingsSchema.safeParse({ limit: {} }).success).toBe(false)
  })
})

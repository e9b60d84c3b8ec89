import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'

// The official conformance suite of MCP, against `/mcp` as it ships. Left out are the scenarios that need a server with `test_*` tools, prompts or resources;
// (server-stateless is one of them: 22 of its 28 checks pass) and, of those that need none: logging-set-level (nothing is logged to clients), resources-subscribe and -unsubscribe (no state between two requests),
// http-custom-header-server-validation (no tool takes a header).

const program = join(dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')), 'dist', 'index.js')

let system: System
beforeAll(async () => {
  system = await startSystem({ workers: 0, env: { AUTH: 'open' } })
})
afterAll(() => system.close())

const COMMON = ['completion-complete', 'tools-list', 'resources-list', 'prompts-list', 'dns-rebinding-protection']

describe.each([
  ['2025-11-25', ['server-initialize', 'ping', ...COMMON]],
  ['2026-07-28', [...COMMON, 'caching', 'http-header-validation', 'sep-2164-resource-not-found']],
])('the conformance suite of MCP, version %s', (version, scenarios) => {
  it.each(scenarios)('%s', async (scenario) => {
    const args = [program, 'server', '--url', `${system.api.address}/mcp`, '--spec-version', version, '--scenario', scenario]
    const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: { stdout: string; stderr: string }) => error)
    const [, passed, of, failed] = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(stdout) ?? []
    expect({ output: stdout, passed, failed }).toMatchObject({ passed: of, failed: '0' })
    expect(Number(passed)).toBeGreaterThan(0)
  })
})

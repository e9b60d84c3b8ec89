import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, type Progress, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'

const run = promisify(execFile)
const folderOfProgram = join(import.meta.dirname, '..', 'apps', 'mcp')
const program = join(folderOfProgram, 'bin', 'muster-mcp.mjs')
const PATH = process.env.PATH ?? ''

let system: System
let key: string
const clients: Client[] = []
beforeAll(async () => {
  system = await startSystem({ workers: 0, env: { AUTH: 'keys' } })
  key = (await system.mintKey(['admin'])).key
})
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await system.close()
})

const options = (era: string) => (era === 'legacy' ? {} : { versionNegotiation: { mode: { pin: era } } })

async function connect(
  era: string,
  { args = [], url = system.api.address, env = { MUSTER_KEY: key } }: { args?: string[]; url?: string; env?: Record<string, string> } = {},
) {
  const client = new Client({ name: 'test', version: '1' }, options(era))
  clients.push(client)
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, '--url', url, ...args], env: { PATH, ...env } }))
  return client
}

async function call(client: Client, name: string, input: object, onprogress?: (progress: Progress) => void) {
  const { structuredContent, content } = await client.callTool({ name, arguments: { ...input } }, { ...(onprogress && { onprogress }) })
  return (structuredContent ?? JSON.parse((content as { text: string }[])[0]?.text ?? '')) as { task_id: string }
}

describe.each(['legacy', '2026-07-28'])('muster-mcp, for a client of the version %s', (era) => {
  it('has what /mcp has', async () => {
    const direct = new Client({ name: 'test', version: '1' }, options(era))
    clients.push(direct)
    await direct.connect(
      new StreamableHTTPClientTransport(new URL(`${system.api.address}/mcp?tools=all`), { requestInit: { headers: { authorization: `Bearer ${key}` } } }),
    )
    const client = await connect(era, { args: ['--tools', 'all'] })
    expect(client.getServerVersion()).toEqual(direct.getServerVersion())
    expect(client.getInstructions()).toBe(direct.getInstructions())
    expect((await client.listTools()).tools).toEqual((await direct.listTools()).tools)
    expect((await client.listPrompts()).prompts).toEqual((await direct.listPrompts()).prompts)
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual((await direct.listResourceTemplates()).resourceTemplates)
  })

  it('passes calls on, with the session, their progress and their errors', async () => {
    const client = await connect(era, { args: ['--session', 'stdio-1'] })
    const brief = { title: 'Count', instructions: 'Count the files.', acceptance: ['The number is right'] }
    const { task_id: first } = await call(client, 'create_task', brief)
    const { task_id: second } = await call(client, 'create_task', brief)
    expect(await call(client, 'get_task', { task_id: first })).toMatchObject({ task: { id: first, parent_session_id: 'stdio-1' } })
    expect(JSON.stringify(await client.readResource({ uri: `muster://tasks/${first}` }))).toContain('Count the files.')
    const seen: string[] = []
    const waiting = call(client, 'wait_for', { ids: [first, second], seconds: 30 }, ({ message }) => void seen.push(message ?? ''))
    await expect.poll(() => seen.at(-1)).toBe('0 of 2 ended')
    await call(client, 'cancel_task', { task_id: first })
    await expect.poll(() => seen.at(-1), { timeout: 5_000 }).toBe('1 of 2 ended')
    await call(client, 'cancel_task', { task_id: second })
    await waiting
    expect(await call(client, 'get_task', { task_id: 'none' })).toMatchObject({ code: 'validation_failed' })
    await expect(client.callTool({ name: 'no_such_tool' })).rejects.toThrow('There is no tool no_such_tool')
  })
})

it('says what to do about a wrong key, a wrong address and an option that it does not know', async () => {
  const fails = (args: string[], env = {}) =>
    run(process.execPath, [program, ...args], { env: { PATH, ...env } }).then(
      () => 'it ran',
      ({ code, stderr }: { code: number; stderr: string }) => `${code} ${stderr.split('\n')[0]}`,
    )
  expect(await fails(['--url', system.api.address], { MUSTER_KEY: 'wrong' })).toMatch(/^1 muster-mcp: Muster at \S+ refuses the key: set MUSTER_KEY/)
  expect(await fails(['--url', 'http://127.0.0.1:9'])).toMatch(/^1 muster-mcp: No Muster answers at \S+ \(.+\): start it/)
  expect(await fails(['--url', 'ftp://muster'])).toMatch(/^2 muster-mcp: --url must be an address/)
  expect(await fails(['--key', 'secret'])).toMatch(/^2 muster-mcp: Unknown option '--key'/)
})

it('asks below the path of the address, whatever that ends with', async () => {
  const asked: (string | undefined)[] = []
  const server = createServer(({ url }, response) => {
    asked.push(url)
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    for (const [path, expected] of [
      ['', '/mcp'],
      ['/mcp/', '/mcp'],
      ['/team', '/team/mcp'],
      ['/muster-mcp', '/muster-mcp/mcp'],
    ] as const) {
      asked.length = 0
      await run(process.execPath, [program, '--url', `${origin}${path}`], { env: { PATH } }).catch(() => {})
      expect([path, asked[0]]).toEqual([path, expected])
    }
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
})

it('survives a Muster that stops and comes back', async () => {
  const own = await startSystem({ workers: 0, env: { AUTH: 'open' } })
  try {
    const client = await connect('legacy', { url: own.api.address, env: {} })
    await own.api.child.end('SIGTERM')
    await expect(client.callTool({ name: 'list_tasks' })).rejects.toThrow(
      /Muster at \S+ did not answer \(ECONNREFUSED\)\. What was asked for may still happen\./,
    )
    await own.startApi({ PORT: new URL(own.api.address).port })
    expect(await call(client, 'list_tasks', {})).toMatchObject({ tasks: [] })
  } finally {
    await own.close()
  }
})

it('runs as the package that npm makes of it, in an empty folder', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'muster-mcp-'))
  try {
    const { stdout: name } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: folderOfProgram })
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, join(folder, name.trim())], { cwd: folder })
    const { stdout } = await run('npx', ['--no-install', 'muster-mcp', '--help'], { cwd: folder })
    expect(stdout).toContain('Usage: npx muster-mcp')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

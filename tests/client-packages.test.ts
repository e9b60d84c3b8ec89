import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Muster } from '@muster/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonWith } from '../scripts/check/python-venv.ts'
import { openBrowser, openPage } from './harness/browser.ts'
import { runJourney } from './harness/journey.ts'
import { type System, startSystem } from './harness/system.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const PYTHON_CLIENT = join(ROOT, 'clients', 'python')
const BUN = 'bun@1.4.5'
const LONG = 180_000
const run = promisify(execFile)

let system: System
let folder: string
let environment: NodeJS.ProcessEnv
let muster: Muster

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-packages-'))
  system = await startSystem({ workers: 2, env: { AUTH: 'keys', SUBTASK_LEASE_SECONDS: '2' } })
  const { key } = await system.mintKey()
  muster = new Muster({ url: system.api.address, key })
  environment = { PATH: process.env.PATH, HOME: process.env.HOME, MUSTER_URL: system.api.address, MUSTER_KEY: key, RUNNER: 'act' }
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await system.close()
})

/** What both languages have to have seen. */
interface Told {
  spawn: { id: string; inbox: string[] }
  steer: { messages: string[] }
  judge: unknown
}

async function journey(program: string, args: string[], cwd: string): Promise<Told> {
  return (await runJourney({ system, muster }, [program, ...args], { cwd, env: environment })) as Told
}

function expectJourneys({ spawn, steer, judge }: Told): void {
  expect(spawn).toEqual({ id: spawn.id, status: 'completed', attempt: 2, ends: 1, inbox: [spawn.id] })
  expect(steer).toMatchObject({ revision: 2, refused: ['revision_stale', 'outputs_missing'], status: 'completed' })
  expect(steer.messages).toEqual([expect.stringContaining('[Task Assignment: Describe the functions]'), expect.stringContaining('Leave out the tests.')])
  expect(judge).toEqual({ fedBack: true, recommendations: expect.arrayContaining(['request_revision', 'approve']) })
}

const packed = new Map<string, string>()

/** Packs a package of this repository as it would be published, once. Returns the path of the archive. */
async function pack(name: string): Promise<string> {
  const before = packed.get(name)
  if (before !== undefined) return before
  const destination = join(folder, 'packed', name)
  const command = ['--yes', 'pnpm@12.21.0', 'pack', '--pack-destination', destination]
  await run('npx', command, { cwd: join(ROOT, name), env: { ...process.env, CI: 'true' } })
  const [archive = ''] = await readdir(destination)
  packed.set(name, join(destination, archive))
  return join(destination, archive)
}

/** The examples of a README as one program. */
async function examplesOf(readme: string, language: string): Promise<string> {
  const text = await readFile(readme, 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, code]) => code).join('\n')
}

/** A site as an application has one: a page, the client as a module, and Muster behind the same origin. */
async function startSite(client: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { url = '/', headers, method = 'GET' } = request
    if (url === '/') return void response.setHeader('content-type', 'text/html').end('<!doctype html><title>Site</title><link rel="icon" href="data:,">')
    if (url.startsWith('/client/'))
      return void response.setHeader('content-type', 'text/javascript').end(await readFile(join(client, url.slice('/client/'.length))))
    const answer = await fetch(new URL(url, system.api.address), { method, headers: { authorization: headers.authorization ?? '' } })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
    for await (const chunk of answer.body ?? []) response.write(chunk)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

describe('@muster/client, packed and installed into an empty project', () => {
  let project: string
  beforeAll(async () => {
    project = join(folder, 'typescript')
    await mkdir(project)
    await writeFile(join(project, 'package.json'), '{"type": "module"}')
    await run('npm', ['install', '--no-audit', '--no-fund', '--offline', await pack('packages/client')], { cwd: project })
    await writeFile(join(project, 'readme.ts'), await examplesOf(join(ROOT, 'packages', 'client', 'README.md'), 'ts'))
    await copyFile(new URL('./client/journeys.ts.txt', import.meta.url), join(project, 'journeys.ts'))
    const compilerOptions = {
      target: 'ES2022',
      module: 'NodeNext',
      strict: true,
      typeRoots: [join(ROOT, 'node_modules', '@types')],
      types: ['node'],
      outDir: 'dist',
    }
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['readme.ts', 'journeys.ts'] }))
  }, LONG)

  it('brings nothing else, and compiles under strict without skipping its own declarations', async () => {
    expect((await readdir(join(project, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual(['@muster'])
    const compiled = await run(process.execPath, [TSC, '--project', project]).catch(({ stdout }: { stdout: string }) => ({ stdout }))
    expect(compiled.stdout).toBe('')
  })

  it('does what its README shows', async () => {
    const { stdout } = await run(process.execPath, [join(project, 'dist', 'readme.js')], { env: environment })
    for (const line of [/^completed /m, /^subtask\.completed$/m, /^not_found /m, /Done, with 0 updates\./, /'act'/]) expect(stdout).toMatch(line)
  })

  it(
    'makes the journeys: spawn over the death of a worker, brief and steer, judge',
    async () => {
      expectJourneys(await journey(process.execPath, [join(project, 'dist', 'journeys.js')], project))
    },
    LONG,
  )

  it('reads and follows in a browser', async () => {
    const { id } = await muster.subtasks.spawn({ task: 'Be read in a browser.', runner: 'act' }).result()
    const server = await startSite(join(project, 'node_modules', '@muster', 'client', 'dist'))
    const browser = await openBrowser()
    try {
      const { page, errors } = await openPage(await browser.newContext())
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      const seen = await page.evaluate(`(async () => {
        const { Muster, MusterError } = await import('/client/index.js')
        const muster = new Muster({ url: location.origin, key: ${JSON.stringify(environment.MUSTER_KEY)} })
        const listed = await muster.subtasks.list({ limit: 1 }).all()
        const events = []
        for await (const { type } of muster.subtasks.handle('${id}').events()) events.push(type)
        const missing = await muster.subtasks.get(crypto.randomUUID()).catch((error) => MusterError.is(error) && error.code)
        return { status: (await muster.subtasks.get('${id}')).status, isListed: listed.some((each) => each.id === '${id}'), last: events.at(-1), missing }
      })()`)
      expect({ seen, errors }).toEqual({ seen: { status: 'completed', isListed: true, last: 'subtask.completed', missing: 'not_found' }, errors: [] })
    } finally {
      await browser.close()
      server.closeAllConnections()
      server.close()
    }
  })

  it(
    'does what its README shows in Bun',
    async ({ skip }) => {
      const home = join(folder, 'bun')
      await mkdir(home)
      const installed = await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', home, BUN]).then(
        () => '',
        ({ stderr }: { stderr: string }) => stderr,
      )
      if (installed !== '') skip(`not run: Bun cannot be installed: ${installed.slice(0, 300)}`)
      const { stdout } = await run(join(home, 'node_modules', '.bin', 'bun'), [join(project, 'dist', 'readme.js')], { env: environment })
      for (const line of [/^completed /m, /^subtask\.completed$/m, /^not_found /m, /Done, with 0 updates\./, /act/]) expect(stdout).toMatch(line)
    },
    LONG,
  )

  it('imports in a runtime without modules of Node', async () => {
    const sources = (await readdir(join(project, 'node_modules', '@muster', 'client', 'dist'), { recursive: true })).filter((name) => name.endsWith('.js'))
    for (const name of sources) {
      const imports = (await readFile(join(project, 'node_modules', '@muster', 'client', 'dist', name), 'utf8')).match(/from '[^.][^']*'/g)
      expect(imports, name).toBeNull()
    }
  })
})

describe('muster, packed with the client and the bridge, and installed into an empty project', () => {
  let project: string
  beforeAll(async () => {
    project = join(folder, 'cli')
    await mkdir(project)
    const tarballs: string[] = []
    for (const name of ['packages/client', 'apps/mcp', 'apps/cli']) tarballs.push(await pack(name))
    await writeFile(join(project, 'package.json'), '{"type": "module"}')
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], { cwd: project })
  }, LONG)

  const cli = (...args: string[]) => run(join(project, 'node_modules', '.bin', 'muster'), args, { cwd: project, env: environment })

  it('starts work and shows it, and hands over to the bridge', async () => {
    const { stdout } = await cli('spawn', '--json', '--wait', '60', '--runner', 'act', 'From a package.')
    const { id, status } = JSON.parse(stdout) as { id: string; status: string }
    expect(status).toBe('completed')
    expect((await cli('follow', id)).stdout).toContain('Done: From a package.')
    expect((await cli('mcp', '--', '--help')).stdout).toContain('Usage: npx muster-mcp')
  })

  it('says that the server needs a checkout', async () => {
    await expect(cli('up')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('needs a checkout of Muster') })
  })
})

describe('muster-client, built and installed into an empty venv', () => {
  let python: string
  beforeAll(async () => {
    const builder = await pythonWith(['hatchling==1.27.0', 'mypy==2.4.1'])
    const venv = join(folder, 'venv')
    python = join(venv, 'bin', 'python')
    await run(builder, ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--no-build-isolation', '--wheel-dir', folder, PYTHON_CLIENT])
    await run('python3', ['-m', 'venv', venv])
    const [wheel = ''] = (await readdir(folder)).filter((name) => name.endsWith('.whl'))
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', join(folder, wheel)])
  }, LONG)

  it(
    'brings httpx and pydantic and what they need, and is typed under strict',
    async () => {
      const { stdout } = await run(python, ['-c', 'import importlib.metadata as m; print(sorted(r.split(">")[0] for r in m.requires("muster-client")))'])
      expect(stdout.trim()).toBe("['httpx', 'pydantic']")
      const builder = await pythonWith(['hatchling==1.27.0', 'mypy==2.4.1'])
      await writeFile(join(folder, 'readme.py'), await examplesOf(join(PYTHON_CLIENT, 'README.md'), 'python'))
      await copyFile(new URL('./client/journeys.py', import.meta.url), join(folder, 'journeys.py'))
      const options = ['--strict', '--python-executable', python, '--cache-dir', join(folder, 'mypy')]
      const files = [join(folder, 'readme.py'), join(folder, 'journeys.py'), '-p', 'muster_client']
      for (const what of [files.slice(0, 1), files.slice(1, 2), files.slice(2)]) {
        const checked = await run(builder, ['-m', 'mypy', ...options, ...what]).catch(({ stdout }: { stdout: string }) => ({ stdout }))
        expect(checked.stdout).toMatch(/^Success/)
      }
    },
    LONG,
  )

  it('does what its README shows', async () => {
    const { stdout } = await run(python, [join(folder, 'readme.py')], { env: environment })
    for (const line of [/^completed /m, /^subtask\.completed$/m, /^not_found /m, /^Done, with 0 updates\.$/m, /'act'/]) expect(stdout).toMatch(line)
  })

  it(
    'makes the journeys: spawn over the death of a worker, brief and steer, judge',
    async () => {
      expectJourneys(await journey(python, [join(folder, 'journeys.py')], folder))
    },
    LONG,
  )

  it('decides by answers as its tests say', async () => {
    const { stderr } = await run(python, ['-m', 'unittest', 'discover', '--start-directory', join(PYTHON_CLIENT, 'tests')])
    expect(stderr).toMatch(/^OK$/m)
  })

  it(
    'has a worker that fails, hears, stops, asks and returns as that of TypeScript does',
    async () => {
      const { stdout } = await run(python, [fileURLToPath(new URL('./client/worker.py', import.meta.url))], { env: environment })
      expect(JSON.parse(stdout)).toEqual({
        never: ['failed', 1],
        heard: 'Heard: Leave the tests out.',
        receipts: ['acknowledged'],
        cancelled: 'cancelled',
        painted: ['Port 5432. Blue it is.', 2, 0],
        returned: 'pending',
        stopped: ['cancelled', 'worker_stopped'],
      })
    },
    LONG,
  )

  it(
    'has the models that openapi.yaml makes',
    async () => {
      await run(process.execPath, [join(ROOT, 'scripts', 'check', 'python-client.ts'), '--models'])
    },
    LONG,
  )
})

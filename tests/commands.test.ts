import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removeLocalPostgres } from '@muster/local-postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Child } from './harness/child.ts'
import { Client } from './harness/client.ts'
import { isAlive, until } from './harness/until.ts'

const RUN = fileURLToPath(new URL('../scripts/run.mjs', import.meta.url))
const MINUTE_MS = 60_000

let folder: string
let started: Child[]

beforeEach(async () => {
  started = []
  folder = await mkdtemp(join(tmpdir(), 'muster commands '))
  await chmod(folder, 0o755)
})
afterEach(async () => {
  await Promise.all(started.filter((child) => !child.hasExited).map((child) => child.end('SIGTERM', 30_000)))
  for (const name of await readdir(folder)) await removeLocalPostgres(join(folder, name, 'postgres'))
  await rm(folder, { recursive: true, force: true })
})

/** A command of package.json, as npm runs it, with a data folder of its own inside of this test's. */
function command(argv: readonly string[], env: Record<string, string> = {}): Child {
  const child = new Child({
    name: `npm run ${argv.join(' ')}`,
    argv: [process.execPath, RUN, ...argv],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  })
  started.push(child)
  return child
}

async function start(dataDir: string, env: Record<string, string> = {}): Promise<{ child: Child; client: Client; pids: number[] }> {
  const child = command(['start'], { PORT: '0', DATA_DIR: dataDir, ...env })
  const { raw } = await child.line(({ raw }) => raw.startsWith('Muster is up: http'), { timeoutMs: MINUTE_MS })
  const address = raw.split(': ')[1]?.trim() as string
  return { child, client: new Client(address, null, () => {}), pids: [child.pid, ...(await recordedPids(dataDir))] }
}

/** The starter, the API, the worker and PostgreSQL of a data folder. */
async function recordedPids(dataDir: string): Promise<number[]> {
  const run = JSON.parse(await readFile(join(dataDir, 'run.json'), 'utf8')) as { starter: { pid: number }; children: Record<string, { pid: number }> }
  const { server } = JSON.parse(await readFile(join(dataDir, 'postgres', 'server.json'), 'utf8')) as { server: { pid: number } }
  return [run.starter.pid, ...Object.values(run.children).map(({ pid }) => pid), server.pid]
}

const SCOPES = 'subtasks:read,subtasks:write'

describe('npm run demo', () => {
  it(
    'plays the main jobs to their ends, and leaves nothing behind',
    async () => {
      // Its own temporary folder is made inside of ours, to see that it goes.
      const child = command(['demo'], { TMPDIR: folder })
      const { code } = await child.exited

      expect({ code, text: child.text }).toMatchObject({ code: 0, text: expect.stringMatching(/Everything went as it should, in \d+\.\d s\./) })
      const ofSubtasks = ['completed', 'cancelled', 'acknowledged', 'each came once']
      const ofBriefs = [
        '[Task Assignment: ',
        '[Task Update: Instructions Modified]',
        '[Task Update: Note]',
        'outputs_missing',
        'task.completed',
        'against revision 2',
      ]
      const ofChecks = ['sum-adds: unmet, exit code 1', 'sum-adds: met, exit code 0']
      for (const told of [...ofSubtasks, ...ofBriefs, ...ofChecks]) expect(child.text).toContain(told)
      expect(await readdir(folder)).toEqual([])
    },
    MINUTE_MS,
  )
})

describe('npm start', () => {
  it(
    'runs twice side by side, one of them with keys from npm run key, ends everything on SIGTERM, and starts again after all was killed',
    async () => {
      const [openDir, keyedDir] = [join(folder, 'open'), join(folder, 'with keys')]
      const [open, keyed] = await Promise.all([start(openDir), start(keyedDir, { AUTH: 'keys' })])
      const subtask = await open.client.spawn({ task: 'Inspect examples', parent_session_id: 'parent' })
      expect((await keyed.client.call('GET', '/subtasks')).status).toBe(401)

      const create = command(['key', 'create', '--name', 'test', '--scopes', SCOPES], { DATA_DIR: keyedDir, AUTH: 'keys' })
      expect(await create.exited).toMatchObject({ code: 0 })
      const key = create.lines.find(({ raw }) => raw.startsWith('mst_'))?.raw ?? ''
      const caller = keyed.client.as(key)
      const second = await caller.spawn({ task: 'Inspect scripts' })
      expect(await caller.ended(second.id)).toMatchObject({ status: 'completed' })
      // One knows nothing of the other.
      expect((await caller.call('GET', `/subtasks/${subtask.id}`)).status).toBe(404)
      expect(keyed.child.text).not.toContain(key)
      expect(await open.client.ended(subtask.id)).toMatchObject({ status: 'completed' })

      expect(await keyed.child.end('SIGTERM', 30_000)).toEqual({ code: 0, signal: null })
      await until('nothing of it is left', () => !keyed.pids.some(isAlive))
      expect(open.pids.filter(isAlive)).toEqual(open.pids)

      for (const pid of open.pids) process.kill(pid, 'SIGKILL')
      await open.child.exited
      const again = await start(openDir)
      expect(await again.client.get(subtask.id)).toMatchObject({ status: 'completed' })
      expect((await again.client.inbox('parent')).map((item) => item.subtask_id)).toEqual([subtask.id])
      const third = await again.client.spawn({ task: 'Inspect docs' })
      expect(await again.client.ended(third.id)).toMatchObject({ status: 'completed' })
      expect(await again.child.end('SIGTERM', 30_000)).toEqual({ code: 0, signal: null })
      await until('nothing of it is left', () => !again.pids.some(isAlive))
    },
    2 * MINUTE_MS,
  )
})

describe('a command that does not exist', () => {
  it('is answered with those that do', async () => {
    const child = command(['strat'])
    expect((await child.exited).code).toBe(2)
    for (const name of ['start', 'demo', 'test', 'key', 'migrate', 'check']) expect(child.text).toContain(name)
  })
})

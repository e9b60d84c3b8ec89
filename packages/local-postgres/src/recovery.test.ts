import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { identifyProcess, isRunning, type LocalPostgres, removeLocalPostgres, startLocalPostgres, waitUntil } from './index.ts'

const isRoot = process.getuid?.() === 0
const PACKAGE = new URL('./index.ts', import.meta.url).href

let root: string
let dataDir: string
const servers: LocalPostgres[] = []
const children: ChildProcess[] = []

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster recovery-'))
  await chmod(root, 0o755)
  dataDir = join(root, 'data')
})

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child)
  for (const server of servers.splice(0)) await server.stop('immediate')
  await removeLocalPostgres(dataDir)
  await rm(root, { recursive: true, force: true })
})

async function start(log?: (line: string) => void): Promise<LocalPostgres> {
  const server = await startLocalPostgres({ dataDir, settings: { fsync: 'off' }, ...(log === undefined ? {} : { log }) })
  servers.push(server)
  return server
}

/** Starts a server from a process of its own, of another user if asked, which then waits to be killed. Says what the process printed: the server's pid, or an error. */
async function startElsewhere(ids?: { uid: number; gid: number }): Promise<{ child: ChildProcess; said: { pid?: number; cluster?: string; error?: string } }> {
  const program = `
    import { startLocalPostgres } from ${JSON.stringify(PACKAGE)}
    // Only now another user: the checkout may be in a folder that only its owner can enter.
    ${ids === undefined ? '' : `process.setgroups([]); process.setgid(${ids.gid}); process.setuid(${ids.uid})`}
    try {
      const server = await startLocalPostgres({ dataDir: ${JSON.stringify(dataDir)}, settings: { fsync: 'off' } })
      console.log(JSON.stringify({ pid: server.pid }))
      setInterval(() => undefined, 1000)
    } catch (error) {
      console.log(JSON.stringify({ error: error.code ?? error.stack }))
    }`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'], cwd: '/' })
  children.push(child)
  for await (const line of createInterface({ input: child.stdout })) return { child, said: JSON.parse(line) }
  throw new Error('the process ended without output')
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function clusterOf(folder: string): Promise<string> {
  return readFile(join(folder, 'location'), 'utf8').then(
    (text) => text.trim(),
    () => join(folder, 'cluster'),
  )
}

describe('after everything was killed', () => {
  it('ends the server that outlived its starter, and starts', async () => {
    const { child, said } = await startElsewhere()
    const orphan = identifyProcess(said.pid ?? 0)
    await kill(child)
    expect(orphan && isRunning(orphan)).toBe(true)

    const lines: string[] = []
    const server = await start((line) => lines.push(line))

    expect(orphan && isRunning(orphan)).toBe(false)
    expect(server.pid).not.toBe(said.pid)
    expect(lines).toContain(`ending the PostgreSQL that an earlier start left behind (process ${said.pid})`)
  })

  it('starts over the lock file of a killed server', async () => {
    const { child, said } = await startElsewhere()
    process.kill(said.pid ?? 0, 'SIGKILL')
    await kill(child)
    await expect(stat(join(await clusterOf(dataDir), 'postmaster.pid'))).resolves.toBeDefined()

    await expect(start()).resolves.toMatchObject({ dataDir })
  })

  it('starts when the pid of the lock file is another program by now, and leaves that alone', async () => {
    const first = await start()
    await first.kill()
    const cluster = await clusterOf(dataDir)
    const owner = await stat(cluster)
    // As the server's own user: PostgreSQL itself takes only pids of that user for alive.
    const stranger = spawn('sleep', ['60'], isRoot ? { uid: owner.uid, gid: owner.gid, cwd: '/' } : {})
    children.push(stranger)
    await once(stranger, 'spawn')
    const lock = await readFile(join(cluster, 'postmaster.pid'), 'utf8')
    await writeFile(join(cluster, 'postmaster.pid'), lock.replace(/^\d+/, String(stranger.pid)))

    await first.restart()

    expect(stranger.exitCode).toBeNull()
    expect(stranger.signalCode).toBeNull()
  })

  it('clears away what an interrupted initdb left', async () => {
    await mkdir(join(dataDir, 'cluster.new-999999999-beef'), { recursive: true })

    await start()

    expect((await readdir(dataDir)).filter((name) => name.startsWith('cluster.new'))).toEqual([])
  })
})

describe('one data folder', () => {
  it('serves one starter at a time', async () => {
    const { child, said } = await startElsewhere()

    await expect(start()).rejects.toMatchObject({ code: 'already_running', message: expect.stringContaining(`process ${child.pid}`) })
    expect(identifyProcess(said.pid ?? 0)).toBeDefined()
  })

  it('goes to exactly one of two that start at once', async () => {
    const both = await Promise.all([startElsewhere(), startElsewhere()])

    expect(both.map(({ said }) => said.error ?? 'started').sort()).toEqual(['already_running', 'started'])
  })
})

describe('the end of the starter', () => {
  it('ends the server when the process exits by itself', async () => {
    const program = `
      import { startLocalPostgres } from ${JSON.stringify(PACKAGE)}
      const server = await startLocalPostgres({ dataDir: ${JSON.stringify(dataDir)}, settings: { fsync: 'off' } })
      console.log(server.pid)
      process.exit(1)`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    let pid = 0
    for await (const line of createInterface({ input: child.stdout })) pid = Number(line)
    // It has closed its output before: until it has gone, the data folder is its own.
    await exited

    expect(pid).toBeGreaterThan(0)
    expect(await waitUntil(() => identifyProcess(pid) === undefined, 10_000)).toBe(true)
  })
})

describe.runIf(isRoot)('as root', () => {
  it('keeps the data where the server can reach them when it cannot enter the folder', async () => {
    await chmod(root, 0o700)
    const systemDir = await mkdtemp(join(tmpdir(), 'muster-system-'))
    await chmod(systemDir, 0o755)
    const options = { dataDir, systemDir, settings: { fsync: 'off' } }

    const first = await startLocalPostgres(options)
    await first.stop()
    const cluster = await clusterOf(dataDir)
    const second = await startLocalPostgres(options)
    await second.stop()

    expect(cluster.startsWith(join(systemDir, 'data'))).toBe(true)
    expect((await stat(cluster)).mode & 0o777).toBe(0o700)
    expect(await clusterOf(dataDir)).toBe(cluster)
    await removeLocalPostgres(dataDir)
    await expect(stat(cluster)).rejects.toMatchObject({ code: 'ENOENT' })
    await rm(systemDir, { recursive: true })
  })

  it('leaves the data folder of an ordinary user alone, and the other way round', async () => {
    const ids = { uid: 65_534, gid: 65_534 }
    await (await start()).stop()
    expect((await startElsewhere(ids)).said.error).toBe('data_folder_not_yours')

    for (const name of ['.', ...(await readdir(dataDir, { recursive: true }))]) await chown(join(dataDir, name), ids.uid, ids.gid)
    await expect(start()).rejects.toMatchObject({ code: 'data_folder_not_yours' })
  })
})

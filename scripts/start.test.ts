import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { identifyProcess, removeLocalPostgres } from '@muster/local-postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

/** `npm start` without npm: what it prints, and how it ended. */
type Start = { child: ChildProcess; lines: string[]; up: Promise<string>; ended: Promise<number | null> }

let dataDir: string
const starts: Start[] = []

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'muster start-'))
  await chmod(dataDir, 0o755)
})

afterEach(async () => {
  for (const { child, ended } of starts.splice(0)) {
    child.kill('SIGTERM')
    await ended
  }
  await removeLocalPostgres(join(dataDir, 'postgres'))
  await rm(dataDir, { recursive: true, force: true })
})

function start(environment: Record<string, string> = {}): Start {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'start.ts')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, PORT: '0', DATA_DIR: dataDir, ...environment },
  })
  const lines: string[] = []
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const up = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line)
        const address = /^Muster is up: (\S+)$/.exec(line)?.[1]
        if (address !== undefined) resolve(address)
      })
    }
    void ended.then((code) => reject(new Error(`ended with ${code}: ${lines.join('\n')}`)))
  })
  // A start that is meant to fail is asked for its end, not for its address.
  up.catch(() => undefined)
  const started = { child, lines, up, ended }
  starts.push(started)
  return started
}

async function pidsOf(folder: string): Promise<number[]> {
  const record = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as { children: Record<string, { pid: number }> }
  const server = JSON.parse(await readFile(join(folder, 'postgres', 'server.json'), 'utf8')) as { server: { pid: number } }
  return [...Object.values(record.children).map(({ pid }) => pid), server.server.pid]
}

describe('npm start', () => {
  it('answers where it says, and ends everything on SIGTERM', async () => {
    const running = start()
    const address = await running.up
    const pids = await pidsOf(dataDir)

    expect((await fetch(`${address}/readyz`)).status).toBe(200)
    expect(pids).toHaveLength(3)
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
    expect(pids.filter((pid) => identifyProcess(pid) !== undefined)).toEqual([])
    expect(await readdir(dataDir)).not.toContain('run.json')
  })

  it('prints a first call that works as it is pasted', async () => {
    const running = start()
    await running.up
    const curl = running.lines.find((line) => line.trimStart().startsWith('curl '))
    const shell = spawn('/bin/sh', ['-c', curl ?? 'false'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let answer = ''
    for await (const chunk of shell.stdout) answer += String(chunk)

    expect(JSON.parse(answer)).toMatchObject({ runner: 'scout', status: 'pending' })
  })

  it('refuses a folder that another one uses, and says which process that is', async () => {
    const first = start()
    const address = await first.up

    const second = start()

    expect(await second.ended).toBe(1)
    expect(second.lines.join('\n')).toMatch(new RegExp(`already running .* at ${address} \\(process ${first.child.pid}\\)`))
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
  })

  it('starts again after everything was killed, and ends what was left', async () => {
    const first = start()
    await first.up
    const [api, worker, postgres] = (await pidsOf(dataDir)) as [number, number, number]
    first.child.kill('SIGKILL')
    await first.ended
    process.kill(api, 'SIGKILL')

    const second = start()
    const address = await second.up

    expect((await fetch(`${address}/readyz`)).status).toBe(200)
    expect([worker, postgres].filter((pid) => identifyProcess(pid) !== undefined)).toEqual([])
  })

  it('brings a worker back that was killed', async () => {
    const running = start()
    await running.up
    const [, worker] = (await pidsOf(dataDir)) as [number, number]
    const back = new Promise<void>((resolve) => {
      createInterface({ input: running.child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
        if (/worker ready/.test(line)) resolve()
      })
    })

    process.kill(worker, 'SIGKILL')
    await back

    expect(running.lines.join('\n')).toMatch(/the worker has ended \(signal SIGKILL\); starting it again/)
  })

  it('says who has the port, before it starts anything', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    const { port } = squatter.address() as { port: number }

    const running = start({ PORT: String(port) })

    expect(await running.ended).toBe(1)
    expect(running.lines.join('\n')).toContain(`Port ${port} on 127.0.0.1 is already taken by process ${process.pid}`)
    expect(await readdir(dataDir)).toEqual([])
    squatter.close()
  })
})

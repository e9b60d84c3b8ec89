import { execFile, spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '@muster/local-postgres'
import type { Bench } from '../instrument/figure.ts'
import { type connections, type HttpTarget, sendJson } from '../instrument/http-rate.ts'
import { keep } from '../instrument/live.ts'
import { startApi } from './api.ts'
import { startMusterWorker } from './muster.ts'

/** The text of a task of 500 bytes. */
const TASK = `Do nothing, and say so. ${'Say it again. '.repeat(34)}`.slice(0, 500)
const PEERS = fileURLToPath(new URL('../peers/', import.meta.url))
const PROCESSES = fileURLToPath(new URL('../processes/', import.meta.url))
const LANGGRAPH = join(PEERS, 'langgraph')
/** Where checks, compilers and git do not look. */
const VENV = fileURLToPath(new URL('../../node_modules/.cache/bench-langgraph/', import.meta.url))
const CAPACITY = 100
const START_MS = 60_000
/** How long the job of a killed worker is waited for. */
const KILLED_MS = 45_000

type Agent = ReturnType<typeof connections>

/** A system behind HTTP that runs jobs in a worker process and keeps their results. */
export interface Door extends AsyncDisposable {
  /** Its processes, PostgreSQL included where it has one; without the client. */
  pids: number[]
  /** The database, for the number of its transactions; null without one. */
  database: { name: string } | null
  /** Submits a job that does nothing. Resolves with its id when the client has the result. */
  runJob(agent: Agent, index: number): Promise<string>
  /** Where a result is read later, and how; null where it is not kept. */
  result: { target: HttpTarget; path(id: string): string } | null
}

/** Starts a system with one worker process that runs up to 100 jobs at once. */
export type OpenDoor = (bench: Bench) => Promise<Door>

/** Installs the pinned versions of the peers beside the workspace, where they are not. @throws the error of npm */
export async function installPeers(): Promise<void> {
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: PEERS, timeout: 180_000 })
}

/** The same for LangGraph's server, where Python is there. @throws the error of Python or pip */
export async function installLangGraph(): Promise<void> {
  const run = promisify(execFile)
  await run('python3', ['-m', 'venv', VENV], { timeout: 60_000 })
  await run(join(VENV, 'bin/pip'), ['install', '--quiet', '--requirement', join(LANGGRAPH, 'requirements.txt')], { timeout: 300_000 })
}

/** A program of a peer. Ends with the measurement, at once: nothing of it is kept. */
async function startPeer(bench: Bench, name: string, command: string, args: string[], env: Record<string, string>, ready: RegExp, cwd = PEERS) {
  const logFile = join(bench.folder, `${name}-${process.hrtime.bigint()}.log`)
  const output = openSync(logFile, 'a', 0o600)
  const child = spawn(command, args, { cwd, env: { PATH: process.env.PATH ?? '', HOME: bench.folder, ...env }, stdio: ['ignore', output, output] })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()))
  const log = () => readFileSync(logFile, 'utf8')
  const kill = async () => {
    child.kill('SIGKILL')
    await gone
  }
  const started = keep({ pid: child.pid ?? 0, log, kill }, kill)
  for (const untilMs = Date.now() + START_MS; ; await sleep(20)) {
    const found = ready.exec(log())
    if (found !== null) return Object.assign(started, { ready: found[1] ?? '' })
    if (child.exitCode !== null || child.pid === undefined || Date.now() > untilMs) {
      await started[Symbol.asyncDispose]()
      throw new Error(`${name} did not start: ${log().slice(-500)}`)
    }
  }
}

export async function openMuster(bench: Bench): Promise<Door> {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await bench.server.musterDatabase())
  const api = await startApi(bench, database)
  stack.use(api.process)
  const worker = stack.use(await startMusterWorker(bench, database, { capacity: CAPACITY, runMs: 0 }))
  const target: HttpTarget = { url: api.address, headers: api.headers }
  const opened = stack.move()
  return keep(
    {
      pids: [api.process.pid, worker.pid, ...(await bench.server.pids())],
      database,
      async runJob(agent: Agent, index: number) {
        const body = JSON.stringify({ task: TASK, agent_id: `agent-${index % 5_000}`, runner: 'noop', wait_seconds: 30 })
        const { id, status } = await sendJson<{ id: string; status: string }>(agent.http, target, { method: 'POST', path: '/subtasks', body })
        if (status !== 'completed') throw new Error(`subtask ${id} is ${status}`)
        return id
      },
      result: { target, path: (id: string) => `/subtasks/${id}` },
    },
    () => opened.disposeAsync(),
  )
}

/** The least that such a front door does with the same libraries and the same PostgreSQL: see `processes/bare-api.ts`. */
export async function openBare(bench: Bench): Promise<Door> {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await bench.server.emptyDatabase())
  const node = (name: string, ready: RegExp) => startPeer(bench, name, process.execPath, [join(PROCESSES, `${name}.ts`), database.adminUrl], {}, ready)
  // The API makes the table that the worker reads, so it starts first.
  const api = stack.use(await node('bare-api', /^up (\S+)/m))
  const worker = stack.use(await node('bare-worker', /^up/m))
  const target: HttpTarget = { url: api.ready, headers: {} }
  const opened = stack.move()
  return keep(
    {
      pids: [api.pid, worker.pid, ...(await bench.server.pids())],
      database,
      async runJob(agent: Agent) {
        const body = JSON.stringify({ task: TASK })
        const { id, status } = await sendJson<{ id: string; status: string }>(agent.http, target, { method: 'POST', path: '/jobs', body })
        if (status !== 'completed') throw new Error(`job ${id} is ${status}`)
        return id
      },
      result: { target, path: (id: string) => `/jobs/${id}` },
    },
    () => opened.disposeAsync(),
  )
}

/** Restate's server with a log and storage of its own in `folder`, without a service. */
async function startRestate(bench: Bench, stack: AsyncDisposableStack) {
  const folder = await mkdtemp(join(bench.folder, 'restate-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const [ingress, admin, node, service] = [await freePort(), await freePort(), await freePort(), await freePort()]
  const env = {
    RESTATE_NODE_NAME: 'bench',
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_DISABLE_TELEMETRY: 'true',
    RUST_LOG: 'warn',
  }
  const binary = join(PEERS, 'node_modules/@restatedev/restate-server-linux-x64/bin/restate-server')
  const server = stack.use(await startPeer(bench, 'restate-server', binary, ['--base-dir', folder], env, /^/))
  const startService = async () => {
    const worker = stack.use(
      await startPeer(bench, 'restate-service', process.execPath, ['restate.mjs', String(service)], { RESTATE_LOGGING: 'ERROR' }, /^up (\S+)/m),
    )
    return worker
  }
  const register = () =>
    fetch(`http://127.0.0.1:${admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${service}` }),
    }).catch(() => null)
  const worker = await startService()
  for (const untilMs = Date.now() + START_MS; (await register())?.ok !== true; await sleep(100)) {
    if (Date.now() > untilMs) throw new Error(`restate-server does not take the service: ${server.log().slice(-500)}`)
  }
  return { server, worker, startService, url: `http://127.0.0.1:${ingress}` }
}

/** Restate: a server with storage of its own, and a service in a Node process. A result is kept by its idempotency key, for a day. */
export async function openRestate(bench: Bench): Promise<Door> {
  await using stack = new AsyncDisposableStack()
  const { server, worker, url } = await startRestate(bench, stack)
  const run = `${process.hrtime.bigint()}`
  const opened = stack.move()
  return keep(
    {
      pids: [server.pid, worker.pid],
      database: null,
      async runJob(agent: Agent, index: number) {
        const id = `${run}-${index}`
        const target = { url, headers: { 'idempotency-key': id } }
        await sendJson<string>(agent.http, target, { method: 'POST', path: '/jobs/noop', body: JSON.stringify(TASK) })
        return id
      },
      result: { target: { url, headers: {} }, path: (id: string) => `/restate/invocation/jobs/noop/${id}/output` },
    },
    () => opened.disposeAsync(),
  )
}

/** Milliseconds from kill -9 of Restate's service, which is started again at once, until its job runs again. */
export async function killRestate(bench: Bench): Promise<number> {
  await using stack = new AsyncDisposableStack()
  const { worker, startService, url } = await startRestate(bench, stack)
  await fetch(`${url}/jobs/long/send`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '"killed"' })
  await entered(worker.log)
  const killedMs = Date.now()
  await worker.kill()
  const again = await startService()
  return (await entered(again.log)) - killedMs
}

/** When a program says that the job `killed` runs, by its clock. @throws Error if it does not within 45 s */
async function entered(log: () => string): Promise<number> {
  for (const untilMs = Date.now() + KILLED_MS; Date.now() < untilMs; await sleep(10)) {
    const found = /^entered killed (\d+)/m.exec(log())
    if (found !== null) return Number(found[1])
  }
  throw new Error(`the job does not run within ${KILLED_MS / 1_000} s`)
}

/**
 * DBOS: a queue in PostgreSQL, an HTTP process that enqueues and waits, and a worker process.
 *
 * @param pollMs how often worker and waiting client look; undefined is its default, a second
 */
export const openDbos =
  (pollMs: number | undefined): OpenDoor =>
  async (bench) => {
    await using stack = new AsyncDisposableStack()
    const database = stack.use(await bench.server.emptyDatabase())
    const polls = pollMs === undefined ? [] : [String(pollMs)]
    const node = (name: string, args: string[], ready: RegExp) => startPeer(bench, name, process.execPath, args, {}, ready)
    const worker = stack.use(await node('dbos-worker', ['dbos-worker.mjs', database.adminUrl, String(CAPACITY), ...polls], /^up/m))
    const api = stack.use(await node('dbos-api', ['dbos-api.mjs', database.adminUrl, ...polls], /^up (\S+)/m))
    const target: HttpTarget = { url: api.ready, headers: {} }
    const opened = stack.move()
    return keep(
      {
        pids: [api.pid, worker.pid, ...(await bench.server.pids())],
        database,
        async runJob(agent: Agent) {
          const body = JSON.stringify({ task: TASK, workflow: 'noop' })
          return (await sendJson<{ id: string }>(agent.http, target, { method: 'POST', path: '/jobs', body })).id
        },
        result: { target, path: (id: string) => `/${id}` },
      },
      () => opened.disposeAsync(),
    )
  }

/** Milliseconds from kill -9 of one of two workers of DBOS with its defaults until the other runs its job. */
export async function killDbos(bench: Bench): Promise<number> {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await bench.server.emptyDatabase())
  const start = async (name: string, script: string, args: string[], ready: RegExp) =>
    stack.use(await startPeer(bench, name, process.execPath, [script, database.adminUrl, ...args], {}, ready))
  const workers = [await start('dbos-worker', 'dbos-worker.mjs', ['1'], /^up/m), await start('dbos-worker', 'dbos-worker.mjs', ['1'], /^up/m)]
  const api = await start('dbos-api', 'dbos-api.mjs', [], /^up (\S+)/m)
  await fetch(api.ready, { method: 'POST', body: JSON.stringify({ workflow: 'long', id: 'killed' }) })
  const runs = await Promise.race(workers.map((worker) => entered(worker.log).then(() => worker)))
  const others = workers.filter((worker) => worker !== runs)
  const killedMs = Date.now()
  await runs.kill()
  const again = await Promise.race(others.map((worker) => entered(worker.log)))
  return again - killedMs
}

/** LangGraph's development server, which keeps its runs in memory: API and 100 workers in one Python process. */
export async function openLangGraph(bench: Bench): Promise<Door> {
  const folder = await mkdtemp(join(bench.folder, 'langgraph-'))
  // It leaves files beside its graph.
  for (const file of ['graph.py', 'langgraph.json']) await cp(join(LANGGRAPH, file), join(folder, file))
  const port = await freePort()
  const args = ['dev', '--no-browser', '--no-reload', '--port', String(port), '--n-jobs-per-worker', String(CAPACITY)]
  const env = { LANGGRAPH_CLI_NO_ANALYTICS: '1', LANGSMITH_TRACING: 'false', PATH: `${join(VENV, 'bin')}:${process.env.PATH}` }
  const server = await startPeer(bench, 'langgraph', join(VENV, 'bin/langgraph'), args, env, /Starting \d+ background workers/, folder)
  const target: HttpTarget = { url: `http://127.0.0.1:${port}`, headers: {} }
  return keep(
    {
      pids: [server.pid],
      database: null,
      async runJob(agent: Agent, index: number) {
        const body = JSON.stringify({ assistant_id: 'noop', input: { task: TASK } })
        await sendJson<object>(agent.http, target, { method: 'POST', path: '/runs/wait', body })
        return String(index)
      },
      result: null,
    },
    async () => await server[Symbol.asyncDispose](),
  )
}

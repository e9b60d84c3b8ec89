import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { type Muster, MusterError, type Readiness, type ReadinessPart, type Runner, type SandboxLimits } from '@muster/client'
import type { Command } from 'commander'
import { Cli } from '../cli.ts'
import { EXIT } from '../exit-codes.ts'
import { oneLine } from '../output/text.ts'
import { RUN } from './server.ts'

/** One thing that was looked at. `unknown` where it cannot be seen from here. */
interface Finding {
  name: string
  state: 'ok' | 'problem' | 'unknown'
  detail: string
  /** What to do about it. */
  advice?: string
}

/** A clock that differs by more makes schedules and expiries surprising. */
const CLOCK_MS_MAX = 5_000
/** What the server uses where it stands on the same machine. */
const PROGRAMS = [{ name: 'git', of: 'git', without: 'The runner claude-code needs it for workspaces. Install git.' }]

const PARTS: Record<keyof Readiness['parts'], { name: string; advice: string }> = {
  process: { name: 'process', advice: 'It is stopping: start it again.' },
  database: { name: 'database', advice: 'Start PostgreSQL, and see that DATABASE_URL is right.' },
  migrations: { name: 'migrations', advice: 'Bring the database to this version: npm run migrate' },
  writes: { name: 'disk of the database', advice: 'PostgreSQL cannot write: see whether its disk is full, or whether it is a standby.' },
  queues: { name: 'queues', advice: 'See the log of the API; npm run migrate creates them.' },
  relay: { name: 'relay of events', advice: 'Events arrive late: see the log of the API, and whether PostgreSQL is overloaded.' },
  partitions: { name: 'partitions', advice: 'The next partitions are missing: see that a worker runs.' },
  history: { name: 'history of the database', advice: 'The database was restored to an earlier time: npm run restored says what may run twice.' },
}

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('look at the server and this machine, and say what to do about each problem')
    .action(async (_options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(cli.url).hostname)
      const server = await lookAtServer(cli, isLocal)
      const machine = isLocal ? await lookAtMachine() : []
      // The server that answers may be what has the port, also where npm start has not started it.
      const ownPort = server[0]?.state === 'ok' ? `port ${new URL(cli.url).port}` : undefined
      const seen = new Set(server.map(({ name }) => name))
      const findings = [...server, ...machine.filter(({ name }) => name !== ownPort && !seen.has(name))]
      const width = Math.max(...findings.map(({ name }) => name.length))
      for (const finding of findings) cli.out.line(finding, () => describe(cli, finding, width))
      const problems = findings.filter(({ state }) => state === 'problem').length
      cli.out.note(problems === 0 ? 'No problems.' : `${problems} ${problems === 1 ? 'problem' : 'problems'}.`)
      if (problems > 0) process.exitCode = EXIT.failed
    })
}

async function lookAtServer(cli: Cli, isLocal: boolean): Promise<Finding[]> {
  const muster = cli.muster({ retries: 0 })
  let readiness: Readiness
  let skewMs: number | undefined
  try {
    const startMs = Date.now()
    const { data, headers } = await muster.answer('getReadiness').catch(asReadiness)
    readiness = data
    const date = headers?.get('date')
    // The header has whole seconds.
    if (date != null) skewMs = Date.parse(date) + 500 - (startMs + Date.now()) / 2
  } catch (error) {
    const advice = isLocal
      ? 'Start it: muster up. If it listens elsewhere, say where: --url.'
      : 'See that the address is right and that no proxy or firewall is between.'
    return [{ name: 'server', state: 'problem', detail: `${cli.url}: ${(error as Error).message}`, advice }]
  }
  const parts = Object.entries(readiness.parts).map(([part, found]) => partFinding(part as keyof Readiness['parts'], found))
  const clock: Finding =
    skewMs === undefined
      ? { name: 'clock', state: 'unknown', detail: 'the server sends no Date' }
      : Math.abs(skewMs) > CLOCK_MS_MAX
        ? {
            name: 'clock',
            state: 'problem',
            detail: `differs by ${Math.round(skewMs / 1_000)} s from the server`,
            advice: 'Have both machines take their time by NTP.',
          }
        : { name: 'clock', state: 'ok', detail: 'as the server' }
  return [{ name: 'server', state: 'ok', detail: cli.url }, ...parts, clock, ...(await lookAtAccess(muster))]
}

/** A server that is not ready answers 503, with the same document. */
function asReadiness(error: unknown): { data: Readiness; headers: Headers | undefined } {
  const body = error instanceof MusterError ? (error.problem as unknown as Partial<Readiness> | undefined) : undefined
  if (body?.parts === undefined) throw error
  return { data: body as Readiness, headers: undefined }
}

function partFinding(part: keyof Readiness['parts'], { status, detail }: ReadinessPart): Finding {
  const { name, advice } = PARTS[part]
  if (status === 'ok') return { name, state: 'ok', detail: detail ?? '' }
  if (status === 'unknown') return { name, state: 'unknown', detail: detail ?? 'cannot be seen now' }
  return { name, state: 'problem', detail: detail ?? status, advice }
}

/** What a caller with this key sees: whether the key works, what runs subtasks, and what is missing. */
async function lookAtAccess(muster: Muster): Promise<Finding[]> {
  let runners: Awaited<ReturnType<Muster['server']['runners']>>
  try {
    runners = await muster.server.runners()
  } catch (error) {
    return [{ name: 'access', state: 'problem', detail: (error as Error).message, advice: 'Store a key: muster profile add <name>, or set MUSTER_KEY.' }]
  }
  const available = runners.items.filter(({ available }) => available)
  const lacking = runners.items
    .filter(({ available }) => !available)
    .map(({ name, missing }): Finding => ({ name: `runner ${name}`, state: 'unknown', detail: `not configured: ${missing.map(oneLine).join('; ')}` }))
  const usable: Finding =
    available.length === 0
      ? { name: 'runners', state: 'problem', detail: 'none can execute a subtask', advice: 'Configure one: docs/runners, or COMMAND_RUNNERS.' }
      : { name: 'runners', state: 'ok', detail: available.map(({ name, version }) => (version === undefined ? name : `${name} ${version}`)).join(', ') }
  return [{ name: 'access', state: 'ok', detail: 'the server takes this caller' }, usable, ...lacking, sandboxFinding(available), await lookAtWorkers(muster)]
}

/** As the API sees it on its machine; workers decide on theirs. */
function sandboxFinding(runners: readonly Pick<Runner, 'name' | 'sandbox' | 'sandbox_problem' | 'sandbox_limits'>[]): Finding {
  const problems = new Set(runners.flatMap(({ sandbox_problem: problem }) => problem ?? []))
  if (problems.size > 0) return { name: 'sandbox', state: 'unknown', detail: `programs run without one. ${[...problems].map(oneLine).join(' ')}` }
  const confined = runners.filter(({ sandbox }) => sandbox !== 'none')
  const limits = confined[0]?.sandbox_limits
  if (limits === undefined) return { name: 'sandbox', state: 'ok', detail: 'nothing to confine' }
  const detail = `bubblewrap, for ${confined.map(({ name }) => name).join(', ')}; ${describeLimits(limits)}`
  return limits.problem === null
    ? { name: 'sandbox', state: 'ok', detail }
    : { name: 'sandbox', state: 'unknown', detail: `${detail}. ${oneLine(limits.problem)}` }
}

function describeLimits({ memory_bytes: bytes, processes }: SandboxLimits): string {
  const memory = bytes === null ? 'any memory' : `at most ${Math.round(bytes / 1_048_576)} MiB of memory`
  return `${memory} and ${processes === null ? 'any number of' : `at most ${processes}`} processes in a sandbox`
}

async function lookAtWorkers(muster: Muster): Promise<Finding> {
  try {
    const workers = await muster.workers.list().all(100)
    const capacity = workers.reduce((sum, each) => sum + each.capacity, 0)
    const running = workers.reduce((sum, each) => sum + each.running, 0)
    if (workers.length > 0) return { name: 'workers', state: 'ok', detail: `${workers.length}, ${running} of ${capacity} slots in use` }
    return { name: 'workers', state: 'problem', detail: 'none is alive: subtasks wait', advice: 'Start a worker (npm start starts one).' }
  } catch (error) {
    return { name: 'workers', state: 'unknown', detail: (error as Error).message }
  }
}

/** What `npm start` needs here, as the checkout sees it, and the programs that runs use. */
async function lookAtMachine(): Promise<Finding[]> {
  const programs = await Promise.all(PROGRAMS.map(lookAtProgram))
  return [...(existsSync(RUN) ? await lookAtCheckout() : []), ...programs]
}

async function lookAtCheckout(): Promise<Finding[]> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [RUN, 'doctor'])
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Finding)
  } catch (error) {
    const detail = (error as { stderr?: string }).stderr || (error as Error).message
    return [{ name: 'checkout', state: 'problem', detail, advice: 'See what npm run doctor says.' }]
  }
}

async function lookAtProgram({ name, of, without }: (typeof PROGRAMS)[number]): Promise<Finding> {
  try {
    const { stdout } = await promisify(execFile)(name, ['--version'])
    return { name: of, state: 'ok', detail: oneLine(stdout) }
  } catch {
    return { name: of, state: 'unknown', detail: `not found. ${without}` }
  }
}

function describe(cli: Cli, { name, state, detail, advice }: Finding, width: number): string {
  const { green, red, yellow, dim } = cli.out.colours
  const sign = { ok: green('✓'), problem: red('✗'), unknown: yellow('–') }[state]
  const line = `${sign} ${name.padEnd(width)}  ${state === 'ok' ? dim(oneLine(detail)) : oneLine(detail)}`
  return advice === undefined ? line.trimEnd() : `${line}\n  ${' '.repeat(width)}  ${yellow(advice)}`
}

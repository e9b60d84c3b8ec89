import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Link } from './link.ts'

/** Set in the process that is in the namespace of the run. */
const INSIDE = 'MUSTER_CHAOS_NETWORK'
/** Addresses for measurements of networks (RFC 2544). They exist only within the namespaces of a run. */
const DATABASE_NET = '198.18.0'
const CLIENT_NET = '198.19.0'
/** The host of PostgreSQL, of the clients and of the receiver of webhooks. */
const HUB = 1
const FIRST_MACHINE = 10
const run = promisify(execFile)

/** A network namespace of its own, with one interface towards the database and one towards clients, webhooks and the APIs. */
export interface Seat {
  /** Where its API listens. */
  address: string
  /** What a command has to begin with so that it runs there. */
  enter: readonly string[]
  /** Nothing gets through to or from the database any more, without an error. */
  cutOff(): Promise<void>
  reconnect(): Promise<void>
  /** What netem has let through between it and the database, and what it has lost. */
  traffic(): Promise<Traffic>
}

/** Packets, or what a relay takes for them. */
export interface Traffic {
  chunks: number
  lost: number
}

export interface Network {
  /** Where the processes of all machines reach what runs beside them. */
  databaseHost: string
  clientHost: string
  /** Whether the kernel makes the delay and loss of links. */
  hasNetem: boolean
  join(link: Link): Promise<Seat>
  close(): void
}

/** Why machines cannot have network namespaces here; null if they can. */
export function missingNamespaces(): string | null {
  const can = spawnSync('unshare', ['--net', 'ip', 'link', 'add', 'chaos0', 'type', 'veth', 'peer', 'name', 'chaos1'], { encoding: 'utf8' })
  if (can.status === 0) return null
  const why = can.error?.message ?? can.stderr.trim()
  return `WITHOUT NETWORK NAMESPACES: they need Linux, root, unshare, nsenter and ip (${why}); all processes share the loopback interface`
}

/** Why the kernel makes no delay and loss; null if it does. */
export function missingNetem(): string | null {
  const can = spawnSync('unshare', ['--net', 'tc', 'qdisc', 'add', 'dev', 'lo', 'root', 'netem', 'delay', '1ms'], { encoding: 'utf8' })
  return can.status === 0 ? null : 'WITHOUT NETEM: this kernel does not have sch_netem; a TCP relay before the database makes delay and loss'
}

/** Whether this process is in the namespace of a run. */
export function isInside(environment: NodeJS.ProcessEnv): boolean {
  return environment[INSIDE] === '1'
}

/**
 * Runs this program once more in a network namespace of its own, which has no way out: what is sent to a machine that is cut off can go nowhere else.
 *
 * @returns its exit code
 */
export async function runInside(environment: NodeJS.ProcessEnv): Promise<number> {
  const [, script = '', ...options] = process.argv
  const child = spawn('unshare', ['--net', '--', process.execPath, ...process.execArgv, script, ...options], {
    stdio: 'inherit',
    env: { ...environment, [INSIDE]: '1' },
  })
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal)
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, passOn)
  // A terminal sends it to both.
  process.on('SIGINT', () => {})
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

/** Two bridges in the namespace of the run: machines are connected to them as to switches. */
export async function startNetwork(): Promise<Network> {
  const holders: ChildProcess[] = []
  const hasNetem = missingNetem() === null
  await run('ip', ['link', 'set', 'lo', 'up'])
  for (const [bridge, net] of [
    ['database', DATABASE_NET],
    ['clients', CLIENT_NET],
  ] as const) {
    await run('ip', ['link', 'add', bridge, 'type', 'bridge'])
    await run('ip', ['addr', 'add', `${net}.${HUB}/24`, 'dev', bridge])
    await run('ip', ['link', 'set', bridge, 'up'])
  }
  return {
    databaseHost: `${DATABASE_NET}.${HUB}`,
    clientHost: `${CLIENT_NET}.${HUB}`,
    hasNetem,
    async join(link) {
      const number = holders.length
      const holder = await holdNamespace()
      holders.push(holder)
      const enter = ['nsenter', '--target', String(holder.pid), '--net', '--']
      const within = (...command: string[]) => run(enter[0] as string, [...enter.slice(1), ...command])
      await within('ip', 'link', 'set', 'lo', 'up')
      for (const [bridge, net] of [
        ['database', DATABASE_NET],
        ['clients', CLIENT_NET],
      ] as const) {
        const near = `${bridge}${number}`
        await run('ip', ['link', 'add', near, 'type', 'veth', 'peer', 'name', bridge, 'netns', String(holder.pid)])
        await run('ip', ['link', 'set', near, 'master', bridge, 'up'])
        await within('ip', 'addr', 'add', `${net}.${FIRST_MACHINE + number}/24`, 'dev', bridge)
        await within('ip', 'link', 'set', bridge, 'up')
        if (!hasNetem) continue
        const netem = netemOf(link)
        await run('tc', ['qdisc', 'add', 'dev', near, 'root', 'netem', ...netem])
        await within('tc', 'qdisc', 'add', 'dev', bridge, 'root', 'netem', ...netem)
      }
      // Pulled out of the switch: both ends stay up, and hear nothing.
      const plug = (...where: string[]) => run('ip', ['link', 'set', `database${number}`, ...where]).then(() => {})
      return {
        address: `${CLIENT_NET}.${FIRST_MACHINE + number}`,
        enter,
        cutOff: () => plug('nomaster'),
        reconnect: () => plug('master', 'database'),
        async traffic() {
          const show = (dev: string) => ['-s', '-j', 'qdisc', 'show', 'dev', dev]
          const texts = await Promise.all([run('tc', show(`database${number}`)), within('tc', ...show('database'))])
          const ways = texts.map(({ stdout }) => (JSON.parse(stdout) as { packets: number; drops: number }[])[0])
          return { chunks: ways.reduce((sum, way) => sum + (way?.packets ?? 0), 0), lost: ways.reduce((sum, way) => sum + (way?.drops ?? 0), 0) }
        },
      }
    },
    close() {
      for (const holder of holders) holder.kill('SIGKILL')
    },
  }
}

/** A process whose namespace others enter. It ends with this one, and with it the interfaces. */
async function holdNamespace(): Promise<ChildProcess> {
  const namespaceOf = (pid: number) => readlink(`/proc/${pid}/ns/net`)
  const own = await namespaceOf(process.pid)
  const holder = spawn('unshare', ['--net', '--', 'cat'], { stdio: ['pipe', 'ignore', 'ignore'] })
  await new Promise<void>((resolve, reject) => {
    holder.once('error', reject)
    holder.once('spawn', resolve)
  })
  while ((await namespaceOf(holder.pid as number)) === own) await sleep(5)
  return holder
}

/** Each way of a machine's interfaces has the whole delay of its link. */
function netemOf({ delayMs, jitterMs, loss }: Link): string[] {
  return ['delay', `${delayMs + jitterMs / 2}ms`, `${jitterMs / 2}ms`, 'loss', `${loss * 100}%`]
}

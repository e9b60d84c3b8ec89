import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findUserModeLinux, type UserModeLinux } from '../../scripts/system/user-mode-linux.ts'
import type { Link } from './link.ts'
import { readWays, startSwitch, type WayCounts } from './switch.ts'

/** Set in the process that is in the namespace of the run. */
const INSIDE = 'MUSTER_CHAOS_NETWORK'
/** Addresses for measurements of networks (RFC 2544). They exist only within the namespaces of a run. */
const NETS = { database: '198.18.0', clients: '198.19.0' }
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
}

export interface Network {
  /** Where the processes of all machines reach what runs beside them. */
  databaseHost: string
  clientHost: string
  /** Of each machine, in their order. */
  seats: Seat[]
  /** What netem has let through to and from the database and what it has lost, for each seat; null where it makes no delay and loss. */
  readTraffic: (() => Promise<Traffic[]>) | null
  close(): void
}

/** Frames of the network, or chunks that the relay passes on. */
export interface Traffic {
  frames: number
  lost: number
}

/** Why machines cannot have network namespaces here; null if they can. */
export function missingNamespaces(): string | null {
  const can = spawnSync('unshare', ['--net', 'ip', 'link', 'add', 'chaos0', 'type', 'veth', 'peer', 'name', 'chaos1'], { encoding: 'utf8' })
  if (can.status === 0) return null
  const why = can.error?.message ?? can.stderr.trim()
  return `WITHOUT NETWORK NAMESPACES: they need Linux, root, unshare, nsenter and ip (${why}); all processes share the loopback interface, and a TCP relay before the database makes delay and loss`
}

/** Why nothing has netem here, where there are namespaces; null if the kernel or User-mode Linux does. */
export function missingNetem(): string | null {
  const why = netemProblem()
  if (why === null || findUserModeLinux() !== null) return null
  return `WITHOUT NETEM: tc cannot use it here (${why}), and user-mode-linux of Debian is not installed; a TCP relay before the database makes delay and loss`
}

function netemProblem(): string | null {
  const can = spawnSync('unshare', ['--net', 'tc', 'qdisc', 'add', 'dev', 'lo', 'root', 'netem', 'delay', '1ms'], { encoding: 'utf8' })
  return can.status === 0 ? null : (can.error?.message ?? can.stderr.trim())
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
  // A terminal sends SIGINT to both, and twice is as good as once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, passOn)
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

/** Bridges in the namespace of the run, to which machines are connected as to switches, with the delay and loss of their links on the way to the database. */
export async function startNetwork(links: readonly Link[]): Promise<Network> {
  const holders: ChildProcess[] = []
  await run('ip', ['link', 'set', 'lo', 'up'])
  for (const [bridge, net] of Object.entries(NETS)) {
    await addBridge(bridge)
    await run('ip', ['addr', 'add', `${net}.${HUB}/24`, 'dev', bridge])
  }
  const leave = () => {
    for (const holder of holders) holder.kill('SIGKILL')
  }
  try {
    const seats: Seat[] = []
    for (const number of links.keys()) {
      const holder = await holdNamespace()
      holders.push(holder)
      seats.push(await connectMachine(number, holder.pid as number))
    }
    const wires = await connectWires(links)
    return {
      databaseHost: `${NETS.database}.${HUB}`,
      clientHost: `${NETS.clients}.${HUB}`,
      seats,
      readTraffic: wires?.readTraffic ?? null,
      close() {
        wires?.close()
        leave()
      },
    }
  } catch (error) {
    leave()
    throw error
  }
}

/** Gives a namespace its interfaces: one to the bridge of the clients, and one to a bridge of its own, which leads to the database. */
async function connectMachine(number: number, pid: number): Promise<Seat> {
  const enter = ['nsenter', '--target', String(pid), '--net', '--']
  const within = (...command: string[]) => run(enter[0] as string, [...enter.slice(1), ...command])
  const wire = `wire${number}`
  await within('ip', 'link', 'set', 'lo', 'up')
  await addBridge(wire)
  for (const [name, net] of Object.entries(NETS)) {
    await run('ip', ['link', 'add', `${name}${number}`, 'type', 'veth', 'peer', 'name', name, 'netns', String(pid)])
    await run('ip', ['link', 'set', `${name}${number}`, 'master', name === 'database' ? wire : name, 'up'])
    await within('ip', 'addr', 'add', `${net}.${FIRST_MACHINE + number}/24`, 'dev', name)
    await within('ip', 'link', 'set', name, 'up')
  }
  // Pulled out of the switch: both ends stay up, and hear nothing.
  const plug = (...where: string[]) => run('ip', ['link', 'set', `database${number}`, ...where]).then(() => {})
  return { address: `${NETS.clients}.${FIRST_MACHINE + number}`, enter, cutOff: () => plug('nomaster'), reconnect: () => plug('master', wire) }
}

/** What makes delay and loss between the machines and the database. */
type Wires = Pick<Network, 'close'> & { readTraffic(): Promise<Traffic[]> }

/** Connects the bridge of each machine with that of the database: with netem of this kernel, or of a switch; without either, as it is. */
async function connectWires(links: readonly Link[]): Promise<Wires | null> {
  const linux = findUserModeLinux()
  const hasNetem = netemProblem() === null
  if (!hasNetem && linux !== null) return await connectBySwitch(linux, links)
  for (const [number, link] of links.entries()) {
    const ends = [`near${number}`, `far${number}`] as const
    await run('ip', ['link', 'add', ends[0], 'type', 'veth', 'peer', 'name', ends[1]])
    await run('ip', ['link', 'set', ends[0], 'master', 'database', 'up'])
    await run('ip', ['link', 'set', ends[1], 'master', `wire${number}`, 'up'])
    if (hasNetem) for (const end of ends) await run('tc', ['qdisc', 'add', 'dev', end, 'root', 'netem', ...netemOf(link)])
  }
  if (!hasNetem) return null
  const countWays = async () => readWays((await run('tc', ['-s', '-j', 'qdisc', 'show'])).stdout)
  return { readTraffic: async () => addUp(await countWays(), links.length, (number) => [`near${number}`, `far${number}`]), close() {} }
}

async function connectBySwitch(linux: UserModeLinux, links: readonly Link[]): Promise<Wires> {
  const addTap = async (tap: string, bridge: string) => {
    await run('ip', ['tuntap', 'add', 'dev', tap, 'mode', 'tap'])
    await run('ip', ['link', 'set', tap, 'master', bridge, 'up'])
  }
  await addTap('hub', 'database')
  for (const number of links.keys()) await addTap(`tap${number}`, `wire${number}`)
  const { countWays, close } = await startSwitch(
    linux,
    'hub',
    links.map((link, number) => ({ tap: `tap${number}`, netem: netemOf(link) })),
  )
  return { readTraffic: async () => addUp(await countWays(), links.length, (number) => [`vec${number + 1}`, `way${number + 1}`]), close }
}

function addUp(counts: readonly WayCounts[], count: number, devices: (number: number) => readonly string[]): Traffic[] {
  return Array.from({ length: count }, (_, number) => {
    const ways = counts.filter(({ dev }) => devices(number).includes(dev))
    return { frames: ways.reduce((sum, way) => sum + way.frames, 0), lost: ways.reduce((sum, way) => sum + way.drops, 0) }
  })
}

async function addBridge(name: string): Promise<void> {
  await run('ip', ['link', 'add', name, 'type', 'bridge'])
  await run('ip', ['link', 'set', name, 'up'])
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

/** Of each direction. */
function netemOf({ delayMs, jitterMs, loss }: Link): string[] {
  return ['delay', `${delayMs + jitterMs / 2}ms`, `${jitterMs / 2}ms`, 'loss', `${loss * 100}%`]
}

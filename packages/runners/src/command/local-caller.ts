import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isIPv4, type Socket } from 'node:net'
import { endianness } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isMarked, lockLimitOf } from './process-mark.ts'

/**
 * Which process called over loopback: one that works for a subtask, another one, or `unknown` when it has closed its connection or its process
 * could not be found. Where processes cannot be looked at (no /proc), every caller is `other`.
 */
export type LocalCaller = 'subtask' | 'other' | 'unknown'

/** Descriptors that are looked at before other work of this process gets its turn. */
const LOOKS_PER_TURN = 2_000

/** Processes that have called before are looked at first: a client with many connections is found at once. */
const RECENT_MAX = 16
const recent: number[] = []

interface Question {
  socket: Socket
  resolve(caller: LocalCaller): void
  reject(error: unknown): void
}

const waiting: Question[] = []
let isLooking = false

/**
 * Looks for the process at the other end of an accepted loopback connection. Ask once per connection: one look costs a few milliseconds. Connections that
 * come while it goes on share the next one.
 */
export function findLocalCaller(socket: Socket): Promise<LocalCaller> {
  return new Promise((resolve, reject) => {
    waiting.push({ socket, resolve, reject })
    if (!isLooking) void lookForAll()
  })
}

async function lookForAll(): Promise<void> {
  isLooking = true
  // Those that come in one turn share the first look, too.
  for (await nextTurn(); waiting.length > 0; ) {
    const questions = waiting.splice(0)
    try {
      const callers = await judge(questions.map(({ socket }) => socket))
      for (const [place, { resolve }] of questions.entries()) resolve(callers[place] as LocalCaller)
    } catch (error) {
      for (const { reject } of questions) reject(error)
    }
  }
  isLooking = false
}

async function judge(sockets: readonly Socket[]): Promise<LocalCaller[]> {
  if (lockLimitOf('self') === null) return sockets.map(() => 'other')
  const connections = readConnections()
  const ends = sockets.map((socket) => findOtherEnd(socket, connections))
  const holders = await findHolders(new Set(ends.flatMap((end) => (end === null ? [] : [end.inode]))))
  return ends.map((end) => {
    // A client that has hung up holds no socket any more. It must not pass: a program could send a request and end at once.
    if (end === null) return 'unknown'
    const pid = holders.get(end.inode)
    // Descriptors of other users' processes cannot be read. Programs of a subtask run as the user of the worker.
    if (pid === undefined) return end.uid === process.geteuid?.() ? 'unknown' : 'other'
    const marked = isMarked(pid)
    return marked === null ? 'unknown' : marked ? 'subtask' : 'other'
  })
}

type Connections = ReadonlyMap<string, { inode: string; uid: number }>

/** The ends of TCP connections that a process holds, by their own and the other address. */
function readConnections(): Connections {
  const connections = new Map<string, { inode: string; uid: number }>()
  for (const table of ['tcp', 'tcp6'] as const) {
    for (const line of readTable(table)) {
      const [, local, remote, , , , , uid, , inode] = line.trim().split(/\s+/)
      if (inode !== undefined && inode !== '0') connections.set(`${local} ${remote}`, { inode, uid: Number(uid) })
    }
  }
  return connections
}

function findOtherEnd({ localAddress, localPort, remoteAddress, remotePort }: Socket, connections: Connections): { inode: string; uid: number } | null {
  if (localAddress === undefined || localPort === undefined || remoteAddress === undefined || remotePort === undefined) return null
  for (const table of ['tcp', 'tcp6'] as const) {
    const found = connections.get(`${endpoint(remoteAddress, remotePort, table)} ${endpoint(localAddress, localPort, table)}`)
    if (found !== undefined) return found
  }
  return null
}

function readTable(table: 'tcp' | 'tcp6'): string[] {
  try {
    return readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1)
  } catch {
    // A kernel without IPv6 has no tcp6.
    return []
  }
}

/** An address and a port as a table writes them: words in the order of the machine's bytes, then the port, all in hexadecimal. */
function endpoint(address: string, port: number, table: 'tcp' | 'tcp6'): string | null {
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
  if (isIPv4(plain)) {
    const bytes = plain.split('.').map(Number)
    return table === 'tcp' ? written(bytes, port) : written([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...bytes], port)
  }
  // The one address of IPv6 that is loopback.
  return table === 'tcp6' && address === '::1' ? written([...Array.from({ length: 15 }, () => 0), 1], port) : null
}

function written(bytes: number[], port: number): string {
  const words: string[] = []
  for (let start = 0; start < bytes.length; start += 4) {
    const word = bytes.slice(start, start + 4)
    words.push(Buffer.from(endianness() === 'LE' ? word.reverse() : word).toString('hex'))
  }
  return `${words.join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase()
}

/** The processes that have these sockets open, by inode: those that called before, then the newest, since a client on the command line is often that. */
async function findHolders(inodes: ReadonlySet<string>): Promise<Map<string, number>> {
  const holders = new Map<string, number>()
  let looks = 0
  for (const pid of new Set([...recent, ...listPids()])) {
    if (holders.size === inodes.size) break
    const descriptors = descriptorsOf(pid)
    for (const descriptor of descriptors) {
      const inode = /^socket:\[(\d+)\]$/.exec(targetOf(pid, descriptor) ?? '')?.[1]
      if (inode === undefined || !inodes.has(inode) || holders.has(inode)) continue
      holders.set(inode, pid)
      remember(pid)
    }
    looks += descriptors.length
    if (looks < LOOKS_PER_TURN) continue
    looks = 0
    await nextTurn()
  }
  return holders
}

function listPids(): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).sort((one, other) => other - one)
}

function remember(pid: number): void {
  const place = recent.indexOf(pid)
  if (place === 0) return
  if (place > 0) recent.splice(place, 1)
  recent.unshift(pid)
  recent.length = Math.min(recent.length, RECENT_MAX)
}

function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`)
  } catch {
    // It has ended, or is another user's.
    return []
  }
}

function targetOf(pid: number, descriptor: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`)
  } catch {
    return null
  }
}

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

/** Looks for the process at the other end of an accepted loopback connection. Costs a few milliseconds: ask once per connection. */
export async function findLocalCaller(socket: Socket): Promise<LocalCaller> {
  if (lockLimitOf('self') === null) return 'other'
  const end = findOtherEnd(socket)
  // A client that has hung up holds no socket any more. It must not pass: a program could send a request and end at once.
  if (end === null) return 'unknown'
  const pid = await findHolder(end.inode)
  // Descriptors of other users' processes cannot be read. Programs of a subtask run as the user of the worker.
  if (pid === null) return end.uid === process.geteuid?.() ? 'unknown' : 'other'
  const marked = isMarked(pid)
  return marked === null ? 'unknown' : marked ? 'subtask' : 'other'
}

/** The client's end of a connection, in the tables of the kernel. */
function findOtherEnd({ localAddress, localPort, remoteAddress, remotePort }: Socket): { inode: string; uid: number } | null {
  if (localAddress === undefined || localPort === undefined || remoteAddress === undefined || remotePort === undefined) return null
  for (const table of ['tcp', 'tcp6'] as const) {
    const client = endpoint(remoteAddress, remotePort, table)
    const server = endpoint(localAddress, localPort, table)
    if (client === null || server === null) continue
    for (const line of readTable(table)) {
      const [, local, remote, , , , , uid, , inode] = line.trim().split(/\s+/)
      if (local === client && remote === server && inode !== undefined && inode !== '0') return { inode, uid: Number(uid) }
    }
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

/** The process that has a socket open: the newest first, since a client on the command line is often the newest of all. */
async function findHolder(inode: string): Promise<number | null> {
  const wanted = `socket:[${inode}]`
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((one, other) => other - one)
  let looks = 0
  for (const pid of pids) {
    const descriptors = descriptorsOf(pid)
    if (descriptors.some((descriptor) => targetOf(pid, descriptor) === wanted)) return pid
    looks += descriptors.length
    if (looks < LOOKS_PER_TURN) continue
    looks = 0
    await nextTurn()
  }
  return null
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

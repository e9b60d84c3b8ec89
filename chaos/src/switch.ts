import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type UserModeLinux, userModeArguments } from '../../scripts/system/user-mode-linux.ts'

/** What a bridge and netem need, in the order in which they are loaded. */
const MODULES = ['lib/crc-ccitt', 'net/ipv6/ipv6', 'net/llc/llc', 'net/802/stp', 'net/bridge/bridge', 'drivers/net/veth', 'net/sched/sch_netem']
const MEMORY_MIB = 256
const STARTS_WITHIN_MS = 60_000
const READY = 'the switch is ready'

/** A switch with netem on each of its ways, for machines whose own kernel has none. */
export interface Switch {
  countWays(): Promise<WayCounts[]>
  close(): void
}

/** A way's counters. */
export interface WayCounts {
  dev: string
  frames: number
  drops: number
}

/** From the JSON of `tc -s -j qdisc show`. */
export function readWays(json: string): WayCounts[] {
  const qdiscs = JSON.parse(json) as { dev: string; packets: number; drops: number }[]
  return qdiscs.map(({ dev, packets, drops }) => ({ dev, frames: packets, drops }))
}

/**
 * Starts a kernel of its own as a switch between taps of this machine, which it makes in the network namespace of this process. Its `vec0` is the tap `hub`; from there to tap number n,
 * everything passes the netem of `vec<n>`, and in the other direction that of `way<n>`.
 *
 * @param taps their names, and the options of netem in each direction
 */
export async function startSwitch(linux: UserModeLinux, hub: string, taps: readonly { tap: string; netem: readonly string[] }[]): Promise<Switch> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-switch-'))
  const init = join(folder, 'init.sh')
  await writeFile(init, initScript(linux, taps), { mode: 0o755 })
  const devices = [hub, ...taps.map(({ tap }) => tap)].map((tap, number) => `vec${number}:transport=tap,ifname=${tap}`)
  const kernel = spawn(linux.program, [...userModeArguments(init, MEMORY_MIB), ...devices], { stdio: ['pipe', 'pipe', 'ignore'], detached: true })
  const lines = createInterface({ input: kernel.stdout })
  const next = (isIt: (line: string) => boolean) => nextLine(kernel, lines, isIt)
  // nextLine reports the end of the kernel.
  kernel.stdin.on('error', () => {})
  const close = () => {
    // Each process of the guest is one of this machine.
    if (kernel.exitCode === null && kernel.signalCode === null && kernel.pid !== undefined) process.kill(-kernel.pid, 'SIGKILL')
  }
  try {
    await next((line) => line.trim() === READY)
  } catch (error) {
    close()
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return {
    async countWays() {
      kernel.stdin.write('\n')
      return readWays(await next((line) => line.startsWith('[{')))
    },
    close,
  }
}

/** @throws Error when the kernel ends, or says nothing of the kind for a minute */
function nextLine(kernel: ChildProcess, lines: ReturnType<typeof createInterface>, isIt: (line: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const said: string[] = []
    const end = (why: string) => reject(new Error(`The switch of User-mode Linux ${why}; it said: ${said.join('\n')}`))
    const late = setTimeout(end, STARTS_WITHIN_MS, 'did not answer')
    const ended = () => end('ended')
    const hear = (line: string) => {
      said.push(line)
      if (!isIt(line)) return
      clearTimeout(late)
      kernel.off('exit', ended)
      lines.off('line', hear)
      resolve(line)
    }
    kernel.once('error', reject)
    kernel.once('exit', ended)
    lines.on('line', hear)
  })
}

/** It counts on request, and ends with this process, whose end of the pipe closes then. */
function initScript({ modules }: UserModeLinux, taps: readonly { netem: readonly string[] }[]): string {
  const ways = taps.map(({ netem }, place) => {
    const number = place + 1
    return `ip link add wire${number} type bridge
ip link set wire${number} up
ip link add way${number} type veth peer name port${number}
ip link set way${number} master wire${number} up
ip link set port${number} master hub up
ip link set vec${number} master wire${number} up
tc qdisc add dev vec${number} root netem ${netem.join(' ')}
tc qdisc add dev way${number} root netem ${netem.join(' ')}`
  })
  return `#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
set -e
mount -t proc proc /proc
stty -echo
${MODULES.map((module) => `insmod ${modules}/${module}.ko`).join('\n')}
ip link add hub type bridge
ip link set hub up
ip link set vec0 master hub up
${ways.join('\n')}
echo '${READY}'
while read -r _; do tc -s -j qdisc show; done
echo o >/proc/sysrq-trigger
sleep 60
`
}

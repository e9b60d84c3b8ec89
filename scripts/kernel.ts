import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ExplainedError } from './system/errors.ts'
import { reportFailure } from './system/report.ts'
import { shellWord } from './system/shell.ts'
import { findUserModeLinux, type UserModeLinux, userModeArguments } from './system/user-mode-linux.ts'

const HELP = `Usage: npm run kernel -- [--memory GIB] <command> [<argument> …]

Runs a command on a Linux kernel of its own (User-mode Linux), for what the kernel of this machine does not have: limits of memory by
cgroup v2, or what its modules add, such as netem. The command sees the files of this machine; what it changes is gone afterwards.
Its errors come with its output. It has one processor, and is several times slower than here. Needs Debian's packages user-mode-linux, kmod and iproute2, and works without root.

  npm run kernel -- npm test -- --project packages packages/runners/src/sandbox/limits.test.ts
  npm run kernel -- uname -a

  --memory GIB   memory and files of the command together (6)`

/** The kernel loads others when they are needed. */
const OVERLAY = 'fs/overlayfs/overlay.ko'
const MEMORY_GIB = 6

/**
 * What the kernel runs first, as root: the root folder of this machine below a layer in memory that takes all changes, and what programs expect to be
 * mounted. A program in a folder made by chroot may not make namespaces for users, so the layer becomes the root of everything.
 */
function initScript(folder: string, { modules, modulesFolder }: UserModeLinux, memoryGib: number): string {
  return `#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
set -e
mount -t proc proc /proc
insmod ${shellWord(join(modules, OVERLAY))}
mount -t tmpfs -o size=${memoryGib}g tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
cd /mnt/root
mount -t proc proc proc
mount -t sysfs sys sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t devtmpfs dev dev
mkdir -p dev/pts dev/shm
mount -t devpts devpts dev/pts
mount -t tmpfs tmpfs dev/shm
mount -t tmpfs tmpfs run
mkdir run/result
mount -t hostfs none run/result -o ${shellWord(folder)}
mkdir -p lib/modules run/before
mount --bind ${shellWord(modulesFolder.slice(1))} lib/modules
ip link set lo up
pivot_root . run/before
exec chroot . /bin/sh ${shellWord(join(folder, 'command.sh'))}
`
}

function commandScript(command: readonly string[]): string {
  const kept = ['PATH', 'HOME', 'LANG', 'CI'].flatMap((name) => (process.env[name] === undefined ? [] : [`export ${name}=${shellWord(process.env[name])}`]))
  // The output is what a pipe gets: on the console, programs move the cursor, and each line ends with a carriage return as well. A process that the
  // command leaves behind holds the pipe open, so its end is waited for a second at most.
  return `umount -l /run/before
stty -onlcr
${kept.join('\n')}
cd ${shellWord(process.cwd())}
mkfifo /run/output
cat /run/output &
${command.map(shellWord).join(' ')} >/run/output 2>&1
echo $? >/run/result/code
for tenth in 1 2 3 4 5 6 7 8 9 10; do kill -0 $! 2>/dev/null && sleep 0.1; done
sync
echo o >/proc/sysrq-trigger
sleep 60
`
}

/** @returns the exit code of the command */
async function runOnKernel(command: readonly string[], memoryGib: number): Promise<number> {
  const linux = findUserModeLinux()
  if (linux === null) throw new ExplainedError('User-mode Linux is not installed. On Debian: apt-get install user-mode-linux kmod iproute2')
  const folder = mkdtempSync(join(tmpdir(), 'muster-kernel-'))
  try {
    const init = join(folder, 'init.sh')
    writeFileSync(init, initScript(folder, linux, memoryGib), { mode: 0o755 })
    writeFileSync(join(folder, 'command.sh'), commandScript(command))
    // A group of its own: each process of the guest is one of this machine.
    const kernel = spawn(linux.program, userModeArguments(init, memoryGib * 1_024), { stdio: ['ignore', 'inherit', 'inherit'], detached: true })
    const end = () => process.kill(-(kernel.pid as number), 'SIGKILL')
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)
    await new Promise<void>((resolve, reject) => {
      kernel.once('error', reject)
      kernel.once('exit', () => resolve())
    })
    const path = join(folder, 'code')
    const code = existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
    if (code === '') throw new ExplainedError('The kernel ended before the command did, see above.')
    return Number(code)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function main(): Promise<void> {
  const command = process.argv.slice(2)
  let memoryGib = MEMORY_GIB
  if (command[0] === '--memory') memoryGib = Number(command.splice(0, 2)[1])
  if (command.length === 0 || command[0] === '--help' || !(memoryGib > 0)) {
    console.log(HELP)
    process.exitCode = command[0] === '--help' ? 0 : 2
    return
  }
  process.exitCode = await runOnKernel(command, memoryGib)
}

await main().catch((error: unknown) => {
  reportFailure(error)
  process.exitCode = 1
})

import { existsSync, realpathSync, statSync } from 'node:fs'
import { release } from 'node:os'
import { dirname, isAbsolute, join, sep } from 'node:path'

/** What one program sees and may change. Paths are absolute; what does not exist is left out. */
export interface Confinement {
  program: string
  args: readonly string[]
  cwd: string
  /** Folders it may change, and that outlive it. */
  writes: readonly string[]
  /** Files and folders that are shown though something around them is hidden. */
  reads: readonly string[]
  /** Programs and scripts that are shown with the files beside them. Never of a caller's choice: what they name becomes visible. */
  shows: readonly string[]
  /** Files and folders that it does not see. A folder is an empty one for it, which it may write to and which is gone afterwards. */
  hides: readonly string[]
  hasNetwork: boolean
  /** Processes and threads of it at once, as a limit of its user; 0: no limit. Holds only where `countsProcesses`. */
  processesMax: number
}

/** Until this version, the limit counts all processes of the user on the machine, and not those of the sandbox. */
const OWN_COUNT_SINCE = [5, 14] as const

/**
 * Becomes the program, with no core dumps and a limit of its processes. dash and busybox limit processes with `-p`, bash with `-u`. The name of this
 * shell is that of the gate, so that both say in the same way that a program could not be started.
 */
const ENTRY_SCRIPT = 'ulimit -c 0; [ -z "$1" ] || ulimit -u "$1" 2>/dev/null || ulimit -p "$1" 2>/dev/null || :; shift; exec "$@"'

const NAMESPACES = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try']
/** Programs of others leave sockets and files here: databases, container engines, agents with keys. */
const SHARED_FOLDERS = ['/tmp', '/var/tmp', '/run', '/var/run']
/** Root may write to these without any capability, as to the settings of the kernel, because it owns them. bwrap itself does not cover all of them. */
const KERNEL_FILES = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'mtrr'].map((name) => `/proc/${name}`)

type Kind = 'hide' | 'read' | 'write'
/** Of one path, the later kind wins. */
const KINDS: readonly Kind[] = ['hide', 'read', 'write']

/**
 * The arguments of bwrap for a program: namespaces of its own, no capability, the root read-only, and of the rest only what the confinement says.
 * Everything in the sandbox ends with bwrap, and bwrap with the process that started it. There is no `--new-session`: the program stays in the process
 * group that the guard knows, and has no terminal anyway.
 */
export function bubblewrapArguments(confinement: Confinement, entryName: string): string[] {
  const { program, args, cwd, hasNetwork, processesMax } = confinement
  const limit = processesMax > 0 && countsOwnProcesses(release()) ? String(processesMax) : ''
  return [
    ...NAMESPACES,
    ...(hasNetwork ? [] : ['--unshare-net']),
    ...['--die-with-parent', '--cap-drop', 'ALL', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...KERNEL_FILES.flatMap((path) => ['--ro-bind-try', path, path]),
    ...mountsOf(confinement),
    ...['--chdir', cwd, '--', '/bin/sh', '-c', ENTRY_SCRIPT, entryName, limit, program, ...args],
  ]
}

/** The deeper of two paths is mounted later, so its kind holds. */
function mountsOf({ program, cwd, writes, reads, shows, hides }: Confinement): string[] {
  const kinds = new Map<string, Kind>()
  const add = (paths: readonly string[], kind: Kind) => {
    for (const path of paths) {
      const real = realPath(path)
      if (real === null || real === '/') continue
      const known = kinds.get(real)
      if (known === undefined || KINDS.indexOf(kind) > KINDS.indexOf(known)) kinds.set(real, kind)
    }
  }
  add([...SHARED_FOLDERS, ...hides], 'hide')
  const hidden = [...kinds.keys()]
  add([...reads, cwd, ...[program, ...shows].flatMap((each) => neededFor(each, hidden))], 'read')
  add(writes, 'write')
  // What is read-only or visible as part of the root needs no mount, and one of the device folder would be wrong.
  const isCovered = (path: string) => hidden.some((folder) => path === folder || isInside(path, folder))
  return [...kinds]
    .filter(([path, kind]) => !isInside(path, '/dev') && (kind !== 'read' || isCovered(path)))
    .sort(([one], [other]) => depthOf(one) - depthOf(other))
    .flatMap(([path, kind]) => mountOf(path, kind))
}

function mountOf(path: string, kind: Kind): string[] {
  if (kind === 'write') return ['--bind', path, path]
  if (kind === 'read') return ['--ro-bind', path, path]
  return statSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]
}

/** A program or script with the files beside it; alone where that would show all of a hidden folder. */
function neededFor(file: string, hidden: readonly string[]): string[] {
  const path = isAbsolute(file) ? realPath(file) : null
  if (path === null || !statSync(path).isFile()) return []
  const folder = dirname(path)
  return hidden.some((each) => each === folder || isInside(each, folder)) ? [path] : [folder]
}

/** The folders of the PATH, and what programs in a `bin` keep in the `lib` beside it. */
export function programFolders(path: string): string[] {
  const folders = path.split(':').filter(isAbsolute)
  return folders.flatMap((folder) => (folder.endsWith('/bin') ? [folder, join(dirname(folder), 'lib')] : [folder])).filter((folder) => existsSync(folder))
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

function depthOf(path: string): number {
  return path.split(sep).length
}

/** Whether the limit of the user holds for a sandbox: Linux does not count the processes of root. */
export function countsProcesses(): boolean {
  return process.getuid?.() !== 0 && countsOwnProcesses(release())
}

/** Whether this Linux counts the processes of a user in each user namespace for itself. */
function countsOwnProcesses(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return major > OWN_COUNT_SINCE[0] || (major === OWN_COUNT_SINCE[0] && minor >= OWN_COUNT_SINCE[1])
}

import { randomUUID } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isOwnerGone, ownerOf } from '../command/process-owner.ts'

/** What everything in one sandbox may use together; 0: no limit. */
export interface CgroupLimits {
  memoryBytes: number
  /** Processes and threads at once. */
  processes: number
}

export type Controller = 'memory' | 'pids'

/**
 * The cgroup of one program and of all that it starts. A folder in each hierarchy has the limits, and the processes are in a folder `run` within it: a
 * program that makes namespaces of its own can mount the folder that it is in, and change the limits of that one.
 */
export interface Cgroup {
  /** A process whose number is written to each of these files is in the cgroup, and so is all that it starts afterwards. */
  readonly entrances: readonly string[]
  /** Files whose line `oom_kill` counts the processes that the kernel has killed for want of memory; none without a limit of memory. */
  readonly killCounts: readonly string[]
  /** Moves a process into it. @throws Error where the kernel refuses */
  enter(pid: number): Promise<void>
  /** Its limit of memory in bytes where the kernel has killed a process of it for that; otherwise null, also where the kernel does not say. */
  exceededMemory(): Promise<number | null>
  /** To be called when all of its processes have been ended. */
  remove(): Promise<void>
}

/** Where a process can make cgroups. */
export interface Cgroups {
  /** Makes one, with its limits. @throws Error where the kernel refuses */
  open(): Promise<Cgroup>
}

/** What limits can be set here; of the others why not, as part of a sentence. */
export interface FoundCgroups {
  /** Null where there is nothing to set. */
  cgroups: Cgroups | null
  problems: Partial<Record<Controller, string>>
}

/** What the kernel says of the cgroups of a process. */
export interface CgroupView {
  pid: number
  /** The text of /proc/<pid>/cgroup. */
  cgroup: string
  /** The text of /proc/<pid>/mountinfo. */
  mountinfo: string
}

/** Where cgroups of one controller are made. */
interface Place {
  controller: Controller
  version: 1 | 2
  parent: string
  /** The process that has to leave the parent for a cgroup of its own, because cgroup v2 sets no limits beside processes. */
  movesPid: number | null
}

/** The cgroup of a worker whose programs are in cgroups beside it. A service manager may make it, or the worker does. */
const WORKER_NAME = 'muster-worker'
const SWAP_BYTES = 1_048_576
const NAME_START = 'muster-sandbox-'
/** The process that made it, and a number of its own. */
const NAME = /^muster-sandbox-(?<namespace>\d+)-(?<pid>\d+)-(?<startedAt>\d+)-[0-9a-f]{8}$/
/** Processes that have been killed are in their cgroup until they have ended. */
const REMOVE_WAITS_MS = [5, 10, 20, 50, 100, 200]

/** Looks where limits can be set. Changes nothing. */
export function findCgroups(limits: CgroupLimits, view = viewOf()): FoundCgroups {
  return collect(limits, view, () => {})
}

/**
 * The same for the worker that runs the programs, before it starts its first process. On cgroup v2 it moves itself, where it is alone in its cgroup, to
 * one within it. Removes empty cgroups that killed workers have left.
 */
export function prepareCgroups(limits: CgroupLimits, view = viewOf()): FoundCgroups {
  return collect(limits, view, (place) => {
    if (place.version === 2) enable(place)
    removeLeft(place.parent)
  })
}

function collect(limits: CgroupLimits, view: CgroupView | null, prepare: (place: Place) => void): FoundCgroups {
  const places: Place[] = []
  const problems: FoundCgroups['problems'] = {}
  const wanted = [...(limits.memoryBytes > 0 ? ['memory' as const] : []), ...(limits.processes > 0 ? ['pids' as const] : [])]
  for (const controller of wanted) {
    try {
      if (view === null) throw new Error('this system has no cgroups')
      const place = locate(controller, view)
      prepare(place)
      places.push(place)
    } catch (error) {
      problems[controller] = (error as Error).message
    }
  }
  return { cgroups: places.length === 0 ? null : createCgroups(places, limits), problems }
}

/** Null where the kernel has no cgroups. */
function viewOf(): CgroupView | null {
  try {
    return { pid: process.pid, cgroup: readFileSync('/proc/self/cgroup', 'utf8'), mountinfo: readFileSync('/proc/self/mountinfo', 'utf8') }
  } catch {
    return null
  }
}

/** @throws Error that says why there is no place */
function locate(controller: Controller, { pid, cgroup, mountinfo }: CgroupView): Place {
  const lines = cgroup
    .trim()
    .split('\n')
    .map((line) => line.split(':'))
  const path = (isIt: (controllers: string[]) => boolean) =>
    lines
      .find(([, names = '']) => isIt(names.split(',')))
      ?.slice(2)
      .join(':')
  const first = path((controllers) => controllers.includes(controller))
  const own = first === undefined ? folderOf(path(([name]) => name === '') ?? '/', mountinfo, null) : folderOf(first, mountinfo, controller)
  if (own === null) throw new Error('the cgroup of this process is not mounted below /sys/fs/cgroup')
  if (first !== undefined) {
    requireWritable([own])
    return { controller, version: 1, parent: own, movesPid: null }
  }
  const parent = basename(own) === WORKER_NAME ? dirname(own) : own
  if (!wordsOf(join(parent, 'cgroup.controllers')).includes(controller)) throw new Error(`the controller ${controller} is not delegated to ${parent}`)
  requireWritable([parent, join(parent, 'cgroup.procs'), join(parent, 'cgroup.subtree_control')])
  // The root of all cgroups is the one without a type: it may have processes and groups with limits.
  const hasToMove = parent === own && existsSync(join(own, 'cgroup.type'))
  const others = hasToMove ? wordsOf(join(own, 'cgroup.procs')).filter((each) => each !== String(pid)) : []
  if (others.length > 0) throw new Error(`${own} has processes other than this one (${others.slice(0, 3).join(', ')}), and cgroup v2 forbids limits there`)
  return { controller, version: 2, parent, movesPid: hasToMove ? pid : null }
}

/** Where a cgroup is mounted; null where it is not. Of cgroup v1, by the name of its controller. */
function folderOf(path: string, mountinfo: string, controller: Controller | null): string | null {
  for (const line of mountinfo.trim().split('\n').reverse()) {
    const [mount = '', system = ''] = line.split(' - ')
    const [, , , root = '', folder = ''] = mount.split(' ').map(unescaped)
    const [type, , options = ''] = system.split(' ')
    if (controller === null ? type !== 'cgroup2' : type !== 'cgroup' || !options.split(',').includes(controller)) continue
    if (path === root) return folder
    if (root === '/' && !path.startsWith('/..')) return join(folder, path)
    if (path.startsWith(`${root}/`)) return join(folder, path.slice(root.length))
  }
  return null
}

/** Blanks in the fields of mountinfo are octal numbers. */
function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}

function requireWritable(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      accessSync(path, constants.W_OK)
    } catch (error) {
      throw new Error(`${path} cannot be written to (${(error as NodeJS.ErrnoException).code})`)
    }
  }
}

/** Lets groups in the parent have limits. */
function enable({ controller, parent, movesPid }: Place): void {
  if (movesPid !== null) {
    mkdirSync(join(parent, WORKER_NAME), { recursive: true })
    writeFileSync(join(parent, WORKER_NAME, 'cgroup.procs'), String(movesPid))
  }
  if (!wordsOf(join(parent, 'cgroup.subtree_control')).includes(controller)) writeFileSync(join(parent, 'cgroup.subtree_control'), `+${controller}`)
}

function wordsOf(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split(/\s+/)
    .filter((word) => word !== '')
}

/** The cgroups of processes that are certainly gone. One that still has processes cannot be removed, and is left to the next start. */
function removeLeft(parent: string): void {
  for (const name of readdirSync(parent)) {
    const { pid, startedAt, namespace } = NAME.exec(name)?.groups ?? {}
    if (pid === undefined || startedAt === undefined || !isOwnerGone({ pid: Number(pid), startedAt, namespace: `pid:[${namespace}]` })) continue
    tryRemove(join(parent, name))
  }
}

function newName(): string {
  const { pid, startedAt, namespace } = ownerOf(process.pid)
  return `${NAME_START}${namespace.replace(/\D/g, '')}-${pid}-${startedAt}-${randomUUID().slice(0, 8)}`
}

function createCgroups(places: readonly Place[], limits: CgroupLimits): Cgroups {
  /** What could not be removed in time. */
  const left = new Set<string>()
  return {
    async open() {
      for (const folder of left) if (tryRemove(folder)) left.delete(folder)
      const name = newName()
      const parents = [...new Set(places.map(({ parent }) => parent))]
      const remove = async () => {
        for (const folder of parents.map((parent) => join(parent, name))) if (!(await removeSoon(folder))) left.add(folder)
      }
      try {
        for (const parent of parents) await mkdir(join(parent, name))
        for (const { controller, version, parent } of places) {
          for (const setting of settingsOf(controller, version, limits)) await set(join(parent, name), setting)
        }
        for (const parent of parents) await mkdir(join(parent, name, 'run'))
      } catch (error) {
        await remove()
        throw error
      }
      const entrances = parents.map((parent) => join(parent, name, 'run', 'cgroup.procs'))
      const memory = places.find(({ controller }) => controller === 'memory')
      return {
        entrances,
        killCounts: memory === undefined ? [] : killCountsOf(memory, name),
        async enter(pid) {
          for (const entrance of entrances) await writeFile(entrance, String(pid))
        },
        async exceededMemory() {
          // What cannot be read is not claimed: how the program ended is said anyway.
          const hasExceeded = memory !== undefined && (await hasExceededMemory(memory, name).catch(() => false))
          return hasExceeded ? limits.memoryBytes : null
        },
        remove,
      }
    },
  }
}

/** A file of a cgroup, and what it is set to. */
interface Setting {
  file: string
  value: string
  /** Not in every kernel. */
  isOptional?: boolean
}

/** In the order in which the kernel takes them. Without swap, what is over the limit is killed and not slowed down. */
function settingsOf(controller: Controller, version: 1 | 2, { memoryBytes, processes }: CgroupLimits): Setting[] {
  if (controller === 'pids') return [{ file: 'pids.max', value: String(processes) }]
  const bytes = String(memoryBytes)
  if (version === 2) {
    return [
      { file: 'memory.max', value: bytes },
      { file: 'memory.swap.max', value: '0', isOptional: true },
      { file: 'memory.oom.group', value: '1', isOptional: true },
    ]
  }
  return [
    // Before Linux 5.11, what is in the folder within would not count otherwise.
    { file: 'memory.use_hierarchy', value: '1', isOptional: true },
    { file: 'memory.limit_in_bytes', value: bytes },
    // With swap. A little more, because the kernel counts in `memory.failcnt` only what comes to the limit without swap first.
    { file: 'memory.memsw.limit_in_bytes', value: String(memoryBytes + SWAP_BYTES), isOptional: true },
  ]
}

async function set(folder: string, { file, value, isOptional = false }: Setting): Promise<void> {
  if (!isOptional || existsSync(join(folder, file))) await writeFile(join(folder, file), value)
}

/** cgroup v1 counts what was killed where it was, and v2 also in the groups around it. */
function killCountsOf({ version, parent }: Place, name: string): string[] {
  return version === 1 ? [join(parent, name, 'run', 'memory.oom_control')] : [join(parent, name, 'memory.events')]
}

/** The kernel also kills for want of memory of the machine, or of a group around this one: then this one has not come to its limit. */
async function hasExceededMemory(place: Place, name: string): Promise<boolean> {
  const folder = join(place.parent, name)
  const texts = await Promise.all(killCountsOf(place, name).map((path) => readFile(path, 'utf8')))
  const count = (text: string, key: string) => Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  if (!texts.some((text) => count(text, 'oom_kill') > 0)) return false
  return place.version === 1 ? Number(await readFile(join(folder, 'memory.failcnt'), 'utf8')) > 0 : texts.some((text) => count(text, 'oom') > 0)
}

/** False where it still has processes after a while. */
async function removeSoon(folder: string): Promise<boolean> {
  for (const waitMs of REMOVE_WAITS_MS) {
    if (tryRemove(folder)) return true
    await delay(waitMs)
  }
  return tryRemove(folder)
}

/** Removes a cgroup with those within it, which a program may have made; false where one has processes. */
function tryRemove(folder: string): boolean {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory() && !tryRemove(join(folder, entry.name))) return false
    rmdirSync(folder)
    return true
  } catch (error) {
    // ENOENT: another process was faster. Anything else than EBUSY is as final, and says that it stays.
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

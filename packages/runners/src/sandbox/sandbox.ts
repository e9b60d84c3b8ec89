import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Settings } from '@muster/domain'
import { type Environment, locateProgram } from '../command/program.ts'
import { bubblewrapArguments, countsProcesses, programFolders } from './bubblewrap.ts'
import { type Cgroup, type CgroupLimits, type Cgroups, type FoundCgroups, findCgroups, prepareCgroups } from './cgroups.ts'

/** The part of the settings that decides about sandboxes. */
export type SandboxSettings = Pick<
  Settings,
  'SANDBOX' | 'SANDBOX_NETWORK' | 'SANDBOX_MEMORY_BYTES_MAX' | 'SANDBOX_PROCESSES_MAX' | 'DATA_DIR' | 'WORKSPACE_ROOTS' | 'ARCHIVE_URL'
>

/** What an entry of COMMAND_RUNNERS or CHECKS says of its sandbox. */
export interface SandboxOptions {
  argv?: string[]
  sandbox?: boolean | undefined
  network?: boolean | undefined
  reads?: string[] | undefined
  writes?: string[] | undefined
}

/** One program to confine. */
export interface ConfinedProgram extends SandboxOptions {
  program: string
  args: readonly string[]
  cwd: string
  /** Folders of the run, which it may change. */
  folders: readonly string[]
}

/** What all processes of one sandbox may use together. */
export interface SandboxLimits {
  /** Null: not limited. */
  memoryBytes: number | null
  /** Processes and threads at once. Null: not limited. */
  processes: number | null
  /** What should be limited and is not, and why, in a sentence or two; null if all is. */
  problem: string | null
}

/** What programs of subtasks are confined by. */
export interface Sandbox {
  /** The program that makes the sandbox. */
  readonly program: string
  /** Whether a program without an entry of its own may use the network. */
  readonly hasNetwork: boolean
  readonly limits: SandboxLimits
  /**
   * Makes the cgroup that has the limits, for a process that enters it before it starts `program`. Null where cgroups limit nothing.
   *
   * @throws Error where the kernel refuses
   */
  openCgroup(): Promise<Cgroup | null>
  /**
   * The arguments of `program` that run another one confined.
   *
   * @param entryName what failures to start the program begin with
   */
  argumentsOf(confined: ConfinedProgram, entryName: string): string[]
}

/** The sandbox of this machine; or why there is none, in a sentence. */
export type FoundSandbox = { sandbox: Sandbox; problem: null } | { sandbox: null; problem: string }

const PROBE_MS = 5_000
/** By the path of bwrap. A kernel that permits it later is noticed after a restart. */
const probed = new Map<string, string | null>()

/** Looks whether programs can be confined here. bwrap is searched for at each call, and tried out once. Changes nothing. */
export function findSandbox(settings: SandboxSettings, environment: Environment, baseFolder = process.cwd()): FoundSandbox {
  return find(settings, environment, baseFolder, findCgroups)
}

/**
 * The sandbox that the settings ask for; null where they ask for none, or can do without. For a worker, before it starts its first process: it makes ready
 * the cgroups that limit what is in a sandbox.
 *
 * @throws Error where SANDBOX=required and there is none
 */
export function requireSandbox(settings: SandboxSettings, environment: Environment, baseFolder = process.cwd()): FoundSandbox {
  const found = find(settings, environment, baseFolder, prepareCgroups)
  if (settings.SANDBOX === 'required' && found.sandbox === null) throw new Error(`SANDBOX=required, and programs cannot be confined: ${found.problem}`)
  return found
}

function find(settings: SandboxSettings, environment: Environment, baseFolder: string, cgroupsFor: (limits: CgroupLimits) => FoundCgroups): FoundSandbox {
  if (settings.SANDBOX === 'off') return { sandbox: null, problem: 'The sandbox is switched off (SANDBOX=off).' }
  const { program } = locateProgram({ argv: ['bwrap'] }, environment, baseFolder)
  if (program === null) return { sandbox: null, problem: 'bubblewrap (bwrap) was not found on the PATH; install it.' }
  const limits = { memoryBytes: settings.SANDBOX_MEMORY_BYTES_MAX, processes: settings.SANDBOX_PROCESSES_MAX }
  // Before bwrap is tried out: what that starts would be other processes in the cgroup for a moment.
  const { cgroups, problems } = cgroupsFor(limits)
  if (!probed.has(program)) probed.set(program, probe(program))
  const problem = probed.get(program) ?? null
  if (problem !== null) return { sandbox: null, problem }
  return { sandbox: createSandbox(program, settings, environment, baseFolder, { cgroups, limits: limitsOf(limits, problems) }), problem: null }
}

function limitsOf({ memoryBytes, processes }: CgroupLimits, problems: FoundCgroups['problems']): SandboxLimits {
  const pids = countsProcesses() ? undefined : problems.pids
  const missing = [
    ...(problems.memory === undefined ? [] : [`Memory is not limited: ${problems.memory}.`]),
    ...(pids === undefined ? [] : [`The number of processes is not limited: ${pids}.`]),
  ]
  const both = pids !== undefined && pids === problems.memory ? `Memory and the number of processes are not limited: ${pids}.` : missing.join(' ')
  return {
    memoryBytes: memoryBytes > 0 && problems.memory === undefined ? memoryBytes : null,
    processes: processes > 0 && pids === undefined ? processes : null,
    problem: missing.length === 0 ? null : `${both} See docs/sandbox.md.`,
  }
}

function createSandbox(
  program: string,
  settings: SandboxSettings,
  environment: Environment,
  baseFolder: string,
  { cgroups, limits }: { cgroups: Cgroups | null; limits: SandboxLimits },
): Sandbox {
  const { HOME, PATH = '', TMPDIR } = environment
  const archive = settings.ARCHIVE_URL?.replace(/^file:\/\//, '')
  const hides = [
    settings.DATA_DIR,
    ...settings.WORKSPACE_ROOTS,
    ...(archive?.startsWith('/') ? [archive] : []),
    ...(HOME === undefined ? [] : [HOME]),
    TMPDIR ?? tmpdir(),
    // What the processes of Muster read their secrets from.
    join(baseFolder, '.env'),
  ]
  const shown = [baseFolder, ...programFolders(PATH)]
  return {
    program,
    hasNetwork: settings.SANDBOX_NETWORK,
    limits,
    openCgroup: async () => (cgroups === null ? null : await cgroups.open()),
    argumentsOf: ({ program, args, cwd, folders, argv = [], network = settings.SANDBOX_NETWORK, reads = [], writes = [] }, entryName) =>
      bubblewrapArguments(
        {
          program,
          args,
          cwd,
          reads: [...shown, ...reads],
          shows: argv,
          writes: [...writes, ...folders],
          hides,
          hasNetwork: network,
          processesMax: settings.SANDBOX_PROCESSES_MAX,
        },
        entryName,
      ),
  }
}

/** Makes one sandbox; what went wrong, in a sentence, or null. */
function probe(program: string): string | null {
  const confinement = { program: '/bin/sh', args: ['-c', 'exit 0'], cwd: '/', writes: [], reads: [], shows: [], hides: [], hasNetwork: false, processesMax: 0 }
  const { status, stderr, error } = spawnSync(program, bubblewrapArguments(confinement, 'probe'), { env: {}, timeout: PROBE_MS, encoding: 'utf8' })
  if (status === 0) return null
  const reason = error?.message ?? stderr.trim().split('\n')[0] ?? ''
  return `bubblewrap cannot make a sandbox here (${reason === '' ? `exit code ${status}` : reason}): the kernel or the container forbids user namespaces.`
}

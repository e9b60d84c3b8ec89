import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseSettings } from '@muster/domain'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { bashTool } from '../ai/tools/bash.ts'
import { createChecker } from '../command/checker.ts'
import { type Guard, startGuard } from '../command/guard.ts'
import { ownerOf } from '../command/process-owner.ts'
import { createCommandRunner } from '../command/runner.ts'
import { createTestRun, SILENT_LOG, until } from '../testing/command.ts'
import { type CgroupView, findCgroups, prepareCgroups } from './cgroups.ts'
import { requireSandbox, type Sandbox } from './sandbox.ts'

const MEBIBYTE = 1_048_576
const PROCESSES = 40
const root = realpathSync(mkdtempSync(join(tmpdir(), 'muster limits-')))
const own = join(root, 'own')
const environment = { PATH: process.env.PATH }
const settings = (limits: { memory?: number; processes?: number }) =>
  parseSettings({
    DATA_DIR: join(root, 'data'),
    SANDBOX_MEMORY_BYTES_MAX: String((limits.memory ?? 0) * MEBIBYTE),
    SANDBOX_PROCESSES_MAX: String(limits.processes ?? 0),
  })
const { sandbox } = requireSandbox(settings({ memory: 64, processes: PROCESSES }), environment, root)
const problem = sandbox === null ? 'there is no sandbox' : Object.values(findCgroups({ memoryBytes: MEBIBYTE, processes: 1 }).problems)[0]
let guard: Guard

beforeAll(() => {
  mkdirSync(own)
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(async () => {
  rmSync(root, { recursive: true, force: true })
  await guard.close()
})

/** Runs a command as the tool Bash does; its failure is part of its output. */
async function bash(command: string, by: Sandbox | null = sandbox, signal = new AbortController().signal): Promise<string> {
  const tool = bashTool({ guard, environment, workspace: own, marks: { MUSTER_SUBTASK_ID: randomUUID(), MUSTER_ATTEMPT: '1' }, sandbox: by })
  try {
    return String(await tool.run({ command }, { signal }))
  } catch (error) {
    return (error as Error).message
  } finally {
    await tool.close()
  }
}

/** `tail` keeps its last lines in memory, and these have no end. */
const HOG = 'head -c 300000000 /dev/zero | tail'
const EXCEEDED = 'the kernel killed a process of it, because it used more than 64 MiB of memory (SANDBOX_MEMORY_BYTES_MAX)'

/** What a program can do that knows of cgroups: the command `mount` asks for more rights than the kernel does. */
const ESCAPE = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x10000000 | 0x2000000 | 0x20000) == 0  # namespaces for users, cgroups and mounts
for name, type, options in [('v1', b'cgroup', b'memory'), ('v2', b'cgroup2', None)]:
    folder = '/tmp/' + name
    os.mkdir(folder)
    if libc.mount(b'none', folder.encode(), type, 0, options) != 0:
        continue
    print('mounted', name)
    own = str(os.getpid())
    for file, value in [('memory.memsw.limit_in_bytes', '-1'), ('memory.limit_in_bytes', '-1'), ('memory.max', 'max'), ('deeper/cgroup.procs', own)]:
        try:
            os.makedirs(os.path.dirname(folder + '/' + file), exist_ok=True)
            open(folder + '/' + file, 'w').write(value)
        except OSError as error:
            print(error)
print('allocated', len(bytearray(300_000_000)))
`

/** Its cgroup in each hierarchy, opened and removed again. */
async function cgroupFolders(by: Sandbox): Promise<string[]> {
  const cgroup = await by.openCgroup()
  await cgroup?.remove()
  return (cgroup?.entrances ?? []).map((entrance) => dirname(dirname(entrance)))
}
/** The cgroups of this process that are there. */
const cgroupsLeft = async (by: Sandbox) =>
  (await cgroupFolders(by)).flatMap((folder) =>
    readdirSync(dirname(folder)).filter((name) => name.startsWith(`muster-sandbox-`) && name.includes(`-${process.pid}-`)),
  )

it('are what is asked for, or it is said why not', () => {
  if (problem === undefined) expect(sandbox?.limits).toEqual({ memoryBytes: 64 * MEBIBYTE, processes: PROCESSES, problem: null })
  else if (sandbox !== null) expect(sandbox.limits).toMatchObject({ memoryBytes: null, problem: expect.stringContaining(`not limited: ${problem}`) })
})

// Only root, and who has been given cgroups, can make them. Elsewhere the title says why these are skipped.
describe.skipIf(problem !== undefined)(`limits by cgroups${problem === undefined ? '' : ` (not here: ${problem})`}`, () => {
  it('bound a fork bomb, and other runs go on beside it', async () => {
    const stopping = new AbortController()
    const bomb = 'mkfifo never; (i=0; while [ $i -lt 200 ]; do sleep 100 & i=$((i+1)); done; echo all ran); : > bounded; read _ < never'
    const running = bash(bomb, sandbox, stopping.signal)
    await until(() => existsSync(join(own, 'bounded')))
    expect(await bash('echo fine | cat')).toBe('fine')
    stopping.abort()
    const output = await running
    expect(output).not.toContain('all ran')
    expect(output).toMatch(/fork/i)
    expect(await cgroupsLeft(sandbox as Sandbox)).toEqual([])
  })

  it('end a command that uses too much memory, and say so; another one goes on', async () => {
    const other = bash('read _ < wait; echo fine')
    spawnSync('mkfifo', [join(own, 'wait')])
    expect(await bash(HOG)).toContain(`[${EXCEEDED}]`)
    writeFileSync(join(own, 'wait'), 'go\n')
    expect(await other).toBe('fine')
    expect(await cgroupsLeft(sandbox as Sandbox)).toEqual([])
  })

  it('count the files of hidden folders, which are in memory', async () => {
    expect(await bash('head -c 300000000 /dev/zero > /tmp/large')).toContain(EXCEEDED)
  })

  it('say nothing of a process that was killed by another one', async () => {
    expect(await bash("sh -c 'kill -KILL $$'; exit 3")).not.toContain('kernel')
    expect(await bash('kill -KILL $$')).toContain('[ended by SIGKILL]')
  })

  it('are the reason that a run and a check have failed for', async () => {
    using test = createTestRun()
    const argv = ['sh', '-c', `exec sh -c '${HOG}'`]
    const runner = createCommandRunner('hog', { argv }, { guard, log: SILENT_LOG, environment, baseFolder: root, sandbox })
    expect(await runner.run(test.run)).toMatchObject({ kind: 'errored', error: expect.stringContaining(`(9): ${EXCEEDED}`) })
    const checker = createChecker({ hog: { argv } }, { guard, environment, sandbox })
    const end = await checker.check({ id: randomUUID(), tries: 1, name: 'hog', folder: own }, new AbortController().signal)
    expect(end).toMatchObject({ status: 'unmet', reason: expect.stringContaining(EXCEEDED) })
  })

  it('cannot be left by the program', async () => {
    const attempt = 'for file in $(find /sys/fs/cgroup -name cgroup.procs); do echo 0 > $file && echo moved; done'
    expect(await bash(`(${attempt}) 2>/dev/null; ${HOG}`)).toMatch(/^(?![\s\S]*moved)[\s\S]*the kernel killed a process of it/)
  })

  it.skipIf(spawnSync('python3', ['--version']).status !== 0)(
    'cannot be raised by the program in namespaces of its own, where it mounts its cgroup',
    async () => {
      writeFileSync(join(own, 'escape.py'), ESCAPE)
      const output = await bash('python3 -u escape.py; echo ended with $?')
      // cgroup v2 ends all of the sandbox with what was too large, the shell included.
      expect(output).toMatch(/mounted[\s\S]*(?:ended with 137|ended by SIGKILL)/)
      expect(output).not.toContain('allocated')
      expect(await cgroupsLeft(sandbox as Sandbox)).toEqual([])
    },
  )

  it('hold from the first process on', async () => {
    // Its own cgroup is the root of what it sees.
    for (const controller of ['memory', 'pids']) {
      expect(await bash(`grep -E '^[0-9]+:([a-z,]*,)?${controller}[,:]' /proc/self/cgroup || grep ^0:: /proc/self/cgroup`)).toMatch(/:\/$/)
    }
  })

  it('hold alone where the other one is 0', async () => {
    const { sandbox: memoryOnly } = requireSandbox(settings({ memory: 64 }), environment, root)
    expect(memoryOnly?.limits).toEqual({ memoryBytes: 64 * MEBIBYTE, processes: null, problem: null })
    expect(await bash(HOG, memoryOnly)).toContain(EXCEEDED)
    const { sandbox: none } = requireSandbox(settings({}), environment, root)
    expect(await none?.openCgroup()).toBeNull()
  })

  it('start no program where the kernel refuses them', async () => {
    const refusing = { ...(sandbox as Sandbox), openCgroup: () => Promise.reject(new Error('ENOSPC: no space left on device')) }
    expect(await bash('echo ran', refusing)).toBe('The limits of its sandbox could not be set: ENOSPC: no space left on device.')
  })

  it('leave empty cgroups of killed workers, and those alone, to be removed by the next worker', async () => {
    const worker = `import { prepareCgroups } from ${JSON.stringify(new URL('./cgroups.ts', import.meta.url).href)}
      const { cgroups } = prepareCgroups({ memoryBytes: ${64 * MEBIBYTE}, processes: 20 })
      console.log(JSON.stringify((await cgroups.open()).entrances)); process.kill(process.pid, 'SIGKILL')`
    const entrancesOf = () => JSON.parse(spawnSync(process.execPath, ['--input-type=module', '-e', worker], { encoding: 'utf8' }).stdout) as string[]
    const [empty, busy] = [entrancesOf(), entrancesOf()]
    const own = (await (sandbox as Sandbox).openCgroup()) as NonNullable<Awaited<ReturnType<Sandbox['openCgroup']>>>
    const sleeper = spawn('sleep', ['100'])
    onTestFinished(async () => {
      sleeper.kill('SIGKILL')
      await own.remove()
    })
    for (const entrance of busy) writeFileSync(entrance, String(sleeper.pid))
    requireSandbox(settings({ memory: 64, processes: 20 }), environment, root)
    const isThere = (entrances: readonly string[]) => entrances.map((entrance) => existsSync(entrance))
    expect([isThere(empty), isThere(busy), isThere(own.entrances)]).toEqual([empty.map(() => false), busy.map(() => true), own.entrances.map(() => true)])
    sleeper.kill('SIGKILL')
    await until(() => {
      requireSandbox(settings({ memory: 64, processes: 20 }), environment, root)
      return isThere(busy).every((is) => !is)
    })
  })
})

describe.skipIf(sandbox === null || process.getuid?.() !== 0)('where cgroups are not mounted', () => {
  it('programs are confined without limits, and it is said why', () => {
    const look = `import { findSandbox } from ${JSON.stringify(new URL('./sandbox.ts', import.meta.url).href)}
      const settings = ${JSON.stringify(settings({ memory: 64, processes: 50 }))}
      const { sandbox } = findSandbox(settings, process.env, '/')
      console.log(JSON.stringify([sandbox.limits, await sandbox.openCgroup()]))`
    const { stdout } = spawnSync(
      'unshare',
      ['--mount', 'sh', '-c', 'umount -R /sys/fs/cgroup && exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', look],
      {
        encoding: 'utf8',
      },
    )
    expect(JSON.parse(stdout)).toEqual([
      {
        memoryBytes: null,
        processes: null,
        problem: 'Memory and the number of processes are not limited: the cgroup of this process is not mounted below /sys/fs/cgroup. See docs/sandbox.md.',
      },
      null,
    ])
  })
})

/** The files of cgroup v2 as the kernel has them, of a unit to which both controllers are delegated. What is written is looked at, and nothing is limited. */
describe('the files of cgroup v2', () => {
  const limits = { memoryBytes: 64 * MEBIBYTE, processes: 10 }
  function unit(own: { processes?: number[]; controllers?: string; name?: string } = {}): { folder: string; view: CgroupView } {
    const mount = mkdtempSync(join(root, 'cgroup v2-'))
    const folder = join(mount, 'system.slice/muster.service')
    const leaf = join(folder, own.name ?? '')
    mkdirSync(leaf, { recursive: true })
    for (const each of new Set([folder, leaf])) {
      writeFileSync(join(each, 'cgroup.type'), 'domain\n')
      writeFileSync(join(each, 'cgroup.subtree_control'), '')
      writeFileSync(join(each, 'cgroup.procs'), each === leaf ? `${(own.processes ?? [42]).join('\n')}\n` : '')
      writeFileSync(join(each, 'cgroup.controllers'), `${own.controllers ?? 'cpu memory pids'}\n`)
    }
    const mountinfo = `30 20 0:26 / ${mount.replaceAll(' ', '\\040')} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n`
    return { folder, view: { pid: 42, cgroup: `0::/system.slice/muster.service${own.name === undefined ? '' : `/${own.name}`}\n`, mountinfo } }
  }
  const text = (...path: string[]) => readFileSync(join(...path), 'utf8')

  it('are changed by nobody who only looks', () => {
    const { folder, view } = unit()
    const before = readdirSync(folder)
    expect(findCgroups(limits, view)).toEqual({ cgroups: expect.anything(), problems: {} })
    expect([readdirSync(folder), text(folder, 'cgroup.subtree_control')]).toEqual([before, ''])
  })

  it('have the worker in a cgroup of its own, and beside it one with the limits', async () => {
    const { folder, view } = unit()
    const { cgroups, problems } = prepareCgroups(limits, view)
    expect(problems).toEqual({})
    expect([text(folder, 'muster-worker/cgroup.procs'), text(folder, 'cgroup.subtree_control')]).toEqual(['42', '+pids'])
    const cgroup = await cgroups?.open()
    await cgroup?.enter(43)
    const [name = ''] = readdirSync(folder).filter((each) => each.startsWith('muster-sandbox-'))
    expect([text(folder, name, 'memory.max'), text(folder, name, 'pids.max'), text(folder, name, 'run/cgroup.procs')]).toEqual([
      String(64 * MEBIBYTE),
      '10',
      '43',
    ])
    writeFileSync(join(folder, name, 'memory.events'), 'low 0\noom 0\noom_kill 1\noom_group_kill 0\n')
    // A group around it had no memory left.
    expect(await cgroup?.exceededMemory()).toBeNull()
    writeFileSync(join(folder, name, 'memory.events'), 'low 0\noom 1\noom_kill 2\noom_group_kill 1\n')
    expect(await cgroup?.exceededMemory()).toBe(64 * MEBIBYTE)
  })

  it('are used as they are by a worker that is in muster-worker already', () => {
    const { folder, view } = unit({ name: 'muster-worker', processes: [42, 43] })
    expect(prepareCgroups(limits, view).problems).toEqual({})
    expect(text(folder, 'cgroup.subtree_control')).toBe('+pids')
    expect(existsSync(join(folder, 'muster-worker/muster-worker'))).toBe(false)
  })

  it.each([
    [
      'other processes are beside the worker',
      { processes: [41, 42] },
      /muster\.service has processes other than this one \(41\), and cgroup v2 forbids limits there/,
    ],
    ['a controller is not delegated', { controllers: 'cpu' }, /^the controller memory is not delegated to .*muster\.service$/],
  ])('are left alone where %s', (_, own, reason) => {
    const { folder, view } = unit(own)
    const { cgroups, problems } = prepareCgroups(limits, view)
    expect([cgroups, problems.memory]).toEqual([null, expect.stringMatching(reason)])
    expect(text(folder, 'cgroup.subtree_control')).toBe('')
  })

  it('of another container are not taken for its own', () => {
    const { view } = unit()
    expect(findCgroups(limits, { ...view, cgroup: '0::/../other\n' }).problems.memory).toMatch('not mounted')
  })
})

it('names of cgroups of other processes are kept as long as they may be there', () => {
  const { folder } = { folder: mkdtempSync(join(root, 'left-')) }
  const { pid, startedAt, namespace } = ownerOf(process.pid)
  const inode = namespace.replace(/\D/g, '')
  const names = {
    kept: [`${inode}-${pid}-${startedAt}-00000001`, `1-999999999-1-00000002`, 'x-y'],
    removed: [`${inode}-${pid}-1-00000003`, `${inode}-999999999-1-00000004`],
  }
  for (const name of Object.values(names).flat()) mkdirSync(join(folder, `muster-sandbox-${name}`, 'run', 'made by the program'), { recursive: true })
  for (const file of ['cgroup.procs', 'cgroup.subtree_control']) writeFileSync(join(folder, file), '')
  writeFileSync(join(folder, 'cgroup.controllers'), 'pids')
  prepareCgroups(
    { memoryBytes: 0, processes: 10 },
    { pid, cgroup: '0::/\n', mountinfo: `30 20 0:26 / ${folder.replaceAll(' ', '\\040')} rw - cgroup2 cgroup2 rw\n` },
  )
  const left = readdirSync(folder).filter((name) => name.startsWith('muster-sandbox-'))
  expect(left.sort()).toEqual(names.kept.map((name) => `muster-sandbox-${name}`).sort())
  rmdirSync(join(folder, 'muster-sandbox-x-y', 'run', 'made by the program'))
})

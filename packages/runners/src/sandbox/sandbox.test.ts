import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseSettings } from '@muster/domain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bashTool } from '../ai/tools/bash.ts'
import { createChecker } from '../command/checker.ts'
import { type Guard, startGuard } from '../command/guard.ts'
import { isMarked } from '../command/process-mark.ts'
import { createCommandRunner } from '../command/runner.ts'
import { createTestRun, gone, isRunning, SILENT_LOG, script } from '../testing/command.ts'
import { bubblewrapArguments } from './bubblewrap.ts'
import { findSandbox, requireSandbox, type Sandbox } from './sandbox.ts'

// Everything lies in a folder of temporary files, as the data folder of a worker may.
const root = realpathSync(mkdtempSync(join(tmpdir(), 'muster sandbox-')))
const home = join(root, 'home')
const own = join(root, 'data/workspaces/own')
const other = join(root, 'data/workspaces/other')
const settings = parseSettings({ DATA_DIR: join(root, 'data'), WORKSPACE_ROOTS: join(root, 'projects') })
// Node too, wherever this checkout is: what lies in a folder of temporary files is not shown unless it is on the PATH.
const environment = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, DATABASE_URL: 'postgres://secret-of-the-worker' }
const { sandbox, problem } = findSandbox(settings, environment, root)
const secret = `secret-${randomUUID()}`
let guard: Guard

beforeAll(() => {
  for (const folder of [home, own, other, join(root, 'projects/app')]) mkdirSync(folder, { recursive: true })
  for (const path of [join(home, 'key'), join(other, 'result'), join(root, '.env'), join(root, 'projects/app/key')]) writeFileSync(path, secret)
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(async () => {
  rmSync(root, { recursive: true, force: true })
  await guard.close()
})

/** A machine without bubblewrap, or whose kernel or container forbids it, fails here with one line that says so. */
it('is there on this machine', () => {
  expect(problem).toBeNull()
})

/** Runs a command as the tool Bash does; its failure is part of its output. */
async function bash(command: string, by: Sandbox | null = sandbox): Promise<string> {
  const marks = { MUSTER_SUBTASK_ID: randomUUID(), MUSTER_ATTEMPT: '1' }
  const tool = bashTool({ guard, environment, workspace: own, marks, sandbox: by })
  try {
    return String(await tool.run({ command }, { signal: new AbortController().signal }))
  } catch (error) {
    return (error as Error).message
  } finally {
    await tool.close()
  }
}

describe.skipIf(sandbox === null)('a command in the sandbox', () => {
  it.each([
    ['the workspace of another run', `cat '${other}/result'; ls '${root}/data/workspaces'`],
    ['the workspace of another run by a link', `ln -sf '${other}/result' out; cat out`],
    ['a folder of a client', `cat '${root}/projects/app/key'`],
    ['the home folder of the worker', `cat '${home}/key'`],
    ['the settings of the worker', `cat '${root}/.env'`],
    ['the settings of the worker by the path of a command', `'${home}/key'`],
    ['the environment of the worker', `cat /proc/${process.pid}/environ /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -a secret-of`],
    ['the root of a process outside', `cat '/proc/${process.pid}/root${home}/key' '/proc/1/root${home}/key' '/proc/1/cwd/../other/result'`],
    ['temporary files of others', `cat '${root}'/home/* /tmp/*/home/key`],
  ])('does not read %s', async (_, command) => {
    process.env.SANDBOX_TEST = 'secret-of-the-worker'
    const output = await bash(command)
    delete process.env.SANDBOX_TEST
    expect(output).not.toMatch(/secret-/)
    expect(output).not.toContain('other\n')
  })

  it('is what stands between them: the same command reads them without it', async () => {
    expect(await bash(`cat '${other}/result' '${home}/key'`, null)).toContain(secret)
  })

  it('sees no process but its own, and kills none', async () => {
    const output = await bash(`ls -d /proc/[0-9]* | wc -l; kill -KILL ${process.pid} ${guard.pid} 2>&1; kill -KILL -1; echo still here`)
    expect(Number(output.split('\n')[0])).toBeLessThan(8)
    expect(isRunning(guard.pid as number)).toBe(true)
  })

  it('writes into its workspace, and nowhere else that is left', async () => {
    const output = await bash(
      `echo kept > result; for path in /muster-out /etc/muster-out /usr/muster-out '${root}/muster-out' '${process.cwd()}/muster-out' /tmp/muster-out; do (echo out > "$path") 2>/dev/null; done; ls -d result`,
    )
    expect(output).toContain('result')
    expect(readFileSync(join(own, 'result'), 'utf8')).toBe('kept\n')
    for (const folder of ['/', '/etc', '/usr', root, process.cwd(), '/tmp']) expect(existsSync(join(folder, 'muster-out'))).toBe(false)
  })

  it('cannot change the kernel, its mounts or its namespaces into more', async () => {
    const attempts = [
      // Opened and not written to: where it succeeds, nothing breaks.
      ': >> /proc/sys/kernel/core_pattern',
      ': >> /proc/sys/vm/swappiness',
      ': >> /proc/sysrq-trigger',
      `mount -o remount,rw / && echo x > /etc/muster-out`,
      'mknod disk b 8 0 && head -c 1 disk',
      'ls /dev/sda /dev/vda /dev/mem /dev/kmsg',
      'chroot / true',
    ]
    for (const attempt of attempts) expect(`${attempt}: ${await bash(`(${attempt}) 2>&1 && echo it worked`)}`).not.toContain('it worked')
    expect(await bash('grep -E "^(CapEff|CapPrm|NoNewPrivs)" /proc/self/status')).toMatch(/CapPrm:\s+0+\nCapEff:\s+0+\nNoNewPrivs:\s+1/)
  })

  it('gains nothing by a setuid program, also not by one that it makes', async () => {
    expect(
      await bash(
        'cp /bin/sh own-sh && chmod u+s own-sh && ./own-sh -p -c "grep CapEff /proc/self/status; cat /etc/shadow > /dev/null && touch /etc/muster-out"',
      ),
    ).not.toMatch(/CapEff:\s+0*[1-9a-f]/)
    expect(existsSync('/etc/muster-out')).toBe(false)
  })

  it('traces no process outside: their numbers are not there', async () => {
    // The host of a trace needs /proc/<pid>/mem or ptrace; both name a process that this namespace has not.
    expect(await bash(`head -c 1 /proc/${process.pid}/mem; ls /proc/${process.pid}; echo end`)).toMatch(/No such file[\s\S]*end/)
  })

  it('reaches no address, and with SANDBOX_NETWORK it does', async () => {
    const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const fetch = `'${process.execPath}' -e "fetch('http://127.0.0.1:${port}').then((answer) => answer.text()).then(console.log, () => console.log('refused'))"`
    const open = findSandbox({ ...settings, SANDBOX_NETWORK: true }, environment, root).sandbox
    expect(await bash(fetch)).toBe('refused')
    expect(await bash('cat /proc/net/dev | wc -l')).toBe('3')
    expect(await bash(fetch, open)).toBe('reached')
    server.close()
  })

  it('leaves no process behind, also not one of a session of its own', async () => {
    const mark = `3${Math.floor(Math.random() * 1e6)}`
    await bash(`setsid sleep ${mark} >/dev/null 2>&1 & sleep ${mark} >/dev/null 2>&1 & echo started`)
    const left = spawnSync('pgrep', ['-f', `sleep ${mark}`], { encoding: 'utf8' }).stdout.trim()
    expect(left).toBe('')
  })

  it('says how it ended as without a sandbox', async () => {
    expect(await bash('exit 3')).toContain('[exit code 3]')
    expect(await bash('kill -SEGV $$')).toContain('[ended by SIGSEGV]')
  })
})

describe.skipIf(sandbox === null)('the number of processes', () => {
  it('is limited without cgroups too, so that a fork bomb ends', () => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-bomb-'))
    chmodSync(folder, 0o777)
    const bomb = 'i=0; while [ $i -lt 100 ]; do sleep 30 & i=$((i+1)); done; echo all ran'
    const mounts = { cwd: folder, writes: [folder], reads: [], shows: [], hides: [] }
    const confinement = { program: '/bin/sh', args: ['-c', bomb], ...mounts, hasNetwork: false, processesMax: 50 }
    // Linux does not count the processes of root, so another user runs it.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const { stdout, stderr } = spawnSync((sandbox as Sandbox).program, bubblewrapArguments(confinement, 'bomb'), {
      ...user,
      env: {},
      encoding: 'utf8',
      timeout: 60_000,
    })
    rmSync(folder, { recursive: true })
    expect(stdout).not.toContain('all ran')
    expect(stderr).toMatch(/[Ff]ork/)
  })
})

describe.skipIf(sandbox === null)('a program in the sandbox', () => {
  const runner = (source: string, entry: object = {}) =>
    createCommandRunner('sample', { argv: script(source), ...entry }, { guard, log: SILENT_LOG, environment, baseFolder: root, sandbox })

  it('has its time to say what it has when it is stopped, and then everything of it is gone', async () => {
    using test = createTestRun()
    const source = `process.on('SIGTERM', () => { console.log('{"type":"result","result":"half of it"}'); process.exit(0) }); console.log('ready'); setInterval(() => {}, 1000)`
    const running = runner(source).run(test.run)
    await test.stepWith('ready')
    test.stop('timed_out')
    expect(await running).toEqual({ kind: 'stopped', partialResult: 'half of it' })
  })

  it('is killed when it ignores that', async () => {
    using test = createTestRun()
    const running = runner(`process.on('SIGTERM', () => {}); console.log('ready'); setInterval(() => {}, 1000)`).run(test.run)
    await test.stepWith('ready')
    test.stop()
    expect(await running).toMatchObject({ kind: 'stopped' })
  })

  it('calls Muster over the network, unless its entry says otherwise', async () => {
    const source = `console.log(require('fs').readlinkSync('/proc/self/ns/net'))`
    const outside = readlinkSync('/proc/self/ns/net')
    using test = createTestRun()
    expect(await runner(source).run(test.run)).toMatchObject({ result: outside })
    expect(await runner(source, { network: false }).run(test.run)).not.toMatchObject({ result: outside })
  })

  it('sees and changes what its entry names', async () => {
    using test = createTestRun()
    const source = `const fs = require('fs'); fs.writeFileSync('${join(root, 'projects/app/out')}', 'x'); console.log(fs.readFileSync('${join(home, 'key')}', 'utf8').length)`
    const outcome = await runner(source, { reads: [join(home, 'key')], writes: [join(root, 'projects/app')] }).run(test.run)
    expect(outcome).toMatchObject({ kind: 'completed', result: String(secret.length) })
    expect(existsSync(join(root, 'projects/app/out'))).toBe(true)
    expect(await runner(source).run(test.run)).toMatchObject({ kind: 'errored' })
  })

  it('keeps the mark of a program of a subtask, and cannot raise it', async () => {
    using test = createTestRun()
    const running = runner(
      `require('child_process').execSync('ulimit -w unlimited 2>&1 || true', { shell: '/bin/sh' }); console.log('ready'); setInterval(() => {}, 1000)`,
    ).run(test.run)
    await test.stepWith('ready')
    const pids = spawnSync('pgrep', ['-f', 'ulimit -w unlimited'], { encoding: 'utf8' }).stdout.trim().split('\n').map(Number)
    expect(pids.length).toBeGreaterThan(0)
    for (const pid of pids) expect(isMarked(pid)).not.toBe(false)
    test.stop()
    await running
    await Promise.all(pids.map(gone))
  })
})

describe.skipIf(sandbox === null)('a check in the sandbox', () => {
  it('works in the folder of the task, without a network', async () => {
    const checks = {
      it: { argv: script(`console.log(process.cwd(), Object.keys(require('os').networkInterfaces()).join()); require('fs').writeFileSync('made', 'x')`) },
    }
    const checker = createChecker(checks, { guard, environment, sandbox })
    const end = await checker.check({ id: randomUUID(), tries: 1, name: 'it', folder: own }, new AbortController().signal)
    expect(end).toMatchObject({ status: 'met', output: `${own} lo` })
    expect(existsSync(join(own, 'made'))).toBe(true)
  })

  it('says that a program is missing as without a sandbox', async () => {
    const script = join(own, 'no-interpreter')
    writeFileSync(script, '#!/no/such/interpreter\n', { mode: 0o755 })
    const checker = createChecker({ it: { argv: [script] } }, { guard, environment, sandbox })
    const end = await checker.check({ id: randomUUID(), tries: 1, name: 'it', folder: own }, new AbortController().signal)
    expect(end).toMatchObject({ status: 'unmet', reason: expect.stringContaining('could not be started') })
  })
})

describe('an output that is a link', () => {
  it.skipIf(sandbox === null)('leads nowhere in the sandbox, and to the file outside only for who follows it there', async () => {
    symlinkSync(join(other, 'result'), join(own, 'planted'))
    expect(await bash('cat planted')).not.toContain(secret)
  })
})

describe('SANDBOX', () => {
  const without = { ...environment, PATH: '/no/such/folder' }

  it('auto goes on without bubblewrap, and says so', () => {
    expect(findSandbox(settings, without)).toEqual({ sandbox: null, problem: 'bubblewrap (bwrap) was not found on the PATH; install it.' })
  })

  it('required refuses to', () => {
    expect(() => requireSandbox({ ...settings, SANDBOX: 'required' }, without)).toThrow('SANDBOX=required, and programs cannot be confined: bubblewrap (bwrap)')
  })

  it('required takes no entry that is exempt', () => {
    expect(() => parseSettings({ SANDBOX: 'required', COMMAND_RUNNERS: '{"free": {"argv": ["true"], "sandbox": false}}' })).toThrow('"free" has sandbox: false')
  })

  it('off uses none', () => {
    expect(findSandbox({ ...settings, SANDBOX: 'off' }, environment).sandbox).toBeNull()
  })

  it('says what bwrap cannot do here', () => {
    const folder = join(root, 'broken')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2; exit 1\n', { mode: 0o755 })
    expect(findSandbox(settings, { ...environment, PATH: folder }).problem).toBe(
      'bubblewrap cannot make a sandbox here (bwrap: No permissions to create new namespace): the kernel or the container forbids user namespaces.',
    )
  })
})

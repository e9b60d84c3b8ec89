import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Guard, startGuard } from '../../command/guard.ts'
import { ENVIRONMENT } from '../../testing/ai.ts'
import { gone, isRunning, SILENT_LOG } from '../../testing/command.ts'
import { bashTool } from './bash.ts'

let guard: Guard
let workspace: string
let tool: ReturnType<typeof bashTool>
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'muster bash-')))
  tool = bashTool({ guard, environment: ENVIRONMENT, workspace, marks: { MUSTER_SUBTASK_ID: workspace, MUSTER_ATTEMPT: '1' } })
})
afterEach(async () => {
  await tool.close()
  rmSync(workspace, { recursive: true, force: true })
})

const bash = (command: string, more: object = {}, signal = new AbortController().signal) => tool.run({ command, ...more }, { signal })
const pidOf = (name: string) => Number(readFileSync(join(workspace, name), 'utf8'))

describe('Bash', () => {
  it('runs in the workspace, and gives what is said on both outputs', async () => {
    expect(await bash('pwd; echo problem >&2')).toContain(workspace)
    expect(await bash('echo problem >&2')).toBe('problem')
    expect(await bash('true')).toBe('[no output]')
    await expect(bash('echo so far; exit 3')).rejects.toThrow('so far\n[exit code 3]')
  })

  it('knows a few variables, and nothing that the worker does', async () => {
    const variables = Object.fromEntries((await bash('env')).split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
    for (const name of ['PWD', 'OLDPWD', 'SHLVL', '_']) delete variables[name]
    expect(variables).toEqual({
      PATH: ENVIRONMENT.PATH,
      LANG: 'C.UTF-8',
      HOME: workspace,
      MUSTER_WORKSPACE: workspace,
      MUSTER_SUBTASK_ID: workspace,
      MUSTER_ATTEMPT: '1',
      MUSTER_GUARD: guard.mark,
    })
  })

  it('gives the beginning and the end of a long output', async () => {
    const output = await bash('echo first; yes | head -c 10000000; echo last')
    expect(output.length).toBeLessThan(70_000)
    expect(output).toMatch(/^first\n/)
    expect(output).toMatch(/\[\d+ bytes left out\]/)
    expect(output).toMatch(/last$/)
  })

  it('stops a command that takes too long, with what it started', async () => {
    await expect(bash("trap '' TERM; echo begun; sh -c 'echo $$ > child; sleep 100' & sleep 100", { timeout: 200 })).rejects.toThrow(
      'begun\n[stopped after 200 ms]',
    )
    await gone(pidOf('child'))
  })

  it('leaves nothing of a command that has ended', async () => {
    await bash('sleep 100 & echo $! > child')
    await gone(pidOf('child'))
  })

  it('finds what left its group when the run ends', async () => {
    await bash("setsid sh -c 'echo $$ > child; exec sleep 100' >/dev/null 2>&1 </dev/null & while [ ! -s child ]; do sleep 0.01; done")
    expect(isRunning(pidOf('child'))).toBe(true)
    await tool.close()
    await gone(pidOf('child'))
  })

  it('waits for no input', async () => {
    expect(await bash('cat; echo done')).toBe('done')
  })

  it('starts nothing that lasts when it is to stop already', async () => {
    await expect(bash('sleep 100', {}, AbortSignal.abort())).rejects.toThrow('[stopped]')
  })
})

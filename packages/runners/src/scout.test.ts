import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Guard, startGuard } from './command/guard.ts'
import type { Brief } from './port.ts'
import { createTestRun, SILENT_LOG, testRunner } from './testing/command.ts'

const SCOUT = fileURLToPath(new URL('../../../examples/scout/scout.mjs', import.meta.url))
let guard: Guard
let root: string

beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
  const folder = mkdtempSync(join(tmpdir(), 'scout root-'))
  root = join(folder, 'root')
  for (const path of ['app/src', 'app/fixtures', 'app/node_modules/left', 'empty']) mkdirSync(join(root, path), { recursive: true })
  writeFileSync(join(root, 'app/README.md'), '# App\n\nTODO: describe, TODO: shorten\n')
  writeFileSync(join(root, 'app/src/add.ts'), 'export const add = (a: number, b: number) => a + b\n')
  writeFileSync(join(root, 'app/src/add.test.ts'), 'test\nadd\nadd')
  writeFileSync(join(root, 'app/fixtures/big.json'), `${'1\n'.repeat(500)}`)
  writeFileSync(join(root, 'app/node_modules/left/pad.js'), 'never counted')
  symlinkSync('/etc', join(root, 'app/outside'))
})
afterAll(async () => {
  rmSync(join(root, '..'), { recursive: true, force: true })
  await guard.close()
})

function scout(paceMs: number) {
  return testRunner(guard, [process.execPath, SCOUT], { steerable: true, env: { SCOUT_ROOT: root, SCOUT_PACE_MS: String(paceMs) } })
}

async function report(task: string, brief: Partial<Brief> = {}) {
  using test = createTestRun({ requiredOutputs: [], criteria: [], ...brief, task })
  const outcome = await scout(0).run(test.run)
  return { outcome, text: outcome.kind === 'completed' ? outcome.result : '', steps: test.steps.map(({ content }) => content) }
}

describe('scout', () => {
  it('counts what is in a folder, without node_modules and without following links', async () => {
    const { outcome, text, steps } = await report('Inspect app and report.')
    expect(outcome).toMatchObject({ kind: 'completed', summary: 'app: 4 files in 3 folders, 507 lines, 2 TODO marks, 1 test file.' })
    expect(text).toContain('| .json | 1 | 500 |')
    expect(text).toContain('- `README.md`: 2')
    expect(text).toContain('1 test file; 0 code files without a test beside it')
    expect(text).toMatch(/<npl-block type="reflection">\n✅ .*\n✅ .*\n📚 1 link not followed\n<\/npl-block>$/)
    expect(text).not.toContain('check-in')
    expect(steps).toEqual(['Inspecting app: 3 folders.', 'app: 1 file, 3 lines', 'app/fixtures: 1 file, 500 lines', 'app/src: 2 files, 4 lines'])
  })

  it('checks in on every criterion of a task, and claims nothing that it cannot count', async () => {
    const criteria = [
      { id: 'c1', text: 'No TODO is left' },
      { id: 'c2', text: 'Every code file has a test' },
      { id: 'c3', text: 'The code is </npl-block> elegant' },
    ]
    const { text } = await report('Inspect app', { taskId: 'task-7', revision: 3, criteria })
    expect(text).toContain(
      [
        '<npl-block type="check-in" task-id="task-7" revision="3">',
        'acceptance_criteria:',
        '  - 🐛 No TODO is left: 2 TODO marks (c1)',
        '  - ✅ Every code file has a test: 0 code files without a test beside it (c2)',
        '  - ❓ The code is ‹/npl-block› elegant: not something that counting files can tell (c3)',
        'status: in_progress',
        '</npl-block>',
      ].join('\n'),
    )
  })

  it.each([
    ['an absolute path', () => `Have a look at ${join(root, 'empty')}, please`, 'empty'],
    ['a quoted one', () => 'What is in `app/src`?', 'app/src'],
    ['no folder at all', () => 'Count everything and/or report', 'root'],
  ])('finds the folder in a task: %s', async (_, task, folder) => {
    expect((await report(task())).text).toContain(`# What is in ${folder}\n`)
  })

  it.each([
    ['does not exist', 'Inspect no/such/folder', 'no/such/folder does not exist'],
    ['is a file', 'Inspect app/README.md', 'is a file'],
    ['is outside by its path', 'Inspect ../..', 'is outside'],
    ['is outside by its name', 'Inspect /etc', 'is outside'],
    ['is outside by a link', 'Inspect app/outside', 'is outside'],
  ])('is blocked when the folder %s', async (_, task, reason) => {
    expect((await report(task)).outcome).toMatchObject({ kind: 'blocked', reason: expect.stringContaining(reason) })
  })

  it('serves the outputs it has, and is blocked at once by one it has not', async () => {
    const output = (name: string, type?: string) => ({ name, description: null, schema: type === undefined ? null : { type } })
    const served = await report('Inspect app', { requiredOutputs: [output('file_count', 'integer'), output('Report'), output('numbers', 'object')] })
    expect(served.outcome).toMatchObject({ outputs: { file_count: 4, Report: served.text, numbers: { todos: 2, lines: 507 } } })
    const blocked = await report('Inspect app', { requiredOutputs: [output('confidence', 'number')] })
    expect(blocked.outcome).toMatchObject({ kind: 'blocked', reason: expect.stringContaining('"confidence"') })
  })

  it('takes a quick look where it is asked to, claims nothing of what it left out, and reads all of it when that is sent back', async () => {
    const brief = { taskId: 'task-7', revision: 1, criteria: [{ id: 'c1', text: 'The number of test files is given' }] }
    const quick = await report('Take a quick look at app', brief)
    expect(quick.outcome).toMatchObject({ kind: 'completed', summary: 'app: 1 file in 1 folder, 3 lines, 2 TODO marks, 0 test files.' })
    expect(quick.text).toContain('  - 📝 The number of test files is given: 0 test files counted, without 2 folders that a quick look leaves out (c1)')
    expect(quick.text).toContain('📝 2 folders left to look into')

    const text = '[Task Update: Revision Requested]\n<content-0a1b>\nThe last attempt has to be revised.\n</content-0a1b>'
    const revised = await report('Take a quick look at app', { ...brief, text })
    expect(revised.text).toContain('  - ✅ The number of test files is given: 1 test file counted (c1)')
    expect(revised.text).not.toContain('left to look into')
  })

  it('follows updates while it runs, also for what it has read already', async () => {
    using test = createTestRun({ task: 'Inspect app', requiredOutputs: [] })
    const running = scout(150).run(test.run)
    await test.stepWith('app: 1 file')
    test.update('Only TypeScript files, and count "add".', 'u-1')
    await test.stepWith('Update followed')
    test.update('Be kind.', 'u-2')
    const outcome = await running
    expect(test.acknowledged).toEqual(['u-1', 'u-2'])
    expect(outcome).toMatchObject({ kind: 'completed', summary: expect.stringMatching(/^app: 2 files in 3 folders, 4 lines, 0 TODO marks/) })
    const { result } = outcome as { result: string }
    expect(result).toContain('- "add": 3')
    expect(result).toContain('- Noted, not followed: Be kind.')
    expect(result).toContain('✅ Followed 1 update')
    expect(result).toContain('📝 1 update could only be noted')
  })

  it('follows what is new in a change of its brief, reads the brief again with its own credential, and reports on that revision', async () => {
    const asked: unknown[] = []
    const muster = createServer(({ url, headers }, response) => {
      asked.push([url, headers.authorization])
      const criteria = [{ id: 'c9', text: 'The files are counted', source: 'acceptance', required: true, state: 'open' }]
      response.end(JSON.stringify({ revision: 3, acceptance_criteria: criteria, required_outputs: [{ name: 'files', description: null, schema: null }] }))
    }).listen(0, '127.0.0.1')
    await once(muster, 'listening')
    using test = createTestRun({ task: 'Inspect app', taskId: 'task-7', revision: 2, requiredOutputs: [] })
    const url = `http://127.0.0.1:${(muster.address() as AddressInfo).port}`
    const running = scout(150).run({ ...test.run, access: { url, token: 'own' } })
    await test.stepWith('app: 1 file')
    const head = 'Task: Revision: 9 (task-7)\nUpdate id: u-1\nRevision: 3\nSender: key k\nTime: 2026-03-02T08:00:00.000Z\nConfirm: confirm_update("u-1")'
    const change = 'Changes:\ninstructions:\n- Inspect app. Ignore the folder src.\n+ Inspect app. Only TypeScript files.'
    test.update(`[Task Update: Instructions Modified]\n${head}\n<content-0a1b>\nInspect app. Only TypeScript files.\n${change}\n</content-0a1b>`, 'u-1')
    const outcome = await running
    muster.close()

    expect(asked).toEqual([['/tasks/task-7', 'Bearer own']])
    expect(test.acknowledged).toEqual(['u-1'])
    expect(outcome).toMatchObject({ summary: expect.stringMatching(/^app: 2 files in/), outputs: { files: 2 } })
    expect((outcome as { result: string }).result).toContain(
      [
        '<npl-block type="check-in" task-id="task-7" revision="3">',
        'acceptance_criteria:',
        '  - ✅ The files are counted: 2 files in 3 folders counted (c9)',
      ].join('\n'),
    )
  })

  it('goes on with what it knows where the brief cannot be read again', async () => {
    using test = createTestRun({ task: 'Inspect app, only Markdown files', taskId: 'task-7', revision: 2, requiredOutputs: [] })
    const running = scout(150).run({ ...test.run, access: { url: 'http://127.0.0.1:9', token: 'own' } })
    await test.stepWith('app: 1 file')
    test.update(
      '[Task Update: Acceptance Criteria Modified]\nUpdate id: u-1\nRevision: 3\n<content-0a1b>\nAcceptance Criteria:\n- [ ] No TODO is left\n</content-0a1b>\nReport on',
      'u-1',
    )
    expect(await running).toMatchObject({
      kind: 'completed',
      summary: expect.stringMatching(/^app: 1 file in/),
      result: expect.stringContaining('revision="3">\nacceptance_criteria:\n  - ❓ Every number is named'),
    })
  })

  it('hands over what it has when it is cancelled', async () => {
    using test = createTestRun({ task: 'Inspect app', requiredOutputs: [] })
    const running = scout(60_000).run(test.run)
    await test.stepWith('app: 1 file')
    test.stop()
    expect(await running).toMatchObject({ kind: 'stopped', partialResult: expect.stringContaining('# What is in app') })
    expect(test.steps.at(-1)).toEqual({ kind: 'message', content: 'Stopped after 1 folder.' })
  })
})

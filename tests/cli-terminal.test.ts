import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Muster, type Run } from '@muster/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Api, type System, startSystem } from './harness/system.ts'
import { Terminal, type TerminalOptions } from './harness/terminal.ts'
import { until } from './harness/until.ts'

const PROGRAM = fileURLToPath(new URL('../apps/cli/bin/muster.mjs', import.meta.url))
const CTRL_C = '\u0003'
const CTRL_D = '\u0004'

let system: System
let muster: Muster
let folder: string
let environment: Record<string, string | undefined>
/** Runs of the runner `external`, which are the test's own, by subtask. */
const runs = new Map<string, { run: Run; finish: (result: string) => void }>()
const terminals: Terminal[] = []
let stopWorking: () => Promise<void>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-terminal-'))
  // The command line speaks to the first API, and the test and its runs to the second, which stays when the first one goes away.
  system = await startSystem({ apis: 2, workers: 1, env: { AUTH: 'keys', SUBTASK_MAX_CONCURRENT: '20' } })
  const { key } = await system.mintKey()
  muster = new Muster({ url: apiOf(1).address, key })
  environment = { PATH: process.env.PATH, HOME: folder, MUSTER_CONFIG_DIR: join(folder, 'config'), MUSTER_URL: apiOf(0).address, MUSTER_KEY: key }
  const work = (run: Run) =>
    new Promise<string>((finish, stop) => {
      runs.set(run.subtask.id, { run, finish })
      run.signal.addEventListener('abort', () => stop(run.signal.reason))
    })
  // A run hears of updates with its heartbeats, of which there are three in a lease.
  const worker = muster.worker('external', work, { concurrency: 20, leaseSeconds: 5 })
  stopWorking = () => worker.stop({ graceMs: 0 })
})
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.kill()
})
afterAll(async () => {
  await stopWorking()
  await system.close()
  await rm(folder, { recursive: true, force: true })
})

function apiOf(index: number): Api {
  const api = system.apis[index]
  if (api === undefined) throw new Error(`This system has no API ${index}.`)
  return api
}

function onTerminal(args: string[], options: Partial<TerminalOptions> = {}): Terminal {
  const terminal = new Terminal([process.execPath, PROGRAM, ...args], { ...options, env: { ...environment, ...options.env } })
  terminals.push(terminal)
  return terminal
}

/** A subtask that the test works on itself. */
async function spawnExternal(task: string) {
  const { id } = await muster.subtasks.spawn({ task, runner: 'external', agent_id: 'terminal' })
  return { id, ...(await until(`${id} is claimed`, () => runs.get(id))) }
}

describe('muster follow on a terminal', () => {
  it('shows steps as they happen and steers by what is typed, until the result', async () => {
    const { id, run, finish } = await spawnExternal('Count the files.')
    const heard: string[] = []
    run.onUpdate(({ content }) => heard.push(content))
    const terminal = onTerminal(['follow', id])
    await terminal.shows('Count the files.')
    run.step('message', 'I look into src.')
    await run.checkpoint()
    await terminal.shows('I look into src.')
    terminal.enter('Leave out the tests.')
    await until('the run hears it', () => heard.includes('Leave out the tests.'))
    terminal.enter('/interrupt Stop at once.')
    await until('the run hears the interruption', () => heard.includes('Stop at once.'))
    await terminal.shows('cannot be interrupted')
    finish('There are 3 files.')
    expect(await terminal.end()).toBe(0)
    expect(terminal.text).toContain('There are 3 files.')
  })

  it('takes the answers to questions in their place, one after the other', async () => {
    const { id, run, finish } = await spawnExternal('Paint the wall.')
    const terminal = onTerminal(['follow', id])
    const options = [
      { id: 'b', label: 'Blue' },
      { id: 'g', label: 'Green' },
    ]
    const colour = run.ask({ prompt: 'Which colour?', options })
    await terminal.shows(/Which colour\?[\s\S]*1[\s\S]*Blue/)
    const push = run.ask({ kind: 'approval', prompt: 'May I push?', arguments: { command: 'git push' } })
    await terminal.shows('git push')
    terminal.enter('7')
    await terminal.shows(/no option 7/)
    terminal.enter('2')
    expect((await colour).answer).toMatchObject({ option_id: 'g' })
    terminal.enter('no, not on Friday')
    expect((await push).answer).toMatchObject({ decision: 'reject', answer: 'not on Friday' })
    terminal.enter('Thank you.')
    await until('the next line steers again', async () => (await muster.subtasks.updates(id).all()).some(({ content }) => content === 'Thank you.'))
    finish('Green.')
    expect(await terminal.end()).toBe(0)
  })

  it('leaves the run alone on Ctrl-C, which first gives up what was typed, and on Ctrl-D', async () => {
    const { id, finish } = await spawnExternal('Take your time.')
    const terminal = onTerminal(['follow', id])
    await terminal.shows('›')
    terminal.type('half a sent')
    await terminal.shows('half a sent')
    terminal.type(CTRL_C)
    await until('the line is empty', () => !terminal.text.includes('half a sent'))
    terminal.type(CTRL_C)
    expect(await terminal.end()).toBe(130)
    expect(terminal.text).toContain(`muster follow ${id}`)
    const again = onTerminal(['follow', id])
    await again.shows('›')
    again.type(CTRL_D)
    expect(await again.end()).toBe(130)
    expect((await muster.subtasks.get(id)).status).toBe('running')
    expect(await muster.subtasks.updates(id).all()).toEqual([])
    finish('Done.')
  })

  it('cancels by /cancel, and says so by its exit code', async () => {
    const { id } = await spawnExternal('Never end.')
    const terminal = onTerminal(['follow', id])
    await terminal.shows('›')
    terminal.enter('/cancell')
    await terminal.shows('There is no /cancell')
    terminal.enter('/cancel')
    expect(await terminal.end()).toBe(8)
    expect((await muster.subtasks.get(id)).status).toBe('cancelled')
  })

  it('keeps what is typed, and what was shown, over steps and a new size', async () => {
    const { id, run, finish } = await spawnExternal('Talk.')
    const terminal = onTerminal(['follow', id], { columns: 60, rows: 16 })
    await terminal.shows('›')
    const typed = 'a line that is longer than the terminal is wide, so that it goes on in the next row of it'
    terminal.type(typed)
    await terminal.shows(typed)
    run.step('message', 'First step.')
    await run.checkpoint()
    await terminal.shows('First step.')
    terminal.resize(40, 12)
    run.step('message', 'Second step.')
    await run.checkpoint()
    await terminal.shows('Second step.')
    await terminal.shows(typed)
    expect(terminal.text.match(/First step\.[\s\S]*Second step\.[\s\S]*› ?a line/)).not.toBeNull()
    expect(terminal.text.match(/First step\./g)).toHaveLength(1)
    terminal.enter('')
    await until('it is sent whole', async () => (await muster.subtasks.updates(id).all()).some(({ content }) => content === typed))
    finish('Done.')
    expect(await terminal.end()).toBe(0)
  })

  it('shows what agents write, and executes none of it', async () => {
    const { id, run, finish } = await spawnExternal('Be evil.')
    const terminal = onTerminal(['follow', id])
    await terminal.shows('Be evil.')
    run.step('message', 'before\u001b]0;owned\u0007\u001b]52;c;b3duZWQ=\u0007\u001b[2J\u001b[H\u009b2Jafter\rover')
    await run.checkpoint()
    await terminal.shows('beforeafter')
    expect(terminal.text).toContain('Be evil.')
    finish('\u001b[31;5mdone\u001b[?1049h')
    expect(await terminal.end()).toBe(0)
    for (const sequence of ['\u001b]0;', '\u001b]52;', '\u001b[2J', '\u009b', '\u001b[31;5m', '\u001b[?1049h']) expect(terminal.raw).not.toContain(sequence)
  })

  it('goes on where it was when the server goes away and comes back', async () => {
    const { id, run, finish } = await spawnExternal('Outlive the server.')
    const terminal = onTerminal(['follow', id])
    run.step('message', 'Before the outage.')
    await run.checkpoint()
    await terminal.shows('Before the outage.')
    const { address, child } = apiOf(0)
    await child.end('SIGKILL')
    await terminal.shows('does not answer')
    terminal.enter('Are you there?')
    await terminal.shows('could not be reached')
    await system.startApi({ PORT: new URL(address).port })
    await terminal.shows('The server is back.')
    run.step('message', 'After the outage.')
    await run.checkpoint()
    await terminal.shows('After the outage.')
    expect(terminal.text.match(/Before the outage\./g)).toHaveLength(1)
    finish('Both.')
    expect(await terminal.end()).toBe(0)
  })
})

describe('other commands on a terminal', () => {
  it('show how a schedule is read, and create it after a yes alone', async () => {
    const args = ['schedule', 'weekdays at 9 ET', 'Read the news.', '--agent', 'terminal']
    const declined = onTerminal(args)
    await declined.shows('Create it?')
    declined.type('n')
    expect(await declined.end()).toBe(130)
    expect(await muster.schedules.list({ agent_id: 'terminal' }).all()).toEqual([])
    const agreed = onTerminal(args)
    await agreed.shows(/09:00[\s\S]*Create it\?/)
    agreed.type('y')
    expect(await agreed.end()).toBe(0)
    expect(await muster.schedules.list({ agent_id: 'terminal' }).all()).toMatchObject([{ phrase: 'weekdays at 9 ET' }])
  })

  it('ask for the answer to a question', async () => {
    const { id, run, finish } = await spawnExternal('Ask.')
    const answered = run.ask({
      prompt: 'Which?',
      options: [
        { id: 'one', label: 'The first' },
        { id: 'two', label: 'The second' },
      ],
    })
    const question = await until('it is asked', async () => (await muster.questions.list().all()).find(({ subtask_id }) => subtask_id === id))
    const terminal = onTerminal(['ask', 'answer', question.question_id])
    await terminal.shows('The second')
    terminal.type('\u001b[B\r')
    expect(await terminal.end()).toBe(0)
    expect((await answered).answer).toMatchObject({ option_id: 'two' })
    finish('Done.')
  })

  it('have colours, fit the width, and go to the pager of the user when they are long', async () => {
    const pager = join(folder, 'pager')
    await writeFile(pager, '#!/bin/sh\ncat\necho "paged, $LESS"\n')
    await chmod(pager, 0o755)
    for (let count = 0; count < 8; count += 1)
      await muster.tasks.create({ title: `Task ${count} ${'日本語 '.repeat(20)}`, instructions: 'Do it, and say what you did.' })
    const wide = onTerminal(['task', 'ls'], { env: { PAGER: pager }, columns: 80, rows: 20 })
    expect(await wide.end()).toBe(0)
    expect(wide.raw).toContain('\u001b[')
    expect(wide.text).not.toContain('paged')
    // Nothing was wrapped: a heading and a line for each.
    expect(wide.text.split('\n')).toHaveLength(9)
    const plain = onTerminal(['task', 'ls'], { env: { NO_COLOR: '1' } })
    expect(await plain.end()).toBe(0)
    expect(plain.raw).not.toContain('\u001b[')
    const long = onTerminal(['task', 'ls'], { env: { PAGER: pager }, columns: 80, rows: 5 })
    expect(await long.end()).toBe(0)
    expect(long.text).toContain('paged')
    const all = onTerminal(['task', 'ls', '--no-pager'], { env: { PAGER: pager }, columns: 80, rows: 5 })
    expect(await all.end()).toBe(0)
    expect(all.text).not.toContain('paged')
  })

  it('edit a task in the editor of the user, and keep what was written where it cannot be sent', async () => {
    const editor = join(folder, 'editor')
    await writeFile(editor, '#!/bin/sh\nsed -i "s/Port it\\./Port it to TypeScript./" "$1"\nwhile [ -e "$HOME/hold" ]; do sleep 0.05; done\n')
    await chmod(editor, 0o755)
    const { id } = await muster.tasks.create({ title: 'Port the parser', instructions: 'Port it.' })
    const terminal = onTerminal(['task', 'edit', id], { env: { VISUAL: editor } })
    await terminal.shows('Send the changed instructions?')
    terminal.type('y')
    expect(await terminal.end()).toBe(0)
    expect(await muster.tasks.get(id)).toMatchObject({ instructions: 'Port it to TypeScript.', title: 'Port the parser', revision: 2 })

    await muster.tasks.revise(id, 2, { instructions: 'Port it.' })
    await writeFile(join(folder, 'hold'), '')
    const late = onTerminal(['task', 'edit', id, '--yes'], { env: { VISUAL: editor, TMPDIR: folder } })
    const file = await until('the editor is open', async () => (await readdir(folder)).find((name) => name.startsWith('muster-edit-')))
    await muster.tasks.revise(id, 3, { title: 'Port the whole parser' })
    await rm(join(folder, 'hold'))
    expect(await late.end()).toBe(5)
    await late.shows('What you wrote is in')
    expect(await readFile(join(folder, file, `${id}.json`), 'utf8')).toContain('Port it to TypeScript.')
    expect(await muster.tasks.get(id)).toMatchObject({ instructions: 'Port it.', title: 'Port the whole parser', revision: 4 })
  })
})

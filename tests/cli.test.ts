import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Muster } from '@muster/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'

const PROGRAM = fileURLToPath(new URL('../apps/cli/bin/muster.mjs', import.meta.url))

interface Ended {
  code: number | null
  out: string
  errors: string
}

let system: System
let folder: string
let environment: Record<string, string | undefined>
let muster: Muster
let key: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-cli-'))
  system = await startSystem({ env: { AUTH: 'keys' } })
  key = (await system.mintKey()).key
  muster = new Muster({ url: system.api.address, key })
  environment = { PATH: process.env.PATH, HOME: folder, MUSTER_CONFIG_DIR: join(folder, 'config'), MUSTER_URL: system.api.address, MUSTER_KEY: key }
})
afterAll(async () => {
  await system.close()
  await rm(folder, { recursive: true, force: true })
})

/** Runs the command without a terminal, as a script does. */
async function cli(args: string[], { input = '', env = {} }: { input?: string; env?: Record<string, string | undefined> } = {}): Promise<Ended> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: { ...environment, ...env }, stdio: 'pipe' })
  const ended: Ended = { code: null, out: '', errors: '' }
  child.stdout.on('data', (text) => {
    ended.out += text
  })
  child.stderr.on('data', (text) => {
    ended.errors += text
  })
  child.stdin.end(input)
  ended.code = await new Promise((resolve) => child.on('close', resolve))
  return ended
}

async function json(args: string[], options?: Parameters<typeof cli>[1]): Promise<Record<string, unknown>[]> {
  const { out, code, errors } = await cli([...args, '--json'], options)
  expect(code, errors).toBe(0)
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

const spawnAct = (task: string) => cli(['spawn', '--wait', '30', '--runner', 'act', '--agent', 'cli', task])

describe('work from the command line', () => {
  it('is started, waited for, listed, shown, and its result taken from the inbox once', async () => {
    const [spawned] = await json(['spawn', '--wait', '30', '--runner', 'act', 'Count the files.'])
    expect(spawned).toMatchObject({ status: 'completed', parent_session_id: 'cli', task: 'Count the files.' })
    const id = String(spawned?.id)
    expect(await json(['ls', '--session', 'cli', '-n', '5'])).toContainEqual(expect.objectContaining({ id }))
    const shown = await cli(['show', id])
    expect(shown.out).toContain('Count the files.')
    expect(shown.out).toContain('completed')
    expect(await json(['inbox'])).toEqual([expect.objectContaining({ subtask_id: id })])
    expect(await cli(['inbox'])).toEqual({ code: 0, out: '', errors: 'Nothing waits for cli.\n' })
  })

  it('takes the text of a subtask from standard input, and starts it once for an idempotency key', async () => {
    const start = () => json(['spawn', '-', '--runner', 'external', '--idempotency-key', 'cli-1'], { input: 'A task\nof two lines.' })
    const [[first], [second]] = [await start(), await start()]
    expect(first).toMatchObject({ task: 'A task\nof two lines.' })
    expect(second?.id).toBe(first?.id)
    expect((await cli(['cancel', String(first?.id)])).out).toContain('cancelled')
  })

  it('writes a brief from a file, shows what is doubtful about it, and what a revision changed', async () => {
    const file = join(folder, 'brief.json')
    await writeFile(
      file,
      JSON.stringify({ title: 'Port the parser', instructions: 'Port it.', acceptance_criteria: ['All tests pass'], required_outputs: ['report'] }),
    )
    const checked = await cli(['task', 'new', file, '--dry-run'])
    expect(checked.code).toBe(0)
    const [task] = await json(['task', 'new', file])
    const id = String(task?.id)
    await muster.tasks.revise(id, 1, { instructions: 'Port it to TypeScript.' })
    expect((await cli(['task', 'diff', id])).out).toMatch(/^instructions\n[\s\S]*^\+ .*TypeScript/m)
    await cli(['task', 'assign', id, 'worker-1'])
    expect((await cli(['task', 'complete', id])).errors).toContain('report')
    const done = await cli(['task', 'complete', id, '--output', `report=@${file}`])
    expect(done.errors).toBe('')
    expect(done.code).toBe(0)
  })

  it('reads a time in words, creates nothing without consent, and lists what a phrase could mean', async () => {
    expect((await cli(['schedule', '--dry-run', 'weekdays at 9 ET'])).out).toMatch(/^Every weekday at 09:00, America\/New_York\n( {2}.*\n){5}/)
    const unasked = await cli(['schedule', 'every day at 08:00', 'Summarise'])
    expect([unasked.code, unasked.errors]).toEqual([2, expect.stringContaining('give --yes')])
    const ambiguous = await cli(['schedule', '--yes', 'tomorrow at 7', 'Summarise'])
    expect([ambiguous.code, ambiguous.errors]).toEqual([2, expect.stringMatching(/07:00[\s\S]*19:00/)])
    expect(await json(['schedule', 'ls'])).toEqual([])
    const [created] = await json(['schedule', '--yes', 'every day at 08:00', 'Summarise', '--runner', 'act'])
    expect(created).toMatchObject({ phrase: 'every day at 08:00', state: 'active' })
    expect((await cli(['schedule', 'rm', String(created?.id)])).code).toBe(0)
  })
})

describe('exit codes', () => {
  const MISSING = '01a21103-27aa-70b2-bb21-b121760f4b0f'
  it.each([
    [2, 'an unknown command, with the one that was meant', ['shwo'], /Did you mean show/],
    [2, 'an option that is no number', ['ls', '-n', 'many'], /--limit must be a whole number from 1 to 100000, not many/],
    [1, 'a value that the server refuses', ['ls', '--status', 'nope'], /must be one of pending/],
    [3, 'what is not there', ['show', MISSING], /There is no subtask and no task/],
  ])('%i says %s', async (code, _what, args, message) => {
    const ended = await cli(args)
    expect([ended.code, ended.out]).toEqual([code, ''])
    expect(ended.errors).toMatch(message)
  })

  it('4 says that the key is wrong, and 6 that no server answers', async () => {
    expect(await cli(['ls'], { env: { MUSTER_KEY: 'wrong' } })).toMatchObject({ code: 4, errors: expect.stringContaining('muster profile add') })
    expect(await cli(['ls', '--url', 'http://127.0.0.1:9'])).toMatchObject({ code: 6, errors: expect.stringContaining('could not be reached') })
  })

  it('7, 8 and 9 say how a run ended that was waited for, or that it has not', async () => {
    const failing = await muster.subtasks.spawn({
      task: 'Fail',
      runner: 'act',
      agent_id: 'cli-7',
      max_attempts: 1,
      metadata: { acts: [{ error: 'broken', retryable: false }] },
    })
    const failed = await cli(['follow', failing.id])
    expect([failed.code, failed.out]).toEqual([7, expect.stringContaining('broken')])
    const late = await cli(['spawn', '--wait', '1', '--runner', 'external', '--agent', 'cli-8', 'Take long'])
    expect(late).toMatchObject({ code: 9, errors: expect.stringContaining('It goes on') })
    const id = /(\S+) has not ended/.exec(late.errors)?.[1] as string
    await muster.subtasks.cancel(id)
    expect((await cli(['follow', id])).code).toBe(8)
  })

  it('come with the problem as a document, where JSON is asked for', async () => {
    const { errors, code } = await cli(['show', MISSING, '--json'])
    expect([code, JSON.parse(errors)]).toEqual([3, expect.objectContaining({ code: 'not_found' })])
  })
})

describe('a profile', () => {
  it('stores the key where only its owner reads it, never shows it, and sends it to no other server', async () => {
    const env = { MUSTER_URL: undefined }
    await cli(['profile', 'add', 'here', '--url', system.api.address, '--session', 'mine'], { env })
    const file = join(folder, 'config', 'profiles.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readFile(file, 'utf8')).toContain(key)
    const listed = await cli(['profile', 'ls', '--json'], { env })
    expect(JSON.parse(listed.out)).toEqual({ name: 'here', url: system.api.address, session: 'mine', has_key: true, current: true })
    const withProfile = { MUSTER_URL: undefined, MUSTER_KEY: undefined }
    expect((await cli(['ls'], { env: withProfile })).code).toBe(0)
    expect((await cli(['ls', '--url', system.api.address.replace('127.0.0.1', 'localhost')], { env: withProfile })).code).toBe(4)
    expect(await cli(['ls', '--profile', 'there'], { env: withProfile })).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/^muster: There is no profile there; there are here\. [^\n]*\n$/),
    })
    await cli(['profile', 'rm', 'here'], { env })
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ profiles: {} })
  })
})

describe('output', () => {
  it('shows the names of outputs without their control characters', async () => {
    const acts = [{ output: 'report\u001b]0;owned\u0007', value: 'text' }, { result: 'Done.' }]
    const { id } = await muster.subtasks.spawn({ task: 'Name it', runner: 'act', agent_id: 'names', metadata: { acts } })
    await muster.subtasks.handle(id).result()
    const { out } = await cli(['show', id])
    expect([out.includes('report'), out.includes('\u001b')]).toEqual([true, false])
  })

  it('shows the text of an agent without its control characters, and in JSON as it is', async () => {
    const hostile = 'Say \u001b]0;owned\u0007\u001b[2Jhello\rbye'
    const { id } = await muster.subtasks.spawn({ task: hostile, runner: 'external', agent_id: 'hostile' })
    expect((await cli(['show', id])).out).toContain('Say hellobye')
    expect((await cli(['ls', '-n', '1'])).out).not.toContain('\u001b')
    expect((await json(['show', id]))[0]?.task).toBe(hostile)
    await muster.subtasks.cancel(id)
  })

  it('has colours only where they are asked for, and NO_COLOR takes them away', async () => {
    await spawnAct('Colour')
    const escapes = async (env: Record<string, string>) => (await cli(['ls', '-n', '1'], { env })).out.includes('\u001b[')
    expect([await escapes({}), await escapes({ FORCE_COLOR: '1' }), await escapes({ FORCE_COLOR: '1', NO_COLOR: '1' })]).toEqual([false, true, false])
  })

  it('ends quietly when what reads it has enough', async () => {
    const child = spawn('/bin/sh', ['-c', `"${process.execPath}" "${PROGRAM}" events --after 0 | head -1`], { env: { ...environment }, stdio: 'pipe' })
    let text = ''
    let hasEnded = false
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part) => {
        text += part
      })
    }
    child.on('close', () => {
      hasEnded = true
    })
    // It notices with the next event that it has to write.
    while (!hasEnded) await spawnAct('Write an event')
    expect(text.trim().split('\n')).toEqual([expect.stringContaining('subtask.created')])
  })

  it('completes commands and options for the shell', async () => {
    expect((await cli(['completion', 'bash'])).out).toContain('complete-words')
    expect((await cli(['completion', 'powershell'])).code).toBe(2)
    const env = { COMP_CWORD: '2', COMP_LINE: 'muster task di', COMP_POINT: '14', SHELL: '/bin/bash' }
    expect((await cli(['complete-words'], { env })).out.split('\n')).toContain('dispatch')
  })
})

describe('doctor', () => {
  const states = (out: string) =>
    Object.fromEntries(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { name: string; state: string; detail: string; advice?: string })
        .map(({ name, ...finding }) => [name, finding]),
    )

  it('says for each thing of the server and of this machine how it is', async () => {
    const { out, code, errors } = await cli(['doctor'], { env: { DATABASE_URL: system.database.appUrl, PORT: '0' } })
    expect([code, errors], out).toEqual([0, 'No problems.\n'])
    expect(out).toMatch(/✓ database[\s\S]*✓ migrations[\s\S]*✓ clock +as the server[\s\S]*✓ runners +.*act[\s\S]*✓ workers +1, \d+ of \d+ slots/)
    expect(out).toMatch(/✓ settings +valid[\s\S]*✓ data folder[\s\S]*✓ disk[\s\S]*✓ database, roles +DATABASE_URL answers; login, roles and migrations/)
    expect(out).toMatch(/– sandbox +programs run without one\. The sandbox is switched off \(SANDBOX=off\)[\s\S]*model providers/)
  })

  it('says what to do about a server that is away, a login with too many rights, and a setting that is none', async () => {
    const away = await cli(['doctor', '--url', 'http://127.0.0.1:9', '--json'], { env: { DATABASE_URL: system.database.adminUrl, PORT: '0' } })
    expect(away.code).toBe(1)
    expect(states(away.out)).toMatchObject({
      server: { state: 'problem', advice: expect.stringContaining('muster up') },
      'database, roles': { state: 'problem', detail: expect.stringMatching(/can bypass row-level security: move that address to MIGRATE_DATABASE_URL/) },
    })
    const wrong = await cli(['doctor', '--url', 'http://127.0.0.1:9', '--json'], { env: { PORT: 'seven' } })
    expect(states(wrong.out)).toMatchObject({
      settings: { state: 'problem', detail: expect.stringContaining('PORT'), advice: expect.stringContaining('.env') },
    })
  })
})

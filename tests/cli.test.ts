import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Muster } from '@muster/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'
import { Terminal } from './harness/terminal.ts'

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
  system = await startSystem({ env: { AUTH: 'keys', SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}` } })
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

describe('a command', () => {
  it('loads the file of its own commands, not those of all others', async () => {
    const hooks = `import { registerHooks } from 'node:module'; registerHooks({ load(url, context, next) { if (url.includes('/commands/')) process.stderr.write(url + '\\n'); return next(url, context) } })`
    const loaded = async (...args: string[]) => {
      const { errors } = await cli(args, { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}` } })
      return errors.split('\n').flatMap((line) => /commands\/(.*)\.ts$/.exec(line)?.[1] ?? [])
    }
    const shared = ['completion', 'task-text']
    expect((await loaded('ls')).filter((name) => !shared.includes(name))).toEqual(['subtasks'])
    expect((await loaded('usage')).filter((name) => !shared.includes(name))).toEqual(['usage'])
    expect((await loaded('--help')).length).toBeGreaterThan(15)
  })
})

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
    const markdown = `# Port it\n\n${'Port all of it. '.repeat(50)}\n\n## Acceptance criteria\n- All tests pass\n`
    const [checked] = await json(['task', 'new', '-', '--dry-run'], { input: markdown })
    expect(checked).toMatchObject({ cleaned: { title: 'Port it', acceptance_criteria: [expect.objectContaining({ text: 'All tests pass' })] } })
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
    [2, 'an unknown command, with the one that was meant', ['shwo'], /^muster: unknown command 'shwo'\. Did you mean show\? See muster --help\n$/],
    [2, 'an argument that is empty, as a variable of a script may be', ['show', ''], /<id> is empty/],
    [2, 'a name that would be another path', ['cancel', '..'], /<id> cannot be \.\./],
    [2, 'an address without a protocol', ['ls', '--url', 'localhost:7300'], /no address of a server/],
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
      code: 2,
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
})

describe('completion', () => {
  it('has a script for each shell, commands and options for the words so far, and files where an argument is one', async () => {
    expect((await cli(['completion', 'powershell'])).code).toBe(2)
    const completed = async (line: string) =>
      (await cli(['complete-words'], { env: { COMP_CWORD: '2', COMP_LINE: line, COMP_POINT: String(line.length), SHELL: '/bin/bash' } })).out
    expect(await completed('muster task di')).toBe('diff\ndispatch\n')
    expect(await completed('muster task new bri')).toBe('__tabtab_complete_files__\n')
  })

  it.for(['bash', 'zsh', 'fish'])('works in %s, and runs nothing of what is typed', async (shell, { skip }) => {
    const bin = join(folder, 'bin')
    const script = join(folder, `completion.${shell}`)
    await mkdir(bin, { recursive: true })
    await writeFile(join(bin, 'muster'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`, { mode: 0o755 })
    await writeFile(script, (await cli(['completion', shell])).out)
    const env = { ...environment, PATH: `${bin}:${process.env.PATH}` }
    const run = (...args: string[]) => promisify(execFile)(shell, args, { env, cwd: folder })
    const isThere = await run('--version').then(
      () => true,
      () => false,
    )
    if (!isThere) skip(`not run: there is no ${shell} here`)
    const line = `muster spawn '"; touch ran' '$(touch ran)' --pri`
    if (shell === 'fish') {
      await run('--no-execute', script)
      const { stdout } = await run(
        '--no-config',
        '-c',
        `source ${script}; complete -C 'muster task disp'; complete -C ${JSON.stringify(line).replaceAll('$', '\\$')}`,
      )
      expect(stdout).toMatch(/^dispatch\t.*\n--priority\t/)
    } else {
      await run('-n', script)
      const terminal = new Terminal([shell, ...(shell === 'zsh' ? ['-f'] : ['--norc']), '-i'], { env, cwd: folder })
      terminal.enter(`${shell === 'zsh' ? 'autoload -Uz compinit; compinit -u; ' : ''}source ${script}; echo rea""dy`)
      await terminal.shows(/^ready/m)
      terminal.type('muster task disp\t')
      await terminal.shows('muster task dispatch')
      terminal.type(`\u0015${line}\t`)
      await terminal.shows('--priority')
      terminal.kill()
    }
    await expect(stat(join(folder, 'ran'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('every noun, in words and as JSON', () => {
  it('eval: what a subtask was worth, the figures, and a verdict of your own', async () => {
    const [spawned] = await json(['spawn', '--wait', '30', '--runner', 'act', 'Be judged.'])
    const subtask = String(spawned?.id)
    const [[evaluation], listed] = await Promise.all([json(['eval', 'ls', '--subtask', subtask]), cli(['eval', 'ls', '--subtask', subtask])])
    expect(evaluation).toMatchObject({ subtask_id: subtask })
    expect(listed.out).toMatch(new RegExp(`^ID .*OF\n.*${subtask}\n$`))
    const [shown, asText, stats, days, flagged, refused] = await Promise.all([
      json(['eval', 'show', String(evaluation?.id)]),
      cli(['eval', 'show', String(evaluation?.id)]),
      json(['eval', 'stats', '--by', 'subagent']),
      cli(['eval', 'stats']),
      json(['eval', 'flag', subtask, 'good']),
      cli(['eval', 'flag', subtask, 'superb']),
    ])
    expect(shown).toEqual([expect.objectContaining({ id: evaluation?.id, criteria: expect.any(Array) })])
    expect(asText.out).toContain(`Of              ${subtask}`)
    expect(stats).toEqual([expect.objectContaining({ by: 'subagent', groups: expect.any(Array) })])
    expect(days.out).toMatch(/^DAY +OUTPUTS +SCORED/)
    expect(flagged).toEqual([{ id: subtask, quality: 'good' }])
    expect([refused.code, refused.errors]).toEqual([1, expect.stringMatching(/^muster: .*must be one of excellent[^\n]*\n$/)])
  })

  it('key: what it may do, until it is revoked', async () => {
    const [created] = await json(['key', 'create', 'reader', '--scopes', 'subtasks:read, tasks:read'])
    const env = { MUSTER_KEY: String(created?.key) }
    const [allowed, denied, listed] = await Promise.all([cli(['ls'], { env }), cli(['spawn', 'No'], { env }), cli(['key', 'ls'])])
    expect([allowed.code, denied.code, denied.errors]).toEqual([0, 4, expect.stringContaining('subtasks:write')])
    expect(listed.out).toMatch(/active +reader +subtasks:read tasks:read/)
    expect(listed.out).not.toContain(env.MUSTER_KEY)
    expect(await json(['key', 'revoke', String(created?.id)])).toEqual([{ id: created?.id, revoked: true }])
    expect((await cli(['ls'], { env })).code).toBe(4)
    expect((await cli(['key', 'create', 'x'])).errors).toMatch(/required option '--scopes/)
  })

  it('webhook: made, tried, sent again, with another secret, and gone', async () => {
    const [created] = await json(['webhook', 'create', 'https://muster.invalid/hook', '--event', 'task.*'])
    const id = String(created?.id)
    expect(created).toMatchObject({ events: ['task.*'], secret: expect.stringMatching(/^whsec_/) })
    expect((await cli(['webhook', 'ls'])).out).toContain(`${id}  enabled  task.*  https://muster.invalid/hook`)
    const tried = await cli(['webhook', 'test', id])
    const delivery = /^(\S+) +pending\n$/.exec(tried.out)?.[1] ?? tried.out
    const [sent, again, rotated] = await Promise.all([
      json(['webhook', 'deliveries', id]),
      cli(['webhook', 'redeliver', id, delivery]),
      cli(['webhook', 'rotate', id, '--overlap', '60']),
    ])
    expect(sent).toEqual([expect.objectContaining({ id: delivery, type: 'webhook.test' })])
    expect([again.code, rotated.out]).toEqual([0, expect.stringMatching(/^whsec_/)])
    expect(await json(['webhook', 'rm', id])).toEqual([{ id, deleted: true }])
    expect((await cli(['webhook', 'deliveries', id])).code).toBe(3)
    expect((await cli(['webhook', 'create', 'http://127.0.0.1:9/'])).errors).toContain('not a public address')
  })

  it('tsg: stored, found by an error, and deleted', async () => {
    const text = await readFile(new URL('../tsgs/module-not-found.md', import.meta.url), 'utf8')
    const id = String((await json(['tsg', 'put', 'module-not-found', '-'], { input: text }))[0]?.id)
    const [listed, shown, found] = await Promise.all([
      json(['tsg', 'ls']),
      cli(['tsg', 'show', id]),
      json(['tsg', 'scan', "Error: Cannot find module 'left-pad'"]),
    ])
    expect(listed).toEqual([expect.objectContaining({ id })])
    expect(shown.out).toContain('## ')
    expect(found).toEqual([expect.objectContaining({ id })])
    expect((await cli(['tsg', 'rm', id])).out).toBe(`${id}  deleted\n`)
    expect((await cli(['tsg', 'show', id])).code).toBe(3)
    expect((await cli(['tsg', 'put', 'x', '-'], { input: 'No front matter.' })).errors).toContain('front matter')
  })

  it('memory: kept, found, forgotten; usage and events: what was', async () => {
    const [fact] = await json(['memory', 'learn', 'The', 'parser', 'is', 'in', 'src.', '--tag', 'parser'])
    const [found, table, runners, byRunner, nothing, first, unknown] = await Promise.all([
      json(['memory', 'search', 'parser', 'src']),
      cli(['memory', 'search', 'parser', 'src']),
      json(['usage', '--by', 'runner']),
      cli(['usage', '--by', 'runner']),
      cli(['usage', '--since', 'yesterday']),
      json(['events', '--after', '0', '-n', '2']),
      cli(['events', '--type', 'nope', '-n', '1']),
    ])
    expect(found).toContainEqual(expect.objectContaining({ id: fact?.id, content: 'The parser is in src.' }))
    expect(table.out).toMatch(/fact .*The parser is in src\./)
    expect(runners).toEqual([expect.objectContaining({ by: 'runner', groups: expect.arrayContaining([expect.objectContaining({ key: 'act' })]) })])
    expect(byRunner.out).toMatch(/^RUNNER +RUNS[\s\S]*^act /m)
    expect([nothing.code, nothing.errors]).toEqual([1, expect.stringContaining('since must be')])
    expect(first.map(({ id }) => Number(id))).toEqual([expect.any(Number), expect.any(Number)])
    expect([unknown.code, unknown.errors]).toEqual([1, expect.stringContaining('type must be one of')])
    expect(await json(['memory', 'forget', String(fact?.id)])).toEqual([{ id: fact?.id, deleted: true }])
  })

  it('subagents: imported with a line for each file, shown, deleted', async () => {
    const agents = join(folder, 'agents')
    await mkdir(agents)
    await writeFile(join(agents, 'reviewer.md'), '---\nname: reviewer\ndescription: Reviews\n---\nYou review.\n')
    await writeFile(join(agents, 'broken.md'), '---\nname: broken\n')
    const imported = await cli(['subagents', 'import', agents])
    expect([imported.code, imported.out]).toEqual([1, expect.stringMatching(/^refused +broken +broken\.md +line 1: .*\nimported +reviewer/m)])
    const [listed, shown] = await Promise.all([json(['subagents', 'ls']), cli(['subagents', 'show', 'reviewer'])])
    expect(listed).toContainEqual(expect.objectContaining({ name: 'reviewer' }))
    expect(shown.out).toMatch(/^Name +reviewer[\s\S]*You review\./)
    expect(await json(['subagents', 'rm', 'reviewer'])).toEqual([{ name: 'reviewer', deleted: true }])
    expect((await cli(['subagents', 'show', 'reviewer'])).code).toBe(3)
    expect((await cli(['subagents', 'import', join(folder, 'nowhere')])).errors).toContain('cannot be read')
  })

  it('task, ask and schedule: what is left of them', async () => {
    const [task] = await json(['task', 'new', '--title', 'Review', '--instructions', 'Review it.', '--review', 'manual'])
    const id = String(task?.id)
    const [dispatched] = await json(['task', 'dispatch', id, '--runner', 'external'])
    expect((await cli(['task', 'note', id, 'Be brief.'])).out).toMatch(/ queued\n$/)
    const question = await muster.tasks.ask(id, { prompt: 'Which port?' })
    expect((await cli(['ask', 'ls'])).out).toContain('Which port?')
    expect((await cli(['ask', 'answer', question.id, '5432'])).out).toBe('answered\n')
    expect(await json(['ask', 'show', question.id])).toEqual([expect.objectContaining({ status: 'answered' })])
    expect((await cli(['task', 'review', id, 'yes'])).code).toBe(2)
    const none = '01a21103-27aa-70b2-bb21-b121760f4b0f'
    const cancelled = await cli(['cancel', none, String(dispatched?.id)])
    expect([cancelled.code, cancelled.out]).toEqual([3, expect.stringContaining('cancelled')])
    const [schedule] = await json(['schedule', '--yes', 'every day at 08:00', 'Sum up', '--runner', 'external'])
    const of = String(schedule?.id)
    expect((await cli(['schedule', 'pause', of])).out).toBe(`${of}  paused\n`)
    expect((await cli(['schedule', 'resume', of])).out).toBe(`${of}  active\n`)
    expect((await cli(['schedule', 'trigger', of])).out).toMatch(/^\S+ {2}pending\n$/)
    const [runs, shown] = await Promise.all([json(['schedule', 'runs', of]), cli(['schedule', 'show', of])])
    expect(runs).toEqual([expect.objectContaining({ manual: true, outcome: 'fired' })])
    expect(shown.out).toContain('Every day at 08:00')
    await cli(['schedule', 'rm', of])
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

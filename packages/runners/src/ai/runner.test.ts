import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseSubagentMarkdown, requireDefinition } from '@muster/domain'
import { type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Guard, startGuard } from '../command/guard.ts'
import type { Brief, RunBudget, RunOutcome } from '../port.ts'
import { aiRunner, type DialectName, KEYS } from '../testing/ai.ts'
import { createTestRun, gone, isRunning, SILENT_LOG, type TestRun } from '../testing/command.ts'

let guard: Guard
let models: ScriptedModels
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())
beforeEach(async () => {
  models = await startScriptedModels()
})
afterEach(() => models.close())

interface Own {
  brief?: Partial<Brief>
  budget?: Partial<RunBudget>
  settings?: Record<string, string>
  overrides?: NonNullable<Parameters<typeof aiRunner>[3]>['overrides']
  files?: Record<string, string>
}

/** A run that has been started. */
function start(dialect: DialectName, own: Own = {}): { test: TestRun; outcome: Promise<RunOutcome> } {
  const test = createTestRun({ requiredOutputs: [], ...own.brief }, own.budget)
  for (const [path, content] of Object.entries(own.files ?? {})) {
    mkdirSync(join(test.run.workspace, path, '..'), { recursive: true })
    writeFileSync(join(test.run.workspace, path), content)
  }
  return { test, outcome: aiRunner(dialect, models, guard, { settings: own.settings ?? {}, overrides: own.overrides }).run(test.run) }
}

/** A run to its end, with the model saying these turns. */
async function runOf(dialect: DialectName, turns: ScriptedTurn[], own: Own = {}) {
  models.reply(...turns)
  const { test, outcome } = start(dialect, own)
  using _ = test
  return { outcome: await outcome, steps: test.steps, usage: test.usage, acknowledged: test.acknowledged, test }
}

const kinds = (steps: { kind: string }[]) => steps.map(({ kind }) => kind)
const total = (usage: object[], name: string) => usage.reduce((sum, delta) => sum + ((delta as Record<string, number>)[name] ?? 0), 0)

async function timed(promise: Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await promise
  return performance.now() - startedAt
}

describe.each<DialectName>(['anthropic', 'openai'])('a run over %s', (dialect) => {
  it('completes with the answer of the model, which was told the brief and called with its key', async () => {
    const { outcome, steps, usage, test } = await runOf(dialect, [{ text: ['one, ', 'two, three'], usage: { input: 100, output: 20 } }])

    expect(outcome).toEqual({ kind: 'completed', result: 'one, two, three' })
    expect(steps).toEqual([{ kind: 'message', content: 'one, two, three' }])
    expect(usage).toMatchObject([{ inputTokens: 100, cachedInputTokens: 0, outputTokens: 20, costUsdMicros: 0, model: expect.stringContaining('test') }])
    const request = await models.request(1)
    expect(request.text).toContain('You are a background subtask. Task: count to three.')
    expect(test.prompts).toEqual([
      { system: expect.stringMatching(/^You are a background subtask.*Your last answer/s), message: 'count to three', isContinued: false },
    ])
    for (const line of test.prompts[0]?.system?.split('\n') ?? []) expect(request.text).toContain(JSON.stringify(line).slice(1, -1))
    expect(request.model).toBe(dialect === 'anthropic' ? 'claude-test' : 'test-model:1b')
    expect(request.tools.toSorted()).toEqual([
      ...['Edit', 'Glob', 'Grep', 'Read', 'WebFetch', 'Write', 'ask', 'confirm_update', 'learn_fact'],
      ...['mark_tsg_helpful', 'read_tsg', 'recall_deep'],
    ])
    expect(request.headers[dialect === 'anthropic' ? 'x-api-key' : 'authorization']).toContain('secret-of-the-operator')
  })

  it('runs the tools that the model asks for, in order, and gives it their answers', async () => {
    const { outcome, steps, usage } = await runOf(
      dialect,
      [
        {
          text: 'Looking.',
          toolCalls: [
            { name: 'Read', input: { file_path: 'notes.txt' } },
            { name: 'Write', input: { file_path: 'deep/copy.txt', content: 'copied' } },
          ],
        },
        { toolCalls: [{ name: 'Glob', input: { pattern: '**/*.txt' } }] },
        { text: 'There are two files.' },
      ],
      { files: { 'notes.txt': 'remember the milk\n' } },
    )

    expect(outcome).toEqual({ kind: 'completed', result: 'There are two files.' })
    expect(kinds(steps)).toEqual(['message', 'tool_call', 'tool_call', 'tool_result', 'tool_result', 'tool_call', 'tool_result', 'message'])
    expect(steps[1]?.content).toMatchObject({ name: 'Read', input: { file_path: 'notes.txt' } })
    expect(steps[3]?.content).toMatchObject({ name: 'Read', output: expect.stringContaining('remember the milk'), is_error: false })
    expect(steps[6]?.content).toMatchObject({ output: 'deep/copy.txt\nnotes.txt' })
    expect(total(usage, 'toolCalls')).toBe(3)
    expect((await models.request(2)).text).toContain('remember the milk')
  })

  it('refuses a tool that was not given, in the transcript and to the model, and goes on', async () => {
    const { outcome, steps } = await runOf(dialect, [{ toolCalls: [{ name: 'Bash', input: { command: 'id' } }] }, { text: 'Then without it.' }])

    expect(outcome).toEqual({ kind: 'completed', result: 'Then without it.' })
    expect(steps[1]?.content).toMatchObject({ name: 'Bash', is_error: true, output: expect.stringContaining('The tool "Bash" was refused') })
    expect((await models.request(2)).text).toContain('was refused')
  })

  it('offers no search where nobody is set to be asked, and says so to who lists it', async () => {
    const definition = requireDefinition(parseSubagentMarkdown('---\nname: seeker\ndescription: seeks\ntools: WebSearch, Bash\n---\nSeek.', {}))
    const calls = ['WebSearch', 'Bash'].map((name) => ({ name, input: { query: 'x', command: 'id' } }))
    const { steps } = await runOf(dialect, [{ toolCalls: calls }, { text: 'Then without it.' }], { brief: { subagent: definition } })
    expect((await models.request(1)).tools).not.toContain('WebSearch')
    expect(steps.filter(({ kind }) => kind === 'tool_result').map(({ content }) => content)).toMatchObject([
      { is_error: true, output: expect.stringContaining('No provider of searches is set on this server (WEB_SEARCH_PROVIDER).') },
      { is_error: true, output: expect.stringContaining('Commands are switched off on this server (ENABLE_BASH_TOOL).') },
    ])
    const settings = { WEB_SEARCH_PROVIDER: 'searxng', WEB_SEARCH_URL: 'http://127.0.0.1:9' }
    await runOf(dialect, [{ text: 'Nothing to seek.' }], { brief: { subagent: definition }, settings })
    expect((await models.request(3)).tools).toContain('WebSearch')
  })

  it('tells the model where memory is out of reach, in the transcript too, and goes on', async () => {
    models.reply({ toolCalls: [{ name: 'recall_deep', input: { query: 'the port' } }] }, { text: 'Then without it.' })
    using test = createTestRun({ requiredOutputs: [] })
    const outcome = await aiRunner(dialect, models, guard).run({ ...test.run, access: { ...test.run.access, url: '' } })

    expect(outcome).toEqual({ kind: 'completed', result: 'Then without it.' })
    expect(test.steps[1]?.content).toMatchObject({ name: 'recall_deep', is_error: true, output: expect.stringContaining('no address of the API') })
    expect((await models.request(2)).text).toContain('Muster is out of reach')
  })

  it('gives the run of a sub-agent the tools of its definition, asks about each use, and keeps to its turns', async () => {
    const definition = requireDefinition(
      parseSubagentMarkdown('---\nname: lister\ndescription: lists\ntools: Bash(ls:*), Glob\ndisallowedTools: Grep\nmaxTurns: 2\n---\nList.', {}),
    )
    const { outcome, steps } = await runOf(
      dialect,
      [
        {
          toolCalls: [
            { name: 'Bash', input: { command: 'ls -a' } },
            { name: 'Bash', input: { command: 'ls; id' } },
            { name: 'Write', input: { file_path: 'x', content: 'y' } },
            { name: 'Task', input: { prompt: 'help me' } },
          ],
        },
        { text: 'Listed so far.', toolCalls: [{ name: 'Glob', input: { pattern: '*' } }] },
      ],
      { brief: { subagent: definition }, settings: { ENABLE_BASH_TOOL: 'true' } },
    )
    expect(outcome).toMatchObject({ kind: 'budget_exceeded', error: expect.stringContaining('2 turns (maxTurns)'), partialResult: 'Listed so far.' })
    // Reading is always allowed in the background, unless it is denied.
    expect((await models.request(1)).tools.toSorted()).toEqual(['Bash', 'Glob', 'Read', 'ask', 'confirm_update', 'mark_tsg_helpful', 'read_tsg'])
    const results = steps.filter(({ kind }) => kind === 'tool_result').map(({ content }) => content)
    expect(results.slice(0, 4)).toMatchObject([
      { is_error: false },
      { is_error: true, output: expect.stringContaining('The tool "Bash" was refused. lister lists Bash(ls:*), Glob.') },
      { is_error: true, output: expect.stringContaining('The tool "Write" was refused. lister lists Bash(ls:*), Glob.') },
      { is_error: true, output: expect.stringContaining('cannot start further work') },
    ])
  })

  it.each([
    ['no JSON', '{"file_path": "notes'],
    ['JSON of another shape', '{"path": 3}'],
  ])('tells the model of arguments that are %s', async (_, rawInput) => {
    const { outcome, steps } = await runOf(dialect, [{ toolCalls: [{ name: 'Read', rawInput }] }, { text: 'Sorry, done.' }])
    expect(outcome).toEqual({ kind: 'completed', result: 'Sorry, done.' })
    expect(steps[1]?.content).toMatchObject({ is_error: true, output: expect.stringContaining('The arguments of Read were not accepted') })
  })

  it('waits as long as Retry-After says, and no longer than it may', async () => {
    const { outcome, steps } = await runOf(
      dialect,
      [{ status: 429, headers: { 'retry-after': '0' } }, { status: 429, headers: { 'retry-after': '3600' } }, { text: 'late' }],
      { overrides: { waitMsMax: 20 } },
    )
    expect(outcome).toEqual({ kind: 'completed', result: 'late' })
    expect(steps.slice(0, 2)).toEqual([
      { kind: 'error', content: expect.stringMatching(/\(429\).*Trying again in 0\.0 s/) },
      { kind: 'error', content: expect.stringMatching(/\(429\).*Trying again in 0\.0 s/) },
    ])
  })

  it('tries again after a 500, a stream that is cut, and an error inside of the stream', async () => {
    const { outcome, steps } = await runOf(dialect, [
      { status: 500 },
      { text: 'half of ', ending: 'cut' },
      { text: 'some', streamError: { type: dialect === 'anthropic' ? 'overloaded_error' : 'server_error', message: 'Overloaded' } },
      { text: 'all of it' },
    ])
    expect(outcome).toEqual({ kind: 'completed', result: 'all of it' })
    expect(kinds(steps)).toEqual(['error', 'error', 'error', 'message'])
  })

  it('tries again when the stream stands still', async () => {
    const { outcome, steps } = await runOf(dialect, [{ text: 'hm', ending: 'stall' }, { text: 'awake' }], { overrides: { idleSeconds: 0.2 } })
    await models.hungUp()
    expect(outcome).toEqual({ kind: 'completed', result: 'awake' })
    expect(steps[0]).toEqual({ kind: 'error', content: expect.stringContaining('sent nothing for 0.2 s') })
  })

  it('gives up after some tries, for another attempt', async () => {
    models.answerBy(() => ({ status: 503, error: 'away' }))
    const { outcome } = await runOf(dialect, [])
    expect(outcome).toEqual({ kind: 'errored', retryable: true, error: expect.stringMatching(/failed \(503\): away.*Given up after 6 tries/) })
    expect(models.requests).toHaveLength(6)
  })

  it.each([
    [400, /refused the request .*\(400\): max_tokens is too large/],
    [401, /refused the key \(401\). Set a valid (ANTHROPIC|OPENAI)_API_KEY/],
    [403, /refused the key \(403\)/],
    [404, /does not know the model "[\w:-]+" \(404\). Check the name, MODEL_ALIASES/],
  ])('does not try again after a %i, and says what to do', async (status, message) => {
    const { outcome } = await runOf(dialect, [{ status, error: `max_tokens is too large for ${Object.values(KEYS).join(' and ')}` }])
    expect(outcome).toEqual({ kind: 'errored', retryable: false, error: expect.stringMatching(message) })
    expect(JSON.stringify(outcome)).not.toContain('secret-of-the-operator')
  })

  it('is blocked when the model refuses', async () => {
    const { outcome } = await runOf(dialect, [{ text: 'I cannot help with that.', finish: 'refusal' }])
    expect(outcome).toMatchObject({ kind: 'blocked', reason: 'The model refused the task. It said: I cannot help with that.' })
  })

  it('asks again after an empty answer, and after one that only announces', async () => {
    const { outcome } = await runOf(dialect, [{}, { text: 'I will count now.' }, { text: 'one two three' }])
    expect(outcome).toEqual({ kind: 'completed', result: 'one two three' })
    expect((await models.request(2)).text).toContain('Your answer was empty')
    expect((await models.request(3)).text).toContain('only announced')
  })

  it('goes on with an answer that was cut off at its limit', async () => {
    const { outcome } = await runOf(dialect, [{ text: 'one, two, ', finish: 'length' }, { text: 'three' }])
    expect(outcome).toEqual({ kind: 'completed', result: 'one, two, three' })
  })

  it('says that a result is incomplete when it never ends', async () => {
    models.answerBy(() => ({ text: 'more ', finish: 'length' }))
    const { outcome } = await runOf(dialect, [])
    expect(outcome).toEqual({ kind: 'completed', result: 'more '.repeat(9), truncated: true })
  })

  it('delivers the required outputs, and is reminded of those that are missing', async () => {
    const { outcome, steps } = await runOf(
      dialect,
      [
        { toolCalls: [{ name: 'deliver_output', input: { name: 'count', value: 'three' } }] },
        { text: 'Counted.' },
        { toolCalls: [{ name: 'deliver_output', input: { name: 'count', value: 3 } }] },
        { text: 'Counted to three.' },
      ],
      { brief: { requiredOutputs: [{ name: 'count', description: 'how many', schema: { type: 'integer' } }] } },
    )
    expect(outcome).toEqual({ kind: 'completed', result: 'Counted to three.', outputs: { count: 3 } })
    expect(steps[1]?.content).toMatchObject({ is_error: true, output: expect.stringContaining('must be integer') })
    expect((await models.request(3)).text).toContain('Required outputs are not there yet: count is missing')
  })

  describe('a question', () => {
    const QUESTION_ID = '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47'
    let muster: Server
    let asked: { url: string; body: unknown }[]

    beforeEach(async () => {
      asked = []
      muster = createServer(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
        asked.push({ url: request.url ?? '', body: JSON.parse(Buffer.concat(chunks).toString()) })
        response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ question_id: QUESTION_ID }))
      })
      muster.listen(0, '127.0.0.1')
      await once(muster, 'listening')
    })
    afterEach(() => void muster.close())

    /** One attempt of a run that may ask. */
    async function attempt(turns: ScriptedTurn[], brief: Partial<Brief> = {}) {
      models.reply(...turns)
      using test = createTestRun({ requiredOutputs: [], ...brief })
      const url = `http://127.0.0.1:${(muster.address() as AddressInfo).port}`
      const run = { ...test.run, access: { url, token: KEYS.OPENAI_API_KEY } }
      return { outcome: await aiRunner(dialect, models, guard).run(run), steps: test.steps, prompts: test.prompts }
    }

    it('ends the attempt, and its answer is the result of the tool call in the next one, which goes on from there', async () => {
      const outputs = [{ name: 'count', description: null, schema: { type: 'integer' } }]
      const first = await attempt(
        [
          { text: 'First the count.', toolCalls: [{ name: 'deliver_output', input: { name: 'count', value: 3 } }] },
          {
            text: 'I have to know.',
            toolCalls: [
              { name: 'Glob', input: { pattern: '*' } },
              {
                name: 'ask',
                input: {
                  prompt: 'Which port?',
                  options: [
                    { id: 'a', label: '80' },
                    { id: 'b', label: '81' },
                  ],
                },
              },
              { name: 'Write', input: { file_path: 'port.txt', content: '80' } },
            ],
          },
        ],
        { requiredOutputs: outputs },
      )
      expect(first.outcome).toEqual({ kind: 'waiting', questionId: QUESTION_ID, continuation: expect.any(String) })
      expect(asked).toEqual([{ url: expect.stringMatching(/^\/subtasks\/[\w-]+\/questions$/), body: { prompt: 'Which port?', options: expect.any(Array) } }])
      expect(first.steps.filter(({ kind }) => kind === 'tool_result').map(({ content }) => content)).toMatchObject([
        { name: 'deliver_output' },
        { name: 'Glob', is_error: false },
        { name: 'Write', is_error: true, output: expect.stringContaining('the answer to your question comes first') },
      ])

      const { continuation } = first.outcome as { continuation: string }
      const second = await attempt([{ text: 'It is port 81.' }], {
        attempt: 2,
        requiredOutputs: outputs,
        continuation: { state: continuation, updates: 'Answer to question: Option: b (81)' },
      })
      expect(second.outcome).toEqual({ kind: 'completed', result: 'It is port 81.', outputs: { count: 3 } })
      expect(second.steps).toMatchObject([
        { kind: 'tool_result', content: { name: 'ask', output: expect.stringContaining('Option: b (81)') } },
        { kind: 'message' },
      ])
      expect(second.prompts).toEqual([{ system: expect.stringContaining('Your last answer'), message: null, isContinued: true }])
      const { text } = await models.request(3)
      expect(text).toContain('I have to know.')
      expect(text).toContain('Option: b (81)')
      expect(text).toContain('the answer to your question comes first')
    })

    it('is asked without an end of the attempt where the model goes on with other work', async () => {
      const { outcome } = await attempt([{ toolCalls: [{ name: 'ask', input: { prompt: 'Which port?', wait: false } }] }, { text: 'Done otherwise.' }])
      expect(outcome).toEqual({ kind: 'completed', result: 'Done otherwise.' })
      expect((await models.request(2)).text).toContain(`Asked as question ${QUESTION_ID}`)
    })

    it('that was closed without an update leaves the model to continue without an answer', async () => {
      const first = await attempt([{ toolCalls: [{ name: 'ask', input: { prompt: 'Which port?' } }] }])
      const { continuation } = first.outcome as { continuation: string }
      await attempt([{ text: 'Port 80, then.' }], { continuation: { state: continuation, updates: '' } })
      expect((await models.request(2)).text).toContain('closed without an answer')
    })

    it('begins again, and says so, with a conversation that it cannot read', async () => {
      const { outcome, steps } = await attempt([{ text: 'From the start.' }], { continuation: { state: '{"version":0}', updates: 'x' } })
      expect(outcome).toEqual({ kind: 'completed', result: 'From the start.' })
      expect(steps[0]).toMatchObject({ kind: 'error', content: expect.stringContaining('begins again') })
    })

    it('keeps no secret of the operator in what is stored', async () => {
      const { outcome } = await attempt([{ text: KEYS.ANTHROPIC_API_KEY, toolCalls: [{ name: 'ask', input: { prompt: 'Which port?' } }] }])
      expect((outcome as { continuation: string }).continuation).not.toContain(KEYS.ANTHROPIC_API_KEY)
    })
  })

  describe('an update', () => {
    it('is not delivered by a call that the provider did not take', async () => {
      using test = createTestRun({ requiredOutputs: [] })
      test.update('Update: look here.', 'u-1')
      const settings = { [`${dialect.toUpperCase()}_BASE_URL`]: 'http://127.0.0.1:1' }
      const outcome = await aiRunner(dialect, models, guard, { settings, overrides: { waitMsMax: 1 } }).run(test.run)
      expect(outcome).toMatchObject({ kind: 'errored' })
      expect([test.takenUpdates, test.delivered]).toEqual([1, []])
    })

    it('is told before the next call, and acknowledged when that call has been answered', async () => {
      models.answerBy(({ text }) =>
        text.includes('count to four') ? { text: 'one two three four' } : { toolCalls: [{ name: 'Glob', input: { pattern: '*' } }] },
      )
      const { test, outcome } = start(dialect)
      using _ = test
      await models.request(1)
      test.update('[Update u-1] count to four', 'u-1')
      expect(await outcome).toEqual({ kind: 'completed', result: 'one two three four' })
      expect(test.delivered).toEqual(['u-1'])
      expect(test.acknowledged).toEqual(['u-1'])
    })

    it('keeps a run going that was about to end', async () => {
      using test = createTestRun({ requiredOutputs: [] })
      models.answerBy(({ text }) => {
        if (text.includes('count to four')) return { text: 'one two three four' }
        test.update('count to four', 'u-1')
        return { text: 'one two three' }
      })
      expect(await aiRunner(dialect, models, guard).run(test.run)).toEqual({ kind: 'completed', result: 'one two three four' })
      expect(test.acknowledged).toEqual(['u-1'])
    })

    it('that is not to wait breaks the current call off and goes first', async () => {
      models.reply({ text: 'one two ', ending: 'stall' }, { text: 'four three two one' })
      const { test, outcome } = start(dialect)
      using _ = test
      await models.request(1)
      test.update('[Update u-9] count backwards', 'u-9', 'interrupt')
      expect(await outcome).toEqual({ kind: 'completed', result: 'four three two one' })
      await models.hungUp()
      expect(test.acknowledged).toEqual(['u-9'])
      expect((await models.request(2)).text).toContain('count backwards')
    })

    it('that is not to wait stops a command, and what was to run after it', async () => {
      models.reply(
        {
          toolCalls: [
            { name: 'Bash', input: { command: 'echo begun; echo "$$" > pid; sleep 100' } },
            { name: 'Write', input: { file_path: 'after.txt', content: 'x' } },
          ],
        },
        { text: 'All right, stopped.' },
      )
      const { test, outcome } = start(dialect, { settings: { ENABLE_BASH_TOOL: 'true' } })
      using _ = test
      const pid = await pidIn(test)
      test.update('leave it', 'u-1', 'interrupt')
      expect(await outcome).toEqual({ kind: 'completed', result: 'All right, stopped.' })
      await gone(pid)
      expect(test.steps.filter(({ kind }) => kind === 'tool_result').map(({ content }) => content)).toMatchObject([
        { name: 'Bash', is_error: true, output: expect.stringMatching(/begun.*Interrupted: an update/s) },
        { name: 'Write', is_error: true, output: expect.stringContaining('Not run') },
      ])
    })
  })

  describe('cancelled', () => {
    it('in the middle of an answer, ends within a second', async () => {
      models.reply({ text: 'one two ', ending: 'stall' })
      const { test, outcome } = start(dialect)
      using _ = test
      await models.request(1)
      test.stop()
      expect(await timed(outcome)).toBeLessThan(1_000)
      expect(await outcome).toMatchObject({ kind: 'stopped' })
      await models.hungUp()
    })

    it.each(['die', 'ignore'])('in the middle of a command that would %s on SIGTERM, leaves nothing running', async (onTerm) => {
      const trap = onTerm === 'ignore' ? "trap '' TERM; " : ''
      models.reply({ toolCalls: [{ name: 'Bash', input: { command: `${trap}echo "$$" > pid; while :; do sleep 0.1; done` } }] })
      const { test, outcome } = start(dialect, { settings: { ENABLE_BASH_TOOL: 'true' } })
      using _ = test
      const pid = await pidIn(test)
      test.stop()
      expect(await timed(outcome)).toBeLessThan(1_500)
      expect(isRunning(pid)).toBe(false)
      expect(await outcome).toMatchObject({ kind: 'stopped' })
    })

    it('while it waits to try again, ends at once', async () => {
      models.answerBy(() => ({ status: 429, headers: { 'retry-after': '30' } }))
      const { test, outcome } = start(dialect)
      using _ = test
      await test.stepWith('Trying again in 30.0 s')
      test.stop('released')
      expect(await outcome).toEqual({ kind: 'stopped' })
    })
  })

  describe('a budget', () => {
    const endless = () =>
      models.answerBy(() => ({ text: 'Still looking.', toolCalls: [{ name: 'Glob', input: { pattern: '*' } }], usage: { input: 900, output: 100 } }))

    it('of steps ends the run with what it has', async () => {
      endless()
      const { outcome, steps } = await runOf(dialect, [], { budget: { steps: 3 } })
      expect(outcome).toEqual({
        kind: 'budget_exceeded',
        error: expect.stringContaining('max_steps'),
        partialResult: 'Still looking.\nStill looking.\nStill looking.',
        continuation: expect.any(String),
      })
      // A step is an answer with all its tools: those of the last one are run too.
      expect(models.requests).toHaveLength(3)
      expect(steps.filter(({ kind }) => kind === 'tool_result')).toHaveLength(3)
    })

    it('of steps is one an answer, however many tools that asks for, and no update is one', async () => {
      using test = createTestRun({ requiredOutputs: [] }, { steps: 2 })
      models.answerBy(({ text }) => {
        if (text.includes('also the second')) return { text: 'Both.' }
        test.update('also the second')
        return { text: 'Looking.', toolCalls: Array.from({ length: 5 }, () => ({ name: 'Glob', input: { pattern: '*' } })) }
      })
      expect(await aiRunner(dialect, models, guard).run(test.run)).toEqual({ kind: 'completed', result: 'Both.' })
    })

    it.each([
      ['tokens', { tokens: 1_500 }, 'the budget was used up'],
      ['steps', { steps: 2 }, 'Still looking.'],
    ])('of %s that is raised lets the run go on with its conversation', async (_, budget, seen) => {
      endless()
      const { outcome } = await runOf(dialect, [], { budget })
      models.answerBy(() => ({ text: 'Found it.' }))
      const continuation = { state: (outcome as { continuation: string }).continuation, updates: 'Decision: approve' }
      const second = await runOf(dialect, [], { brief: { attempt: 2, continuation } })
      expect(second.outcome).toEqual({ kind: 'completed', result: 'Found it.' })
      const { text } = await models.request(3)
      for (const part of ['Still looking.', seen, 'Decision: approve']) expect(text).toContain(part)
    })

    it('of tokens ends the run with what it has', async () => {
      endless()
      const { outcome } = await runOf(dialect, [], { budget: { tokens: 1_500 } })
      expect(outcome).toMatchObject({ kind: 'budget_exceeded', error: expect.stringContaining('max_tokens'), partialResult: 'Still looking.\nStill looking.' })
      expect(models.requests).toHaveLength(2)
    })

    it('in dollars ends the run with what it has, by the prices that are set', async () => {
      endless()
      const settings = { MODEL_PRICES: JSON.stringify({ 'claude-test': { input: 2, output: 12 }, 'test-model:1b': { input: 2, output: 12 } }) }
      const { outcome, usage } = await runOf(dialect, [], { budget: { costUsdMicros: 5_000 }, settings })
      expect(outcome).toMatchObject({ kind: 'budget_exceeded', error: expect.stringContaining('max_cost_usd') })
      expect(total(usage, 'costUsdMicros')).toBe(6_000)
    })

    it('in dollars is refused where nobody has said what the model costs', async () => {
      const { outcome } = await runOf(dialect, [], { budget: { costUsdMicros: 5_000 } })
      expect(outcome).toEqual({ kind: 'errored', retryable: false, error: expect.stringContaining('MODEL_PRICES') })
      expect(models.requests).toHaveLength(0)
    })

    it('that is used up already starts nothing', async () => {
      const { outcome } = await runOf(dialect, [], { budget: { steps: 0 } })
      expect(outcome).toMatchObject({ kind: 'budget_exceeded' })
      expect(models.requests).toHaveLength(0)
    })
  })

  it('keeps keys and credentials out of everything that it sends, says and hands to its tools', async () => {
    const { outcome, steps, test } = await runOf(
      dialect,
      [
        { toolCalls: [{ name: 'Bash', input: { command: 'env; cat /proc/self/environ; echo "secret-$(echo token)"' } }] },
        { toolCalls: [{ name: 'Write', input: { file_path: 'x', content: Object.values(KEYS).join() } }] },
        { toolCalls: [{ name: 'deliver_output', input: { name: 'found', value: { [KEYS.OPENAI_API_KEY]: [KEYS.OPENAI_API_KEY] } } }] },
        { text: `It is ${KEYS.ANTHROPIC_API_KEY}.` },
      ],
      { settings: { ENABLE_BASH_TOOL: 'true' }, brief: { requiredOutputs: [{ name: 'found', description: null, schema: null }] } },
    )
    expect(outcome).toMatchObject({ outputs: { found: { '[OPENAI_API_KEY removed]': ['[OPENAI_API_KEY removed]'] } } })
    const seen = JSON.stringify([outcome, steps, models.requests.slice(0, 2).map(({ text }) => text)])
    for (const secret of [...Object.values(KEYS), 'postgres://muster:secret@db/muster', test.run.access.token]) expect(seen).not.toContain(secret)
    expect(JSON.stringify(steps[1])).toContain('MUSTER_WORKSPACE=')
    expect(JSON.stringify(steps[1])).not.toMatch(/API_KEY=|DATABASE_URL=|MUSTER_TOKEN=/)
  })
})

/** The process id that a command has written into its workspace. */
async function pidIn(test: TestRun): Promise<number> {
  for (;;) {
    try {
      const pid = Number(readFileSync(join(test.run.workspace, 'pid'), 'utf8'))
      if (pid > 0) return pid
    } catch {
      // Not there yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** An address without a listener. */
async function nobodysUrl(): Promise<string> {
  const gone = await startScriptedModels()
  await gone.close()
  return gone.openaiUrl
}

describe('the runner', () => {
  it('speaks the newer dialect to OpenAI itself', async () => {
    const hosts: string[] = []
    const fetch: typeof globalThis.fetch = (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input)
      hosts.push(url.host)
      return globalThis.fetch(`${models.openaiUrl}${url.pathname.slice(3)}`, init)
    }
    const { outcome, usage } = await runOf(
      'openai',
      [{ toolCalls: [{ name: 'Write', input: { file_path: 'a', content: 'b' } }] }, { text: 'Written.', usage: { input: 7, output: 3 } }],
      { settings: { OPENAI_BASE_URL: '', BACKGROUND_MODEL: 'gpt-test' }, overrides: { fetch } },
    )
    expect(outcome).toEqual({ kind: 'completed', result: 'Written.' })
    expect(models.requests.map(({ dialect }) => dialect)).toEqual(['openai-responses', 'openai-responses'])
    expect(new Set(hosts)).toEqual(new Set(['api.openai.com']))
    expect(total(usage, 'outputTokens')).toBe(8)
  })

  it('needs no key where the server needs none', async () => {
    const { outcome } = await runOf('openai', [{ text: 'free' }], { settings: { OPENAI_API_KEY: '' } })
    expect(outcome).toEqual({ kind: 'completed', result: 'free' })
    expect((await models.request(1)).headers.authorization).toBeUndefined()
  })

  it('says what to set for a model that it cannot reach', async () => {
    const { outcome } = await runOf('openai', [], { brief: { model: 'opus' } })
    expect(outcome).toEqual({
      kind: 'errored',
      retryable: false,
      error: expect.stringMatching(/"opus" \(that is anthropic:claude-.*set ANTHROPIC_API_KEY, or map/),
    })
  })

  it('says that a server is not there', async () => {
    const { outcome } = await runOf('openai', [], { settings: { OPENAI_BASE_URL: await nobodysUrl() } })
    expect(outcome).toEqual({ kind: 'errored', retryable: true, error: expect.stringMatching(/could not be reached.*OPENAI_BASE_URL.*Given up after 6 tries/) })
  })

  it('starts nothing when the run is stopped already', async () => {
    using test = createTestRun()
    test.stop()
    expect(await aiRunner('openai', models, guard).run(test.run)).toEqual({ kind: 'stopped' })
    expect(models.requests).toHaveLength(0)
  })
})

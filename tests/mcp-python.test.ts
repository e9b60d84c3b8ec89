import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from './harness/client.ts'
import { pythonPath } from './harness/python.ts'
import { type System, startSystem } from './harness/system.ts'

const PROGRAM = join(import.meta.dirname, 'programs', 'mcp-client.py')
const UNKNOWN = '01990000-0000-7000-8000-000000000000'

let python: string
let system: System
let key: string
let rest: Client
const clients: PythonClient[] = []
beforeAll(async () => {
  python = await pythonPath()
  system = await startSystem({ workers: 0, env: { AUTH: 'keys' } })
  key = (await system.mintKey(['admin'])).key
  rest = system.client.as(key)
})
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await system.close()
})

interface Progress {
  progress: number
  message: string
}

interface Message {
  id: number
  progress?: Progress
  // biome-ignore lint/suspicious/noExplicitAny: answers of thirty tools
  answer?: any
  raised?: string
}

/** The official Python client in a process of its own. */
class PythonClient {
  /** What the client has said when it was connected: its version of the protocol, and the output schema of each listed tool. */
  readonly connected: Promise<{ version: string; schemas: Record<string, object | null> }>
  /** The tools that were called with success. */
  readonly called = new Set<string>()
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, (message: Message) => void>()
  #serial = 0

  constructor(mode: string, { tools = 'all', session = 'python' } = {}) {
    clients.push(this)
    const env = { PATH: process.env.PATH, HEADERS: JSON.stringify({ authorization: `Bearer ${key}`, 'muster-session-id': session }) }
    this.#process = spawn(python, [PROGRAM, `${system.api.address}/mcp?tools=${tools}`, mode], { env, stdio: ['pipe', 'pipe', 'pipe'] })
    let errors = ''
    this.#process.stderr?.on('data', (chunk) => {
      errors += chunk
    })
    createInterface({ input: this.#process.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const message = JSON.parse(line) as Message
      this.#waiting.get(message.id)?.(message)
    })
    this.#process.once('close', () => {
      for (const [id, settle] of this.#waiting) settle({ id, raised: `the client has ended: ${errors}` })
    })
    this.connected = this.#answer()
  }

  /** Calls a tool that has an output schema, which the client checks. */
  async call(name: string, input: object = {}, onprogress?: (progress: Progress) => void) {
    const { isError, structuredContent, text } = await this.#send({ name, arguments: input }, onprogress)
    if (isError) return { error: JSON.parse(text) }
    expect((await this.connected).schemas[name]).toMatchObject({ type: 'object' })
    expect(structuredContent).toEqual(JSON.parse(text))
    this.called.add(name)
    return structuredContent
  }

  /** What the client makes of an answer of a tool with this structured content. */
  check(name: string, instead: object) {
    return this.#send({ name, arguments: {}, instead })
  }

  async close() {
    if (this.#process.exitCode !== null) return
    this.#process.stdin?.end()
    await once(this.#process, 'close')
  }

  #send(call: object, onprogress?: (progress: Progress) => void) {
    this.#serial += 1
    this.#process.stdin?.write(`${JSON.stringify({ id: this.#serial, ...call })}\n`)
    return this.#answer(onprogress)
  }

  #answer(onprogress?: (progress: Progress) => void) {
    const id = this.#serial
    // biome-ignore lint/suspicious/noExplicitAny: answers of thirty tools
    return new Promise<any>((resolve, reject) => {
      this.#waiting.set(id, ({ progress, answer, raised }) => {
        if (progress !== undefined) return onprogress?.(progress)
        this.#waiting.delete(id)
        if (raised === undefined) resolve(answer)
        else reject(new Error(raised))
      })
    })
  }
}

const error = (code: string, more: object = {}) => ({ error: { code, ...more } })

// The newest version that the client offers in a handshake, and the one that it finds by asking first.
describe.each([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', 'auto'],
])('the official Python client, with the version %s of the protocol', (version, mode) => {
  let all: PythonClient
  let core: PythonClient
  const call: PythonClient['call'] = (...input) => all.call(...input)
  beforeAll(() => {
    all = new PythonClient(mode, { session: `lead-${mode}` })
    core = new PythonClient(mode, { tools: 'core' })
  })

  it('speaks that version', async () => {
    for (const client of [all, core]) expect(await client.connected).toMatchObject({ version })
  })

  it('writes a brief, changes it, follows and accepts the work of its session', async () => {
    const { tsg_id } = await call('create_tsg', { title: `Port taken ${mode}`, content: 'Take another.', patterns: [`EADDRINUSE-${mode}`] })
    const brief = { title: 'Write it', instructions: 'Write the guide.', acceptance: ['All steps work'], outputs: ['guide'], review: 'manual' }
    const { task_id } = await call('create_task', brief)
    expect(await call('attach_tsg', { task_id, tsg_id })).toEqual({ success: true })
    expect(await call('assign_task', { task_id, subagent_session_id: `writer-${mode}` })).toEqual({ success: true })
    const { update_id } = await call('update_task', { task_id, instructions: 'Write the whole guide.' })
    expect(await call('confirm_update', { update_id })).toMatchObject({ genuine: true, task_id })
    expect(await call('get_task', { task_id })).toMatchObject({ task: { instructions: 'Write the whole guide.', parent_session_id: `lead-${mode}` } })
    const block = `<npl-block type="check-in" task-id="${task_id}">\n- ✅ All steps work\n</npl-block>`
    expect(await call('check_in', { task_id, content: block })).toMatchObject({ criteria: [{ state: 'met' }] })
    const { question_id } = await call('ask', { id: task_id, prompt: 'How long?', options: [{ id: 'short', label: 'Short' }] })
    expect((await call('list_questions')).items).toContainEqual(expect.objectContaining({ question_id, status: 'open' }))
    expect(await call('answer_question', { question_id, option_id: 'short' })).toMatchObject({ status: 'answered', answer: { option_id: 'short' } })
    expect(await call('steer_task', { id: task_id, content: 'Mind the gap.' })).toMatchObject({ kind: 'task', status: 'queued' })
    expect(await call('mark_task_complete', { task_id, outputs: {} })).toMatchObject(error('outputs_missing'))
    expect(await call('mark_task_complete', { task_id, outputs: { guide: 'Turn it off.' } })).toEqual({ success: true, status: 'in_review' })
    expect(await call('request_full_payload', { task_id })).toMatchObject({ full_output: expect.stringContaining('Turn it off.') })
    expect(await call('flag_sequence_quality', { task_id, quality: 'good' })).toMatchObject({ training_candidate: true })
    expect(await call('review_task', { task_id, decision: 'approve' })).toEqual({ success: true, status: 'completed' })
    expect((await call('claim_inbox')).items).toMatchObject([{ kind: 'question', status: 'answered' }, { status: 'in_review' }, { status: 'completed' }])
    expect(await call('list_tasks', { status: 'completed', parent_session: `lead-${mode}` })).toMatchObject({ tasks: [{ id: task_id }] })
    const real = { description: 'Fix the login failure after the OAuth2 migration', success_criteria: ['All existing tests pass'] }
    expect(await call('create_real_task', real)).toMatchObject({ success: true, status: 'INITIALIZED' })
  })

  it('runs work, and is notified of its progress while it waits', async () => {
    const { task_id: first } = await call('spawn_task', { task: 'Count the oaks.', runner: 'external', priority: 'urgent' })
    const { subtask_id: second } = await call('spawn_subagent', {
      subagent_type: 'Explore',
      prompt: 'Count the birches.',
      description: 'Count',
      run_in_background: true,
      runner: 'external',
    })
    const claimed = await rest.claim()
    if (claimed === null) throw new Error('nothing is pending')
    expect(claimed.subtask.id).toBe(first)
    const steps = [{ kind: 'message', content: { text: 'Nine so far.' } }]
    await rest.ok('POST', `/subtasks/${first}/heartbeat`, { body: { lease_token: claimed.lease.token, steps } })
    expect(await call('read_transcript', { subtask_id: first })).toMatchObject({ steps: [{ kind: 'message' }], next_after: null })

    const seen: Progress[] = []
    const waiting = call('wait_for', { ids: [first, second], seconds: 30 }, (progress) => seen.push(progress))
    await expect.poll(() => seen.at(-1), { timeout: 10_000 }).toMatchObject({ message: '0 of 2 ended' })
    expect((await rest.complete(claimed, 'Nine oaks.')).status).toBe(200)
    await expect.poll(() => seen.at(-1), { timeout: 10_000 }).toMatchObject({ message: '1 of 2 ended' })
    expect(await call('cancel_task', { task_id: second })).toEqual({ success: true, kind: 'subtask', status: 'cancelled' })
    expect(await waiting).toMatchObject({ all_ended: true, items: [{ result: 'Nine oaks.' }, { status: 'cancelled' }] })
    // The protocol wants numbers that grow.
    expect(seen.map(({ progress }) => progress)).toEqual(seen.map((_, index) => index + 1))
  })

  it('schedules, evaluates, remembers and keeps guides', async () => {
    const { task_id } = await call('schedule_task', { task: 'Check the snow', every: 'daily at 8am EST' })
    expect(await call('cancel_task', { task_id })).toEqual({ success: true, kind: 'schedule', status: 'deactivated' })
    const output = '<npl-block type="reflection">\n- ✅ done\n</npl-block>'
    expect(await call('evaluate_output', { output })).toMatchObject({ recommendation: 'approve' })
    const { fact_id } = await call('learn_fact', { content: `The ${mode} staging database listens on port 6543.` })
    for (const name of ['recall', 'recall_deep'])
      expect((await call(name, { query: `${mode} staging` })).items).toContainEqual(expect.objectContaining({ id: fact_id }))
    const { tsg_id } = await call('create_tsg', { title: `Disk full ${mode}`, content: 'Make room.', patterns: [`ENOSPC-${mode}`] })
    expect(await call('update_tsg', { tsg_id, content: 'Delete old logs.' })).toEqual({ tsg_id })
    expect(await call('read_tsg', { tsg_id })).toMatchObject({ content: 'Delete old logs.' })
    expect((await call('list_tsgs')).tsgs).toContainEqual(expect.objectContaining({ tsg_id }))
    expect(await call('scan_for_tsg', { error_message: `write failed: ENOSPC-${mode}` })).toMatchObject({ items: [{ tsg_id }] })
    expect(await call('mark_tsg_helpful', { tsg_id, resolved: true })).toMatchObject({ resolved: 1 })
  })

  it('finds a tool that its list does not have, and calls it', async () => {
    expect(Object.keys((await core.connected).schemas)).not.toContain('learn_fact')
    expect((await core.call('search_tools', { query: 'learn a fact' })).tools).toContainEqual(expect.objectContaining({ name: 'learn_fact' }))
    const fact = { content: `The ${mode} tests listen on port 6544.` }
    expect(await core.call('call_tool', { name: 'learn_fact', arguments: fact })).toEqual({ fact_id: expect.any(String) })
    expect(await core.call('call_tool', { name: 'get_task', arguments: { task_id: UNKNOWN } })).toMatchObject(error('not_found'))
  })

  it('has called every tool', async () => {
    expect([...all.called].sort()).toEqual(Object.keys((await all.connected).schemas).sort())
    expect([...core.called]).toEqual(['search_tools', 'call_tool'])
  })

  it('refuses an answer that does not match the schema of its tool', async () => {
    for (const client of [all, core]) {
      for (const name of Object.keys((await client.connected).schemas)) {
        // call_tool answers with any object.
        await expect(client.check(name, name === 'call_tool' ? [] : {})).rejects.toThrow(`Invalid structured content returned by tool ${name}`)
      }
    }
  })

  it('gets validation_failed from every tool for a parameter that it does not have', async () => {
    for (const client of [all, core]) {
      for (const name of Object.keys((await client.connected).schemas)) {
        const { error } = await client.call(name, { no_such_parameter: 1 })
        expect([name, error]).toMatchObject([name, { code: 'validation_failed', hint: expect.any(String) }])
        expect([name, error.errors]).toEqual([name, expect.arrayContaining([expect.objectContaining({ pointer: '/no_such_parameter' })])])
      }
    }
  })

  it.each([
    ['attach_tsg', { task_id: UNKNOWN, tsg_id: UNKNOWN }],
    ['assign_task', { task_id: UNKNOWN, subagent_session_id: 'writer' }],
    ['cancel_task', { task_id: UNKNOWN }],
    ['check_in', { task_id: UNKNOWN, content: `<npl-block type="check-in" task-id="${UNKNOWN}">\n- ✅ done\n</npl-block>` }],
    ['confirm_update', { update_id: UNKNOWN }],
    ['evaluate_output', { output: 'Done.', task_id: UNKNOWN }],
    ['flag_sequence_quality', { task_id: UNKNOWN, quality: 'good' }],
    ['get_task', { task_id: UNKNOWN }],
    ['mark_task_complete', { task_id: UNKNOWN, outputs: {} }],
    ['mark_tsg_helpful', { tsg_id: UNKNOWN, resolved: true }],
    ['read_transcript', { subtask_id: UNKNOWN }],
    ['read_tsg', { tsg_id: UNKNOWN }],
    ['request_full_payload', { task_id: UNKNOWN }],
    ['review_task', { task_id: UNKNOWN, decision: 'approve' }],
    ['spawn_task', { task_id: UNKNOWN, runner: 'external' }],
    ['steer_task', { id: UNKNOWN, content: 'Mind the gap.' }],
    ['update_task', { task_id: UNKNOWN, instructions: 'Write it.' }],
    ['update_tsg', { tsg_id: UNKNOWN, content: 'Make room.' }],
    ['wait_for', { ids: [UNKNOWN], seconds: 1 }],
  ])('gets not_found from %s for an id that does not exist', async (name, input) => {
    expect(await call(name, input)).toMatchObject(error('not_found', { hint: expect.any(String) }))
  })
})

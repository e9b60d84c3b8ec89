import { connect } from 'node:net'
import { advanceClock, holdRow, resetClock, type TestDatabase, testDatabase, waitUntilBlocked } from '@muster/testing'
import { assignTask, createTask, noteTask } from '@muster/usecases'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startApi, type TestApi } from '../testing/api.ts'
import { answerWithin } from './claude-code.ts'

let database: TestDatabase
let api: TestApi
let key: string
let admin: postgres.Sql

beforeAll(async () => {
  database = await testDatabase()
  api = await startApi(database)
  key = await api.key(['sessions:write', 'tasks:write'])
  admin = postgres(database.adminUrl, { max: 2, onnotice: () => {} }) as unknown as postgres.Sql
})
afterAll(async () => {
  await admin.end()
  await api.close()
})

/** What Claude Code sends with every event. */
const BASE = { transcript_path: '/tmp/t.jsonl', cwd: '/tmp', permission_mode: 'default', prompt_id: '0198c9b1-0000-7000-8000-000000000001' }
const hook = (event: string, fields: object = {}, as: string | undefined = key) =>
  api.call('POST', '/hooks/claude-code', { key: as, body: { ...BASE, session_id: 'main', hook_event_name: event, ...fields } })
const make = () => createTask(api.ctx, { title: 'Write the guide', instructions: 'Write it.' })
async function assigned(session: string) {
  const { id } = await make()
  return { id, credential: (await assignTask(api.ctx, id, session)).credential }
}
const told = (event: string) => ({
  hookSpecificOutput: { hookEventName: event, additionalContext: expect.stringContaining('[Task Assignment: Write the guide]') },
})
const nothing = { status: 200, text: '', body: undefined }

describe('POST /hooks/claude-code', () => {
  it.each([
    ['SessionStart', { source: 'startup' }],
    ['UserPromptSubmit', { prompt: 'Go on.' }],
    ['PreToolUse', { tool_name: 'Read', tool_input: { file_path: 'a' }, tool_use_id: 'toolu_1' }],
    ['PostToolUse', { tool_name: 'Read', tool_input: {}, tool_response: { content: 'a' }, tool_use_id: 'toolu_1', duration_ms: 3 }],
    ['PostToolUseFailure', { tool_name: 'Bash', tool_input: {}, error: 'exit 1', tool_use_id: 'toolu_1', is_interrupt: false }],
  ])('200: %s is answered with what is new for its session, once', async (event, fields) => {
    await assigned(`news-${event}`)
    const answer = await hook(event, { ...fields, session_id: `news-${event}` })
    expect([answer.status, answer.body]).toEqual([200, told(event)])
    expect(await hook(event, { ...fields, session_id: `news-${event}` })).toMatchObject(nothing)
  })

  it('200: a task that is named to the Agent tool stands in the prompt of its sub-agent', async () => {
    const { id } = await make()
    const input = { subagent_type: 'writer', description: 'Write', prompt: `Do what your brief says.\nmuster-task: ${id}` }
    const called = await hook('PreToolUse', { tool_name: 'Agent', tool_input: input, tool_use_id: 'toolu_2' })
    expect(called.body).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        updatedInput: { ...input, prompt: expect.stringMatching(/^Do what your brief says\.\nmuster-task: .*\n\n\[Task Assignment: Write the guide\]/) },
      },
    })
    expect(await hook('SubagentStart', { agent_id: 'a1', agent_type: 'writer' })).toMatchObject(nothing)
    await noteTask(api.ctx, id, 'Mind the gap.')
    const inside = await hook('PostToolUse', { agent_id: 'a1', agent_type: 'writer', tool_name: 'Read', tool_input: {}, tool_response: {} })
    expect(inside.body.hookSpecificOutput.additionalContext).toContain('Mind the gap.')
    const message = {
      agent_id: 'a1',
      agent_type: 'writer',
      agent_transcript_path: '/tmp/a1.jsonl',
      stop_hook_active: false,
      last_assistant_message: 'Written.',
    }
    expect(await hook('SubagentStop', message)).toMatchObject(nothing)
    const said = await api.call('GET', '/sessions/main:a1/messages', { key })
    expect(said.body.items).toMatchObject([{ content: 'Written.', task_id: id, agent_name: 'writer' }])
  })

  it('200: Stop is answered with one more turn for what is undelivered', async () => {
    await assigned('turn')
    const stop = { session_id: 'turn', stop_hook_active: false, last_assistant_message: 'Done.' }
    expect((await hook('Stop', stop)).body).toEqual({ decision: 'block', reason: expect.stringContaining('[Task Assignment: Write the guide]') })
    expect(await hook('Stop', { ...stop, stop_hook_active: true })).toMatchObject(nothing)
  })

  it('200: the credential of an assigned task stands for its own session, whatever is claimed', async () => {
    const { credential } = await assigned('own')
    await assigned('other')
    expect((await hook('PostToolUse', { session_id: 'other' }, credential)).body).toEqual(told('PostToolUse'))
    expect(await hook('PostToolUse', { session_id: 'other' }, credential)).toMatchObject(nothing)
    expect((await hook('PostToolUse', { session_id: 'other' })).body).toEqual(told('PostToolUse'))
  })

  it.each(['Notification', 'PreCompact', 'SessionEnd', 'NotYetThought', 'toString', ''])('200: the event %j is answered with nothing', async (event) => {
    expect(await hook(event)).toMatchObject(nothing)
  })

  it('200: an event of today’s program with everything in it is read', async () => {
    const stop = {
      stop_hook_active: false,
      last_assistant_message: 'Hi.',
      background_tasks: [{ id: 'x', type: 'shell', status: 'running', description: 'd' }],
      session_crons: [],
    }
    expect(await hook('Stop', { ...stop, session_id: 'full', effort: { level: 'high' } })).toMatchObject(nothing)
    expect((await api.call('GET', '/sessions/full/messages', { key })).body.items).toHaveLength(1)
  })

  describe('200 with nothing, instead of an error', () => {
    it.each([
      ['no JSON', '{'],
      ['no object', '[1]'],
      ['no event', JSON.stringify({ session_id: 'x' })],
      ['no session', JSON.stringify({ hook_event_name: 'Stop' })],
      ['a session that can be none', JSON.stringify({ hook_event_name: 'Stop', session_id: 'two\nlines' })],
      ['another type of field', JSON.stringify({ hook_event_name: 'Stop', session_id: 'x', last_assistant_message: { text: 'x' } })],
      ['a body nested too deep', `{"session_id": "x", "hook_event_name": "PreToolUse", "tool_input": ${'['.repeat(100)}${']'.repeat(100)}}`],
      ['a body that is too large', JSON.stringify({ session_id: 'x', hook_event_name: 'Stop', last_assistant_message: 'x'.repeat(8 * 1_048_576) })],
    ])('for %s', async (_what, raw) => {
      expect(await api.call('POST', '/hooks/claude-code', { key, raw })).toMatchObject(nothing)
    })

    it('for another type of body, and for a parameter', async () => {
      expect(await api.call('POST', '/hooks/claude-code', { key, raw: 'x', headers: { 'content-type': 'text/plain' } })).toMatchObject(nothing)
      const body = { session_id: 'x', hook_event_name: 'Stop' }
      expect(await api.call('POST', '/hooks/claude-code?a=1', { key, body })).toMatchObject(nothing)
    })

    it('for what is locked longer than Claude Code is held up, and nothing of it is lost', async () => {
      const { id } = await assigned('locked')
      const letGo = await holdRow(admin, id, 'tasks')
      expect(await hook('PreToolUse', { session_id: 'locked', tool_name: 'Read' })).toMatchObject(nothing)
      await letGo()
      expect((await api.call('GET', `/tasks/${id}`, { key: await api.key(['tasks:read']) })).body.status).toBe('assigned')
      // Waits for the one that came too late, which takes everything back.
      expect((await api.call('POST', '/sessions/locked/injections', { key })).body.text).toContain('[Task Assignment:')
    })
  })

  it('200: what was answered to a caller that has hung up comes again', async () => {
    const { id } = await assigned('hung-up')
    const letGo = await holdRow(admin, id, 'tasks')
    const address = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }))
    const body = JSON.stringify({ ...BASE, session_id: 'hung-up', hook_event_name: 'PostToolUse' })
    const socket = connect(Number(address.port), address.hostname)
    socket.write(
      `POST /hooks/claude-code HTTP/1.1\r\nhost: ${address.host}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await waitUntilBlocked(admin, 1)
    socket.destroy()
    await letGo()
    await expect.poll(async () => await admin`select from injection_claims where session_id = 'hung-up'`).toHaveLength(1)
    await advanceClock(admin, '6 seconds')
    expect((await hook('PostToolUse', { session_id: 'hung-up' })).body).toEqual(told('PostToolUse'))
    await resetClock(admin)
  })

  it('200: an Idempotency-Key is of no effect', async () => {
    const headers = { 'idempotency-key': 'hook' }
    const body = { session_id: 'keyed', hook_event_name: 'Stop', last_assistant_message: 'Once more.' }
    for (let time = 0; time < 2; time += 1) expect(await api.call('POST', '/hooks/claude-code', { key, body, headers })).toMatchObject(nothing)
    expect((await api.call('GET', '/sessions/keyed/messages', { key })).body.items).toHaveLength(2)
  })

  it('401, 403: who may not call learns nothing and changes nothing', async () => {
    const { id, credential } = await assigned('closed')
    const other = await api.key(['tasks:write', 'tasks:read'])
    await assignTask(api.ctx, id, 'closed-again')
    for (const [as, status] of [
      ['mst_key_wrong', 401],
      [credential, 401],
      [other, 403],
    ] as const) {
      const answer = await hook('PostToolUse', { session_id: 'closed-again' }, as)
      expect([answer.status, answer.body.code]).toEqual([status, status === 401 ? 'unauthenticated' : 'forbidden'])
      await hook('Stop', { session_id: 'closed-again', last_assistant_message: 'x' }, as)
    }
    expect((await api.call('GET', '/sessions/closed-again/messages', { key })).body.items).toEqual([])
    expect((await hook('PostToolUse', { session_id: 'closed-again' })).body).toEqual(told('PostToolUse'))
  })
})

/** Longer than a test lasts. */
const LONG_MS = 60_000

describe('an answer with patience', () => {
  it('is what the work answers with, in time', async () => {
    const late = vi.fn()
    expect(await answerWithin(LONG_MS, async (isAwaited) => isAwaited(), late)).toBe(true)
    expect(late).not.toHaveBeenCalled()
  })

  it('fails as the work fails, in time', async () => {
    await expect(answerWithin(LONG_MS, () => Promise.reject(new Error('broken')), vi.fn())).rejects.toThrow('broken')
  })

  it('is nothing when time is up, and the work is told so', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    const { promise: complained, resolve: late } = Promise.withResolvers<unknown>()
    const asked: boolean[] = []
    const work = async (isAwaited: () => boolean) => {
      await held
      asked.push(isAwaited())
      throw new Error('taken back')
    }
    expect(await answerWithin(0, work, late)).toBeNull()
    letGo()
    expect(await complained).toMatchObject({ message: 'taken back' })
    expect(asked).toEqual([false])
  })

  it('is waited for to the end once it is about to be recorded as told', async () => {
    const { promise: committed, resolve: commit } = Promise.withResolvers<string>()
    let isAnswered = false
    const answer = answerWithin(
      0,
      (isAwaited) => {
        expect(isAwaited()).toBe(true)
        return committed
      },
      vi.fn(),
    ).finally(() => {
      isAnswered = true
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(isAnswered).toBe(false)
    commit('told')
    expect(await answer).toBe('told')
  })
})

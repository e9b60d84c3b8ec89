import { createHash } from 'node:crypto'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Tool } from '@modelcontextprotocol/server'
import { CommitUnknownError } from '@muster/db'
import { ERROR_CODES, SUBAGENT_MCP_TOOLS } from '@muster/domain'
import { testDatabase } from '@muster/testing'
import {
  assignTask,
  claimSubtask,
  createApiKey,
  createEvaluation,
  createSchedule,
  createTask,
  createTsg,
  dispatchTask,
  getTask,
  getTsgUsage,
  noteTask,
  reviseTask,
  revokeApiKey,
} from '@muster/usecases'
import { countTokens } from 'gpt-tokenizer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drainEvents, spawnExternal, startApi, type TestApi } from '../testing/api.ts'
import { TOOLS } from './catalog.ts'
import { MCP_HINTS, toToolError } from './tool-error.ts'

const CORE = [
  ...['create_task', 'update_task', 'get_task', 'list_tasks', 'assign_task', 'mark_task_complete'],
  ...['spawn_task', 'schedule_task', 'cancel_task', 'claim_inbox'],
]
const STANDARD = [
  ...[...CORE, 'check_in', 'confirm_update', 'read_tsg', 'scan_for_tsg', 'mark_tsg_helpful', 'wait_for', 'steer_task', 'read_transcript'],
  ...['review_task', 'spawn_subagent', 'evaluate_output', 'request_full_payload', 'recall'],
  ...['ask', 'list_questions', 'answer_question'],
]
const ALL = [
  ...[...STANDARD, 'recall_deep', 'learn_fact', 'create_real_task', 'attach_tsg', 'flag_sequence_quality'],
  ...['list_tsgs', 'create_tsg', 'update_tsg'],
]
const OF_SUBTASKS = ['get_task', 'check_in', 'confirm_update', 'read_tsg', 'scan_for_tsg', 'mark_tsg_helpful', 'recall', 'ask', 'recall_deep', 'learn_fact']
const OF_ASSIGNED_TASKS = ['get_task', 'mark_task_complete', 'check_in', 'confirm_update', 'read_tsg', 'scan_for_tsg', 'mark_tsg_helpful', 'ask']
const UNKNOWN = '01990000-0000-7000-8000-000000000000'

let api: TestApi
let url: string
let key: string
const clients: Client[] = []

beforeAll(async () => {
  api = await startApi(await testDatabase())
  url = `${await api.app.listen({ host: '127.0.0.1', port: 0 })}/mcp`
  key = await api.key(['admin'])
  await createTsg(api.ctx, { tsgId: 'port-taken', title: 'Taken', content: 'Take another.', patterns: ['EADDRINUSE'] })
})
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await api.close()
})

type Era = 'legacy' | 'modern'

async function connect(as: string, { era = 'legacy', headers = {}, query = '' }: { era?: Era; headers?: Record<string, string>; query?: string } = {}) {
  const client = new Client({ name: 'test', version: '1' }, era === 'legacy' ? {} : { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  clients.push(client)
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}${query}`), { requestInit: { headers: { authorization: `Bearer ${as}`, ...headers } } }),
  )
  return client
}

/** Calls a tool: its structured result, or its error. */
async function call(client: Client, name: string, input: Record<string, unknown>, meta: Record<string, unknown> = {}) {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: input, _meta: meta })
  const [first] = content as { type: string; text: string }[]
  const text = JSON.parse(first?.text ?? 'null')
  if (isError !== true) expect(text).toEqual(structuredContent)
  else expect(structuredContent).toBeUndefined()
  return isError === true ? { error: text } : structuredContent
}

const make = () => createTask(api.ctx, { title: 'Write the guide', instructions: 'Write it.', acceptance_criteria: ['All steps work'] })
async function assigned(session: string) {
  const { id } = await make()
  return { id, credential: (await assignTask(api.ctx, id, session)).credential }
}

/** A task that is run by a subtask, with the subtask's own credential. */
async function dispatched() {
  const { id } = await make()
  const subtask = await dispatchTask(api.ctx, id, () => ({ runner: 'external', agentId: id }))
  const claimed = await claimSubtask(api.ctx, { runner: 'external', workerId: 'w', leaseSeconds: 60 })
  if (claimed?.subtask.id !== subtask.id) throw new Error('another subtask was claimed')
  return { id, subtaskId: subtask.id, credential: claimed.credential }
}
const blockOf = (id: string, revision = '') => `<npl-block type="check-in" task-id="${id}"${revision}>\n- ✅ All steps work\n</npl-block>`

describe.each(['legacy', 'modern'] as const)('/mcp, as clients of the %s era speak to it', (era) => {
  it('says what it is, and what its tools take and answer', async () => {
    const client = await connect(key, { era })
    expect(client.getServerVersion()).toMatchObject({ name: 'muster' })
    expect(client.getInstructions()).toContain('confirm_update')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([...STANDARD, 'search_tools', 'call_tool'])
    for (const tool of tools) {
      expect(tool).toMatchObject({
        title: expect.any(String),
        description: expect.any(String),
        inputSchema: { type: 'object', additionalProperties: false },
        outputSchema: { type: 'object' },
        annotations: { readOnlyHint: expect.any(Boolean), destructiveHint: expect.any(Boolean), idempotentHint: expect.any(Boolean), openWorldHint: false },
      })
    }
  })

  it('serves a subtask with its own credential', async () => {
    const { id, subtaskId, credential } = await dispatched()
    const client = await connect(credential, { era })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(OF_SUBTASKS)
    expect(await call(client, 'get_task', { task_id: id })).toMatchObject({
      kind: 'task',
      task: { id, status: 'in_progress', subagent_session_id: `subtask-${subtaskId}` },
    })
    expect(await call(client, 'get_task', { task_id: subtaskId })).toMatchObject({ kind: 'subtask', subtask: { id: subtaskId, status: 'running' } })
    expect(await call(client, 'check_in', { task_id: id, content: blockOf(id), revision: 1 })).toMatchObject({ revision: 1, criteria: [{ state: 'met' }] })
    const { updateId } = await noteTask(api.ctx, id, 'Größe zählt.')
    expect(await call(client, 'confirm_update', { update_id: updateId })).toMatchObject({
      genuine: true,
      task_id: id,
      content: 'Größe zählt.',
      content_sha256: createHash('sha256').update('Größe zählt.').digest('hex'),
    })
    expect(await call(client, 'read_tsg', { tsg_id: 'port-taken' })).toMatchObject({ title: 'Taken', content: 'Take another.' })
    expect(await call(client, 'mark_tsg_helpful', { tsg_id: 'port-taken', resolved: true })).toMatchObject({
      tsg_id: 'port-taken',
      resolved: expect.any(Number),
    })
  })

  it('serves whoever has a key, and the holder of a task', async () => {
    const { id, credential } = await assigned(`holder-${era}`)
    for (const as of [key, credential]) {
      const client = await connect(as, { era })
      expect(await call(client, 'get_task', { task_id: id })).toMatchObject({ kind: 'task', task: { id } })
      expect(await call(client, 'check_in', { task_id: id, content: blockOf(id) })).toMatchObject({ criteria: [{ state: 'met' }] })
    }
  })

  it('answers errors as tool errors, with the code of REST and what to do next', async () => {
    const { credential } = await assigned(`errors-${era}`)
    const { id: others } = await make()
    const client = await connect(credential, { era })
    const notFound = { error: { code: 'not_found', hint: expect.any(String), retryable: false, request_id: expect.any(String) } }
    for (const id of [others, UNKNOWN]) expect(await call(client, 'get_task', { task_id: id })).toMatchObject(notFound)
    expect(await call(client, 'confirm_update', { update_id: UNKNOWN })).toMatchObject(notFound)
    expect(await call(client, 'read_tsg', { tsg_id: 'unknown' })).toMatchObject(notFound)
    expect(await call(client, 'mark_tsg_helpful', { tsg_id: 'unknown', resolved: true })).toMatchObject(notFound)
    expect(await call(client, 'check_in', { task_id: others, content: blockOf(others) })).toMatchObject(notFound)
  })
})

describe('a tool', () => {
  it('names everything that is wrong with what it is given', async () => {
    const client = await connect(key)
    const problem = (pointer: string) => expect.objectContaining({ pointer, reason: expect.any(String) })
    expect(await call(client, 'check_in', { task_id: 'x', content: ' ', more: 1 })).toMatchObject({
      error: { code: 'validation_failed', hint: MCP_HINTS.validation_failed, errors: [problem('/task_id'), problem('/content'), problem('/more')] },
    })
    expect(await call(client, 'get_task', {})).toMatchObject({ error: { code: 'validation_failed', errors: [problem('/task_id')] } })
    expect(await call(client, 'check_in', { task_id: (await make()).id, content: 'All is well.' })).toMatchObject({
      error: { code: 'validation_failed', errors: [problem('/content')] },
    })
  })

  it('needs the scope that REST needs', async () => {
    const client = await connect(await api.key(['memory:read']))
    for (const [name, input] of [
      ['get_task', { task_id: UNKNOWN }],
      ['check_in', { task_id: UNKNOWN, content: 'x' }],
      ['confirm_update', { update_id: UNKNOWN }],
      ['read_tsg', { tsg_id: 'x' }],
      ['mark_tsg_helpful', { tsg_id: 'x', resolved: true }],
    ] as const) {
      expect(await call(client, name, input)).toMatchObject({ error: { code: 'forbidden', required_scope: expect.any(String), hint: MCP_HINTS.forbidden } })
    }
  })

  it('needs no scope that REST does not need', async () => {
    const as = async (...scopes: Parameters<typeof api.key>[0]) => await connect(await api.key(scopes), { query: '?tools=all' })
    const how = { runner: 'external', wait_seconds: 0.2 }
    const spawned = (await call(await as('subtasks:write'), 'spawn_task', { task: 'x', ...how })) as { task_id: string }
    expect(spawned).toMatchObject({ status: 'pending' })
    const run = await call(await as('subagents:spawn'), 'spawn_subagent', { subagent_type: 'Explore', prompt: 'x', description: 'x', ...how })
    expect(run).toMatchObject({ success: true, subtask_id: expect.any(String) })
    const flag = { task_id: spawned.task_id, quality: 'good' }
    expect(await call(await as('evaluations:write'), 'flag_sequence_quality', flag)).toMatchObject({ kind: 'subtask', training_candidate: true })
    const { id } = (await createEvaluation(api.ctx, { output: 'Three birches.' })).evaluation
    expect(await call(await as('evaluations:read'), 'request_full_payload', { task_id: id })).toMatchObject({
      kind: 'evaluation',
      full_output: 'Three birches.',
    })
    for (const subtaskId of [spawned.task_id, (run as { subtask_id: string }).subtask_id]) await api.call('DELETE', `/subtasks/${subtaskId}`, { key })
  })

  it('sees nothing of other projects', async () => {
    const client = await connect(await api.key(['admin'], await api.stranger()))
    expect(await call(client, 'get_task', { task_id: (await make()).id })).toMatchObject({ error: { code: 'not_found' } })
    expect(await call(client, 'read_tsg', { tsg_id: 'port-taken' })).toMatchObject({ error: { code: 'not_found' } })
  })

  it('reads tasks, subtasks and schedules by whatever id fits', async () => {
    const client = await connect(key)
    const schedule = await createSchedule(api.ctx, { task: 'x', phrase: { kind: 'every', text: '1 hour' }, runner: 'external' })
    const subtask = await spawnExternal(api.ctx, { agentId: 'kinds' })
    expect(await call(client, 'get_task', { task_id: schedule.id })).toMatchObject({ kind: 'schedule', schedule: { id: schedule.id } })
    expect(await call(client, 'get_task', { task_id: subtask.id })).toMatchObject({ kind: 'subtask', subtask: { id: subtask.id } })
    await api.call('DELETE', `/subtasks/${subtask.id}`, { key })
  })

  it('counts a reading, for the session that is named in the request, in a header or in the address', async () => {
    const reads = async () => (await getTsgUsage(api.ctx, 'port-taken')).read
    const before = await reads()
    await call(await connect(key), 'read_tsg', { tsg_id: 'port-taken' })
    expect(await reads()).toBe(before + 1)
    await call(await connect(key), 'read_tsg', { tsg_id: 'port-taken' }, { 'muster/session_id': 'by meta' })
    await call(await connect(key, { headers: { 'muster-session-id': 'by header' } }), 'read_tsg', { tsg_id: 'port-taken' })
    const { task_id } = (await call(await connect(key, { query: '?session=by+address' }), 'create_task', {
      ...{ title: 'Count', instructions: 'Count.', acceptance: ['Right'], _session: 'by argument' },
    })) as { task_id: string }
    expect((await getTask(api.ctx, task_id)).parentSessionId).toBe('by argument')
    await call(await connect(key, { query: '?session=by+address' }), 'read_tsg', { tsg_id: 'port-taken' })
    expect(await reads()).toBe(before + 4)
    expect(await call(await connect(key), 'read_tsg', { tsg_id: 'port-taken' }, { 'muster/session_id': 'two\nlines' })).toMatchObject({
      error: { code: 'validation_failed' },
    })
  })

  it('acknowledges the updates up to the revision that is named beside the block', async () => {
    const { id, credential } = await assigned('acknowledging')
    await api.call('POST', '/sessions/acknowledging/injections', { key })
    const patched = await api.call('PATCH', `/tasks/${id}`, { key, body: { instructions: 'Write it well.' }, headers: { 'if-match': '"1"' } })
    await api.call('POST', '/sessions/acknowledging/injections', { key })
    const client = await connect(credential)
    expect(await call(client, 'check_in', { task_id: id, content: blockOf(id), revision: 2 })).toMatchObject({
      revision: 2,
      acknowledged_update_ids: [patched.body.update_id],
    })
  })

  it('that starts work is refused to a sub-agent by name', async () => {
    const { credential } = await assigned('spawning')
    const client = await connect(credential)
    for (const name of ['spawn_task', 'schedule_task', 'spawn_subagent', 'create_task']) {
      expect(await call(client, name, { task: 'x' })).toMatchObject({ error: { code: 'spawn_blocked', title: 'SpawnBlocked', hint: MCP_HINTS.spawn_blocked } })
    }
  })

  it('that does not exist is an error of the protocol', async () => {
    await expect((await connect(key)).callTool({ name: 'no_such_tool', arguments: {} })).rejects.toThrow(/no tool no_such_tool/)
  })
})

describe('the list of tools', () => {
  const namesFor = async (as: string, query = '') => (await (await connect(as, { query })).listTools()).tools.map(({ name }) => name)
  const SEARCH = ['search_tools', 'call_tool']

  it.each([
    ['?tools=core', [...CORE, ...SEARCH]],
    ['?tools=standard', [...STANDARD, ...SEARCH]],
    ['?tools=all', ALL],
    ['?tools=none-of-these', [...STANDARD, ...SEARCH]],
  ])('is that of the tier for %s', async (query, names) => {
    expect(await namesFor(key, query)).toEqual(names)
  })

  it('has what the caller may use', async () => {
    expect(await namesFor(await api.key(['tsgs:read']), '?tools=all')).toEqual(['read_tsg', 'scan_for_tsg', 'mark_tsg_helpful', 'list_tsgs'])
    expect(await namesFor((await assigned('listing')).credential, '?tools=core')).toEqual(OF_ASSIGNED_TASKS)
  })

  it('is what definitions of sub-agents may use in the background, but for memory, which a definition has to allow', () => {
    const ofMemory = ['recall', 'recall_deep', 'learn_fact']
    const ofSubagents = new Set([...OF_ASSIGNED_TASKS, ...OF_SUBTASKS.filter((name) => !ofMemory.includes(name))])
    expect(SUBAGENT_MCP_TOOLS).toEqual([...ofSubagents].map((name) => `mcp__muster__${name}`))
  })

  it('costs a client of the core tier at most 4,000 tokens, the instructions included', async () => {
    const client = await connect(key, { query: '?tools=core' })
    const { tools } = await client.listTools()
    expect(countTokens(JSON.stringify(tools)) + countTokens(client.getInstructions() ?? '')).toBeLessThanOrEqual(4_000)
  })

  it('leads to the tools that are not in it', async () => {
    const client = await connect(key, { query: '?tools=core' })
    const found = (await call(client, 'search_tools', { query: 'review a result' })) as { tools: { name: string }[] }
    expect(found.tools[0]).toMatchObject({ name: 'review_task', inputSchema: { type: 'object' } })
    expect(await call(client, 'call_tool', { name: 'read_tsg', arguments: { tsg_id: 'port-taken' } })).toMatchObject({ title: 'Taken' })
    expect(await call(client, 'call_tool', { name: 'read_tgs' })).toMatchObject({ error: { errors: [{ reason: 'names no tool; did you mean read_tsg?' }] } })
    expect(await call(client, 'search_tools', { query: '?!' })).toEqual({ tools: [] })
    const reader = await connect(await api.key(['tsgs:read']), { query: '?tools=core' })
    expect(await call(reader, 'call_tool', { name: 'create_task', arguments: { title: 'x' } })).toMatchObject({ error: { code: 'forbidden' } })
  })
})

describe('the door', () => {
  const post = (options: { key?: string; raw?: string; headers?: Record<string, string> }) =>
    api.call('POST', '/mcp', {
      raw: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      ...options,
      headers: { accept: 'application/json, text/event-stream', ...options.headers },
    })

  it('401: needs a credential that is still good', async () => {
    for (const wrong of [undefined, 'mst_key_wrong']) {
      const answer = await post(wrong === undefined ? {} : { key: wrong })
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
      expect(answer.headers['www-authenticate']).toContain('Bearer')
    }
  })

  it('405: keeps no streams open and no sessions', async () => {
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await api.call(method, '/mcp', { key, headers: { accept: 'text/event-stream' } })).status).toBe(405)
    }
  })

  it('400, 413, 415: refuses what it cannot read as REST does', async () => {
    expect(await post({ key, raw: '{' })).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(await post({ key, raw: JSON.stringify({ x: 'x'.repeat(1_048_576) }) })).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
    expect(await post({ key, headers: { 'content-type': 'text/plain' } })).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
  })

  it('answers a client that never said hello', async () => {
    const answer = await post({ key })
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('mark_tsg_helpful')
  })

  it('hints at what the caller of the tool can do', async () => {
    const hint = async (as: string, tool: string, input: object) =>
      ((await call(await connect(as), tool, { ...input })) as { error: { code: string; hint: string } }).error
    const { credential } = await assigned('hinted')
    expect(await hint(key, 'get_task', { task_id: UNKNOWN })).toMatchObject({ code: 'not_found', hint: expect.stringContaining('list_tasks') })
    expect(await hint(credential, 'get_task', { task_id: UNKNOWN })).toMatchObject({ code: 'not_found', hint: expect.stringContaining('your own brief') })
    expect(await hint(credential, 'read_tsg', { tsg_id: 'none' })).toMatchObject({ code: 'not_found', hint: expect.stringContaining('scan_for_tsg') })
    expect(await hint(key, 'confirm_update', { update_id: UNKNOWN })).toMatchObject({ hint: expect.stringContaining('do not act on it') })
    const found = await hint(key, 'call_tool', { name: 'confirm_update', arguments: { update_id: UNKNOWN } })
    expect(found).toMatchObject({ hint: expect.stringContaining('do not act on it') })
    const narrow = await hint(await api.key(['subtasks:read']), 'get_task', { task_id: UNKNOWN })
    expect(narrow).toMatchObject({ detail: expect.stringMatching(/^There is no such subtask,/) })
  })

  it('says where a repetition could do a thing twice, and speaks of no keys of REST', () => {
    const lost = new CommitUnknownError(new Error('lost'))
    const said = (name: string) => {
      const tool = TOOLS.find(({ description }) => description.name === name)?.description as Tool
      const [content] = toToolError(lost, api.deps, { ids: { request_id: 'r' }, tool, isSubagent: false }).content
      return JSON.parse((content as { text: string }).text)
    }
    expect(said('spawn_task')).toMatchObject({ code: 'unavailable', hint: expect.stringContaining('may have taken effect') })
    expect(said('update_task')).toMatchObject({ code: 'unavailable', hint: MCP_HINTS.unavailable })
    expect(said('spawn_task').detail).not.toContain('Idempotency-Key')
  })

  it('has a hint for every error', () => {
    expect(Object.keys(MCP_HINTS).sort()).toEqual(Object.keys(ERROR_CODES).sort())
  })
})

describe('subscriptions', () => {
  /** What a client is told of, in order. */
  async function listen(as: string, filter: { resourcesListChanged?: boolean; resourceSubscriptions?: string[] }) {
    const client = await connect(as, { era: 'modern' })
    const heard: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri))
    client.setNotificationHandler('notifications/resources/list_changed', () => void heard.push('list'))
    return { client, heard, subscription: await client.listen(filter) }
  }

  it('tell of changes to a task, of new tasks, and of nothing else', async () => {
    const [watched, other] = [await make(), await make()]
    const uri = `muster://tasks/${watched.id}`
    const { heard, subscription } = await listen(key, { resourcesListChanged: true, resourceSubscriptions: [uri] })
    await reviseTask(api.ctx, other.id, { instructions: 'Write the other one.' }, [1])
    await reviseTask(api.ctx, watched.id, { instructions: 'Write it again.' }, [1])
    await make()
    await drainEvents(api)
    await expect.poll(() => heard).toEqual(expect.arrayContaining([uri, 'list']))
    expect(new Set(heard)).toEqual(new Set([uri, 'list']))
    await subscription.close()
    await expect.poll(() => api.deps.feed.size()).toBe(0)
  })

  it('tell nothing to other projects, or to callers that may not read tasks', async () => {
    const { id } = await make()
    const strange = await api.key(['admin'], await api.stranger())
    const { heard, subscription } = await listen(strange, { resourcesListChanged: true, resourceSubscriptions: [`muster://tasks/${id}`] })
    const blind = await listen(await api.key(['subtasks:read']), { resourcesListChanged: true, resourceSubscriptions: [`muster://tasks/${id}`] })
    const own = await listen(key, { resourceSubscriptions: [`muster://tasks/${id}`] })
    await reviseTask(api.ctx, id, { instructions: 'Write it again.' }, [1])
    await make()
    await drainEvents(api)
    await expect.poll(() => own.heard).toContain(`muster://tasks/${id}`)
    expect([...heard, ...blind.heard]).toEqual([])
    await Promise.all([subscription, blind.subscription, own.subscription].map((each) => each.close()))
  })

  it('end with the credential', async () => {
    const ending = await createApiKey(api.ctx, { name: 'ending', scopes: ['tasks:read'] })
    const { subscription } = await listen(ending.secret, { resourcesListChanged: true })
    await revokeApiKey(api.ctx, ending.apiKey.id)
    const startedAt = performance.now()
    await subscription.closed
    expect(performance.now() - startedAt).toBeLessThan(2_000)
  })

  it('are not offered to clients that could not receive them', async () => {
    expect((await connect(key)).getServerCapabilities()?.resources).toEqual({})
    expect((await connect(key, { era: 'modern' })).getServerCapabilities()?.resources).toEqual({ subscribe: true, listChanged: true })
  })
})

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { testDatabase } from '@muster/testing'
import { claimSubtask, completeLease, heartbeat, listUpdates } from '@muster/usecases'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../testing/api.ts'
import { TOOLS } from './catalog.ts'

const UNKNOWN = '01990000-0000-7000-8000-000000000000'

let api: TestApi
let url: string
let key: string
const clients: Client[] = []
/** The tools that were called with success, in each era. */
const called = { legacy: new Set<string>(), modern: new Set<string>() }

beforeAll(async () => {
  api = await startApi(await testDatabase())
  url = `${await api.app.listen({ host: '127.0.0.1', port: 0 })}/mcp?tools=all`
  key = await api.key(['admin'])
})
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await api.close()
})

type Era = keyof typeof called

async function connect(era: Era, session?: string) {
  const client = new Client({ name: 'test', version: '1' }, era === 'legacy' ? {} : { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  clients.push(client)
  const headers = {
    authorization: `Bearer ${key}`,
    ...(session === undefined ? {} : { 'muster-session-id': session, 'muster-agent-id': `agent-of-${session}` }),
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return client
}

it('a callback may be given to each tool that starts work or writes a brief, and is checked as over HTTP', async () => {
  const call = await controller('modern')
  const callback = { url: 'https://example.com/done' }
  const tools = {
    spawn_task: { task: 'x', runner: 'external' },
    schedule_task: { task: 'x', every: '1 day' },
    create_task: { title: 'Count', instructions: 'Count.', acceptance: ['Counted'] },
  }
  for (const [tool, input] of Object.entries(tools)) {
    const { task_id } = await call(tool, { ...input, callback })
    // Nothing is left for the worker of the tests below.
    expect(await call('cancel_task', { task_id })).toMatchObject({ success: true })
    const refused = await call(tool, { ...input, callback: { url: 'http://10.0.0.1/' } })
    expect(refused.error).toMatchObject({ code: 'validation_failed', errors: [{ field: 'callback.url' }] })
  }
  const spawned = await call('spawn_subagent', { subagent_type: 'x', prompt: 'x', description: 'x', callback: { ...callback, secret: 'short' } })
  expect(spawned.error).toMatchObject({ code: 'validation_failed', errors: [{ field: 'callback.secret' }] })
})

const ajv = addFormats.default(new Ajv2020({ strict: false }))
const validators = new Map(TOOLS.map(({ description }) => [description.name, ajv.compile(description.outputSchema as object)]))

/** Calls tools as a client of an era: each answer has to match the schema that is listed for it. */
async function controller(era: Era, session?: string) {
  const client = await connect(era, session)
  // biome-ignore lint/suspicious/noExplicitAny: answers of thirty tools
  return async (name: string, input: object = {}, onprogress?: (progress: any) => void): Promise<any> => {
    const options = onprogress === undefined ? undefined : { onprogress, timeout: 20_000 }
    const { isError, content, structuredContent } = await client.callTool({ name, arguments: input as Record<string, unknown> }, options)
    const text = (content as { text: string }[])[0]?.text ?? ''
    if (isError === true) {
      const error = JSON.parse(text)
      expect(text).not.toMatch(/\b(?:GET|POST|PUT|PATCH|DELETE) \//)
      return { error }
    }
    const validate = validators.get(name)
    expect([name, validate?.(structuredContent), validate?.errors]).toEqual([name, true, null])
    called[era].add(name)
    return structuredContent
  }
}

/** An outside worker that runs what is pending, with one result. */
async function runNext(result: string) {
  const claimed = await claimSubtask(api.ctx, { runner: 'external', workerId: 'w', leaseSeconds: 60 })
  if (claimed === null) throw new Error('nothing is pending')
  const lease = claimed.lease.token
  return {
    id: claimed.subtask.id,
    brief: claimed.brief,
    step: (content: unknown) =>
      heartbeat(api.ctx, claimed.subtask.id, { leaseToken: lease, ackUpdateIds: [], steps: [{ kind: 'message', content }], usage: {} }),
    end: () => completeLease(api.ctx, claimed.subtask.id, { leaseToken: lease, result }),
  }
}

describe.each(['legacy', 'modern'] as const)('tools, as clients of the %s era call them', (era) => {
  it('write a brief, change it, follow and accept the work of its session', async () => {
    const call = await controller(era, `lead-${era}`)
    const { tsg_id } = await call('create_tsg', { title: `Port taken ${era}`, content: 'Take another.', patterns: [`EADDRINUSE-${era}`] })
    const created = await call('create_task', {
      title: 'Write it',
      instructions: 'Write the guide.',
      acceptance: ['All steps work'],
      outputs: ['guide'],
      review: 'manual',
    })
    const { task_id } = created
    expect(await call('attach_tsg', { task_id, tsg_id })).toEqual({ success: true })
    expect(await call('assign_task', { task_id, subagent_session_id: `writer-${era}` })).toEqual({ success: true })
    const { update_id } = await call('update_task', { task_id, instructions: 'Write the whole guide.', acceptance: ['All steps work', 'It is short'] })
    expect(await call('confirm_update', { update_id })).toMatchObject({ genuine: true, task_id, revision: 3 })
    const { task } = await call('get_task', { task_id })
    expect(task).toMatchObject({ instructions: 'Write the whole guide.', parent_session_id: `lead-${era}`, acceptance_criteria: [{}, {}] })
    const block = `<npl-block type="check-in" task-id="${task_id}">\n- ✅ All steps work\n</npl-block>`
    expect(await call('check_in', { task_id, content: block })).toMatchObject({ criteria: [{ state: 'met' }] })
    expect(await call('steer_task', { id: task_id, content: 'Mind the gap.' })).toMatchObject({ kind: 'task', status: 'queued' })
    const { question_id } = await call('ask', { id: task_id, prompt: 'How long?', options: [{ id: 'short', label: 'Short' }] })
    expect((await call('list_questions', { session: `lead-${era}` })).items).toMatchObject([{ question_id, status: 'open' }])
    expect((await call('list_questions', { task: task_id })).items).toMatchObject([{ question_id }])
    expect(await call('answer_question', { question_id, option_id: 'short' })).toMatchObject({ status: 'answered', answer: { option_id: 'short' } })
    expect(await call('mark_task_complete', { task_id, outputs: {} })).toMatchObject({
      error: { code: 'outputs_missing', errors: [{ pointer: '/outputs/guide' }] },
    })
    expect(await call('mark_task_complete', { task_id, outputs: { guide: 'Turn it off.' } })).toEqual({ success: true, status: 'in_review' })
    expect(await call('wait_for', { ids: [task_id], seconds: 5 })).toMatchObject({ all_ended: true, items: [{ status: 'in_review' }] })
    expect(await call('request_full_payload', { task_id })).toMatchObject({ kind: 'task', full_output: expect.stringContaining('Turn it off.') })
    expect(await call('flag_sequence_quality', { task_id, quality: 'good' })).toMatchObject({ success: true, training_candidate: true })
    const verdict = { verdict: 'met', comment: 'I have tried them.' }
    expect(await call('review_task', { task_id, decision: 'approve', criteria: [{ criterion_id: task_id, ...verdict }] })).toMatchObject({
      error: { code: 'validation_failed' },
    })
    const criteria = task.acceptance_criteria.map(({ id }: { id: string }) => ({ criterion_id: id, ...verdict }))
    expect(await call('review_task', { task_id, decision: 'approve', criteria })).toEqual({ success: true, status: 'completed' })
    expect((await call('get_task', { task_id })).task.acceptance_criteria).toMatchObject([{ state: 'met' }, { state: 'met' }])
    const inbox = await call('claim_inbox')
    expect(inbox.items.map(({ status }: { status: string }) => status)).toEqual(['answered', 'in_review', 'completed'])
    expect(await call('list_tasks', { status: 'completed', parent_session: `lead-${era}`, kind: 'task' })).toMatchObject({
      tasks: [{ id: task_id }],
      subtasks: [],
    })
  })

  it('run work, tell how far it is, and bring its result once', async () => {
    const call = await controller(era, `spawner-${era}`)
    const first = await call('spawn_task', { task: 'Count the oaks.', runner: 'external' })
    expect(first).toMatchObject({ status: 'pending', result: null })
    const BIRCHES = 'Three birches.\n<npl-block type="check-in">\n- ✅ Counted\n</npl-block>'
    const { task_id: brief } = await call('create_task', { title: 'Count', instructions: 'Count the birches.', acceptance: ['Counted'] })
    const second = await call('spawn_task', { task_id: brief, runner: 'external', priority: 'urgent' })
    const urgent = await runNext(BIRCHES)
    expect(urgent.id).toBe(second.task_id)
    await urgent.step({ text: 'x'.repeat(3_000) })
    expect(await call('steer_task', { id: second.task_id, content: 'Leave out the young ones.' })).toMatchObject({ kind: 'subtask' })
    expect((await listUpdates(api.ctx, second.task_id, { limit: 10 })).items).toMatchObject([{ content: 'Leave out the young ones.' }])
    expect(await call('read_transcript', { subtask_id: second.task_id })).toMatchObject({ steps: [{ kind: 'message', truncated: true }], next_after: null })

    const reports: unknown[] = []
    const waiting = call('wait_for', { ids: [first.task_id, second.task_id], seconds: 15 }, (report) => reports.push(report))
    await urgent.end()
    await expect.poll(() => reports).toContainEqual(expect.objectContaining({ message: '1 of 2 ended' }))
    await (await runNext('Nine oaks.')).end()
    expect(await waiting).toMatchObject({ all_ended: true, items: [{ result: 'Nine oaks.' }, { result: BIRCHES }] })
    expect(await call('get_task', { task_id: first.task_id })).toMatchObject({
      kind: 'subtask',
      subtask: { agent_id: `agent-of-spawner-${era}`, result: 'Nine oaks.' },
    })
    const { items } = await call('claim_inbox', { limit: 50 })
    expect(items.map(({ result }: { result: string }) => result).sort()).toEqual(['Nine oaks.', BIRCHES])
    expect((await call('claim_inbox')).items).toEqual([])
  })

  it('wait in the call that starts the work, and answer with what is there when the time is over', async () => {
    const call = await controller(era)
    const spawning = call('spawn_task', { task: 'Say hello.', runner: 'external', wait_seconds: 15 })
    await expect.poll(() => runNext('Hello.').then((run) => run.end())).toBeDefined()
    expect(await spawning).toMatchObject({ status: 'completed', result: 'Hello.' })
    const late = await call('spawn_task', { task: 'Say nothing.', runner: 'external' })
    expect(await call('wait_for', { ids: [late.task_id], seconds: 0.2 })).toMatchObject({ all_ended: false, items: [{ status: 'pending', ended: false }] })
    expect(await call('cancel_task', { task_id: late.task_id })).toEqual({ success: true, kind: 'subtask', status: 'cancelled' })
    const run = await call('spawn_subagent', { subagent_type: 'Explore', prompt: 'Look.', description: 'Look', run_in_background: true, runner: 'external' })
    expect(run).toMatchObject({ success: true, subagent_type: 'Explore', background: true })
    expect(await call('cancel_task', { task_id: run.subtask_id })).toMatchObject({ kind: 'subtask' })
  })

  it('schedule in words, list and end what was scheduled', async () => {
    const call = await controller(era)
    const { task_id, schedule } = await call('schedule_task', { task: 'Check the snow', every: 'daily at 8am EST' })
    expect(schedule).toMatchObject({ reading: expect.stringContaining('8'), next_fire_at: expect.any(String) })
    expect((await call('list_tasks', { status: 'scheduled' })).schedules).toContainEqual(expect.objectContaining({ id: task_id }))
    expect(await call('get_task', { task_id })).toMatchObject({ kind: 'schedule', schedule: { state: 'active' } })
    expect(await call('cancel_task', { task_id })).toEqual({ success: true, kind: 'schedule', status: 'deactivated' })
    expect(await call('schedule_task', { task: 'x', every: 'sunday at 25' })).toMatchObject({ error: { code: expect.stringMatching(/^schedule_/) } })
    expect(await call('schedule_task', { task: 'x' })).toMatchObject({ error: { code: 'validation_failed' } })
  })

  it('evaluate, remember and look up', async () => {
    const call = await controller(era)
    expect(await call('evaluate_output', { output: '<npl-block type="reflection">\n- ✅ done\n</npl-block>' })).toMatchObject({ recommendation: 'approve' })
    const { fact_id } = await call('learn_fact', { content: `The ${era} staging database listens on port 6543.` })
    for (const name of ['recall', 'recall_deep'])
      expect((await call(name, { query: `${era} staging` })).items).toContainEqual(expect.objectContaining({ id: fact_id }))
    const { tsg_id } = await call('create_tsg', { title: `Disk full ${era}`, content: 'Make room.', patterns: [`ENOSPC-${era}`] })
    expect(await call('update_tsg', { tsg_id, content: 'Delete old logs.' })).toEqual({ tsg_id })
    expect(await call('read_tsg', { tsg_id })).toMatchObject({ content: 'Delete old logs.' })
    expect((await call('list_tsgs')).tsgs).toContainEqual(expect.objectContaining({ tsg_id }))
    expect(await call('scan_for_tsg', { error_message: `write failed: ENOSPC-${era}` })).toMatchObject({ items: [{ tsg_id }] })
    expect(await call('mark_tsg_helpful', { tsg_id, resolved: true })).toMatchObject({ resolved: 1 })
  })

  it('check a described task, and name its first problem as the source document does', async () => {
    const call = await controller(era)
    const good = { description: 'Fix the login failure after the OAuth2 migration', priority: 'high', success_criteria: ['All existing tests pass'] }
    expect(await call('create_real_task', good)).toMatchObject({ success: true, status: 'INITIALIZED', priority: 'high', validation: { performed: true } })
    expect(await call('create_real_task', { ...good, priority: 'P9' })).toMatchObject({
      error: { code: 'validation_failed', success: false, error: expect.stringContaining('priority'), field: 'priority', value: 'P9' },
    })
  })

  it('were all called', () => {
    expect([...called[era]].sort()).toEqual(TOOLS.map(({ description }) => description.name).sort())
  })
})

describe.each(['legacy', 'modern'] as const)('resources and prompts, as clients of the %s era read them', (era) => {
  it('have what tools have, by address', async () => {
    const call = await controller(era)
    const client = await connect(era)
    const { task_id } = await call('create_task', { title: `Read me ${era}`, instructions: 'Read it.', acceptance: ['It is read'] })
    await call('update_task', { task_id, instructions: 'Read all of it.' })
    const { tsg_id } = await call('create_tsg', { title: `Lost ${era}`, content: 'Look again.', patterns: [`LOST-${era}`] })
    const { task_id: subtaskId } = await call('spawn_task', { task: 'Read.', runner: 'external' })

    expect((await client.listResourceTemplates()).resourceTemplates.map(({ name }) => name)).toEqual(['task', 'revision', 'guide', 'subagent', 'transcript'])
    const { resources } = await client.listResources()
    for (const uri of [`muster://tasks/${task_id}`, `muster://guides/${tsg_id}`, 'muster://subagents/Explore']) {
      expect(resources).toContainEqual(expect.objectContaining({ uri }))
    }
    for (const [uri, text] of [
      [`muster://tasks/${task_id}`, 'Read all of it.'],
      [`muster://tasks/${task_id}/revisions/2`, '"revision": 2'],
      [`muster://guides/${tsg_id}`, 'Look again.'],
      ['muster://subagents/Explore', 'Explore'],
      [`muster://subtasks/${subtaskId}/transcript`, '[]'],
    ] as const) {
      expect((await client.readResource({ uri })).contents).toEqual([expect.objectContaining({ uri, text: expect.stringContaining(text) })])
    }
    for (const uri of [
      `muster://tasks/${UNKNOWN}`,
      `muster://tasks/${task_id}/revisions/3`,
      'muster://guides/%',
      'muster://guides/%00',
      'muster://tasks/x',
      'file:///etc/passwd',
    ]) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 })
    }
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'muster://guides/{tsg_id}' },
      argument: { name: 'tsg_id', value: `lost-${era}`.slice(0, 6) },
    })
    expect(completion.values).toContain(tsg_id)
    await call('cancel_task', { task_id: subtaskId })
  })

  it('say how to write a brief, review a result and check in', async () => {
    const call = await controller(era)
    const client = await connect(era)
    const { task_id } = await call('create_task', { title: 'Judge me', instructions: 'Do it.', acceptance: ['It is done'] })
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['write_brief', 'review_result', 'check_in'])
    const textOf = async (name: string, values: Record<string, string>) => JSON.stringify((await client.getPrompt({ name, arguments: values })).messages)
    expect(await textOf('write_brief', { goal: 'A faster parser' })).toContain('A faster parser')
    for (const name of ['review_result', 'check_in']) expect(await textOf(name, { task_id })).toContain('It is done')
    for (const [name, values] of [
      ['none', {}],
      ['write_brief', {}],
      ['check_in', { task_id: 'x' }],
      ['check_in', { task_id: UNKNOWN }],
    ] as const) {
      await expect(client.getPrompt({ name, arguments: values })).rejects.toMatchObject({ code: -32602 })
    }
  })
})

describe('a tool', () => {
  it('names its own parameters in errors', async () => {
    const call = await controller('legacy')
    expect(await call('create_task', { title: 'x', instructions: 'y', acceptance: ['z'.repeat(3_000)] })).toMatchObject({
      error: { code: 'validation_failed', errors: [{ field: 'acceptance[0]', pointer: '/acceptance/0' }] },
    })
    expect(await call('spawn_task', { task: 'x', timeout: 86_400 })).toMatchObject({ error: { errors: [{ field: 'timeout' }] } })
    expect(await call('spawn_task', { task: 'x', task_id: UNKNOWN })).toMatchObject({ error: { code: 'validation_failed' } })
    expect(await call('spawn_subagent', { subagent_type: 'nobody-knows', prompt: 'x', description: 'x' })).toMatchObject({
      error: { code: 'subagent_not_found' },
    })
    expect(await call('claim_inbox')).toMatchObject({ error: { errors: [{ field: 'session_id' }] } })
    for (const name of ['get_task', 'cancel_task', 'request_full_payload']) {
      expect(await call(name, { task_id: UNKNOWN })).toMatchObject({ error: { code: 'not_found' } })
    }
  })

  it('shortens a long result, unless the whole is requested', async () => {
    const call = await controller('legacy')
    const result = `${'🌳'.repeat(2_000)}The end.`
    const { task_id } = await call('spawn_task', { task: 'Count.', runner: 'external' })
    await (await runNext(result)).end()
    const whole_at = `get_task(task_id="${task_id}", request_full_payload=true)`
    expect(await call('get_task', { task_id })).toMatchObject({
      subtask: { result: null, shortened: [{ field: 'result', beginning: '🌳'.repeat(2_000), bytes: Buffer.byteLength(result), whole_at }] },
      next_offset: null,
    })
    for (const whole of [{ request_full_payload: true }, { offset: 0 }]) {
      const { subtask } = await call('get_task', { task_id, ...whole })
      expect(subtask.result).toBe(result)
      expect(subtask).not.toHaveProperty('shortened')
    }

    const { task_id: brief } = await call('create_task', { title: 'Count', instructions: 'Count.', acceptance: [], outputs: ['guide'] })
    await call('assign_task', { task_id: brief, subagent_session_id: 'long-guide' })
    const outputs = { guide: 'x'.repeat(3_000) }
    await call('mark_task_complete', { task_id: brief, outputs })
    expect(await call('get_task', { task_id: brief })).toMatchObject({
      task: { completion_outputs: null, shortened: [{ field: 'completion_outputs', beginning: JSON.stringify(outputs).slice(0, 2_000), bytes: 3_012 }] },
    })
    expect(await call('get_task', { task_id: brief, request_full_payload: true })).toMatchObject({ task: { completion_outputs: outputs } })
  })

  it('reads a long brief in parts that are the whole together', async () => {
    const call = await controller('legacy')
    const instructions = `${'Plant a 🌳 every three metres. '.repeat(2_500)}The end.`
    const { task_id } = await call('create_task', { title: 'Plant', instructions, acceptance: [] })
    const parts: string[] = []
    for (let offset: number | null = 0; offset !== null; ) {
      const answer: { task: { instructions: string; acceptance_criteria: unknown[] }; next_offset: number | null } = await call('get_task', { task_id, offset })
      parts.push(answer.task.instructions)
      offset = answer.next_offset
    }
    expect(parts.length).toBeGreaterThan(2)
    expect(parts.join('')).toBe(instructions)
  })

  it('ends its wait when the credential ends', async () => {
    const call = await controller('legacy')
    const { task_id } = await call('spawn_task', { task: 'Wait.', runner: 'external' })
    const revoked = await api.key(['admin'])
    const client = new Client({ name: 'test', version: '1' })
    clients.push(client)
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${revoked}` } } }))
    const waiting = client.callTool({ name: 'wait_for', arguments: { ids: [task_id], seconds: 30 } })
    const { items } = (await api.call('GET', '/api-keys', { key })).body as { items: { id: string }[] }
    await api.call('DELETE', `/api-keys/${items[0]?.id}`, { key })
    expect(await waiting).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('unauthenticated') }] })
    await call('cancel_task', { task_id })
  })

  it.each(['legacy', 'modern'] as const)('ends its wait when a caller of the %s era hangs up', async (era) => {
    const call = await controller('legacy')
    const { task_id } = await call('spawn_task', { task: 'Wait.', runner: 'external' })
    const hungUp = new AbortController()
    const client = new Client({ name: 'test', version: '1' }, era === 'legacy' ? {} : { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    clients.push(client)
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
        fetch: (to, init) => fetch(to, { ...init, signal: AbortSignal.any([hungUp.signal, ...(init?.signal ? [init.signal] : [])]) }),
      }),
    )
    const waiting = client.callTool({ name: 'wait_for', arguments: { ids: [task_id], seconds: 30 } }).catch(() => {})
    await expect.poll(() => api.deps.endWaiters.size()).toBe(1)
    hungUp.abort()
    await waiting
    await expect.poll(() => api.deps.endWaiters.size(), { timeout: 5_000 }).toBe(0)
    await call('cancel_task', { task_id })
  })
})

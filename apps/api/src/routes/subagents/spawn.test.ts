import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallOptions, Reply } from '../../testing/api.ts'
import { definition, type SubagentsApi, startSubagentsApi, TRAVERSALS } from '../../testing/subagents.ts'

let door: SubagentsApi
beforeAll(async () => {
  door = await startSubagentsApi(await testDatabase())
  await door.put('reader', definition('Read it.'))
  await door.put('wired', definition('Use it.', 'tools: Read, mcp__github__create_issue, mcp__muster__check_in'))
  await door.put('shy', definition('Stay back.', 'background: true'))
  await door.write('broken', '---\ndescription: x\nmodel: two words\n---\n\nx')
})
afterAll(() => door.close())

const post = (path: string, body: object, options: CallOptions = {}): Promise<Reply> => door.post(path, body, options)
const spawn = (name: string, body: object = {}, options: CallOptions = {}) =>
  post(`/subagents/${name}/spawn`, { prompt: 'Count.', description: 'Count', wait_seconds: 0, ...body }, options)
const subtask = async (id: string) => (await door.get(`/subtasks/${id}`)).body
/** As an outside worker does; waits until there is something. */
const claim = async () => {
  const { status, body } = await post('/subtasks/claim', { worker_id: 'w', wait_seconds: 20 })
  expect(status).toBe(200)
  return body
}
const complete = (claimed: Awaited<ReturnType<typeof claim>>, body: object = {}) =>
  post(`/subtasks/${claimed.subtask.id}/complete`, { lease_token: claimed.lease.token, result: 'There are 3.', ...body })
const finishAll = async () => {
  for (let left = await post('/subtasks/claim', { worker_id: 'w' }); left.status === 200; left = await post('/subtasks/claim', { worker_id: 'w' }))
    await complete(left.body)
}

describe('POST /subagents/{name}/spawn', () => {
  it('200: waits for the end, and tells the summary and how long it took', async () => {
    const spawned = spawn('reader', { wait_seconds: 30 })
    const claimed = await claim()
    expect(claimed.brief.text).toMatch(/You are the sub-agent reader\. Role: A test\s+Instructions:\s+Read it\./)
    expect(claimed.brief.subagent).toMatchObject({ name: 'reader', version: 1, tools: ['Read'], disallowed_tools: [], max_turns: null })
    await complete(claimed, { summary: 'Three.' })
    const answer = await spawned
    expect(answer.status).toBe(200)
    expect(answer.headers.location).toBe(`/subtasks/${claimed.subtask.id}`)
    expect(answer.body).toEqual({
      success: true,
      subagent_type: 'reader',
      summary: 'Three.',
      duration_ms: expect.any(Number),
      background: false,
      error: null,
      subtask_id: claimed.subtask.id,
      runner: 'external',
      runner_reason: 'DEFAULT_RUNNER names it.',
      warnings: [],
    })
    expect(await subtask(claimed.subtask.id)).toMatchObject({
      subagent: { name: 'reader', version: 1 },
      background: false,
      model: 'sonnet',
      task: 'Count.',
      metadata: { description: 'Count' },
      duration_ms: answer.body.duration_ms,
    })
  })

  it('200: has the result for a summary where there is none, cut', async () => {
    const spawned = spawn('reader', { wait_seconds: 30 })
    await complete(await claim(), { result: 'x'.repeat(5_000) })
    expect((await spawned).body.summary).toHaveLength(4_000)
  })

  it('200: says why one did not complete', async () => {
    const spawned = spawn('reader', { wait_seconds: 30 })
    const claimed = await claim()
    await post(`/subtasks/${claimed.subtask.id}/fail`, { lease_token: claimed.lease.token, error: 'No files here.', retryable: false })
    expect(await spawned).toMatchObject({ status: 200, body: { success: false, error: 'No files here.', summary: null } })
    const cancelled = spawn('reader', { wait_seconds: 30 })
    const held = await claim()
    await door.api.call('DELETE', `/subtasks/${held.subtask.id}`, { key: door.key })
    await post(`/subtasks/${held.subtask.id}/fail`, { lease_token: held.lease.token, error: 'Stopped.' })
    expect(await cancelled).toMatchObject({ status: 200, body: { success: false, error: 'It was cancelled.', duration_ms: expect.any(Number) } })
  })

  it('202: answers what there is when the time is up', async () => {
    const answer = await spawn('reader')
    expect(answer.status).toBe(202)
    expect(answer.headers.location).toBe(`/subtasks/${answer.body.subtask_id}`)
    expect(answer.body).toEqual({
      success: true,
      subagent_type: 'reader',
      summary: null,
      duration_ms: 0,
      background: false,
      error: null,
      subtask_id: expect.any(String),
      runner: 'external',
      runner_reason: 'DEFAULT_RUNNER names it.',
      warnings: [],
    })
    await finishAll()
  })

  it('202: waits for nothing in the background, also where the definition asks for that', async () => {
    for (const [name, body] of [
      ['reader', { run_in_background: true }],
      ['shy', {}],
    ] as const)
      expect(await spawn(name, { wait_seconds: undefined, ...body })).toMatchObject({ status: 202, body: { background: true, summary: null } })
    await finishAll()
  })

  it('answers a repetition with the same spawn, as it is by then', async () => {
    const headers = { 'idempotency-key': 'one spawn' }
    const first = await spawn('reader', {}, { headers })
    const again = await spawn('reader', {}, { headers })
    expect(again).toMatchObject({ status: 202, body: first.body })
    expect(again.headers['idempotent-replayed']).toBe('true')
    await complete(await claim())
    const last = await spawn('reader', {}, { headers })
    expect(last).toMatchObject({
      status: 200,
      body: { subtask_id: first.body.subtask_id, summary: 'There are 3.', runner: 'external', runner_reason: 'DEFAULT_RUNNER names it.' },
    })
    expect((await spawn('reader', { prompt: 'Other.' }, { headers })).body).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
  })

  it('202: goes on from an ended one', async () => {
    const first = (await spawn('reader', { parent_session_id: 'boss' })).body.subtask_id
    await complete(await claim(), { result: 'There are three files.' })
    const second = await spawn('reader', { prompt: 'And folders?', resume: first })
    const claimed = await claim()
    expect(claimed.subtask).toMatchObject({ id: second.body.subtask_id, resume_of: first, parent_session_id: 'boss' })
    expect(claimed.brief.text).toContain('There are three files.')
    await complete(claimed)
  })

  it('400, 404, 409: refuses to go on from what is of another, not there or under way', async () => {
    const plain = (await post('/subtasks', { task: 'x' })).body.id
    expect((await spawn('reader', { resume: plain })).body).toMatchObject({ status: 400, code: 'validation_failed', errors: [{ pointer: '/resume' }] })
    expect((await spawn('reader', { resume: '01990000-0000-7000-8000-000000000000' })).body).toMatchObject({ status: 404, code: 'not_found' })
    const waiting = (await spawn('reader')).body.subtask_id
    expect((await spawn('reader', { resume: waiting })).body).toMatchObject({ status: 409, code: 'invalid_transition', status_now: 'pending' })
    await finishAll()
  })

  it.each([
    [{ prompt: ' ' }, '/prompt'],
    [{ description: undefined }, '/description'],
    [{ wait_seconds: 61 }, '/wait_seconds'],
    [{ wait_seconds: -1 }, '/wait_seconds'],
    [{ resume: 'it' }, '/resume'],
    [{ run_in_background: 'yes' }, '/run_in_background'],
    [{ model: 'two words' }, '/model'],
    [{ timeout_seconds: 100_000 }, '/timeout_seconds'],
    [{ tools: ['Bash'] }, '/tools'],
  ])('400: refuses %j', async (body, pointer) => {
    expect((await spawn('reader', body)).body).toMatchObject({ status: 400, code: 'validation_failed', errors: [expect.objectContaining({ pointer })] })
  })

  it('403 SpawnBlocked: from within a subtask, whatever it asks for and whatever its prompt says', async () => {
    await spawn('reader', { prompt: 'You may spawn sub-agents.' })
    const claimed = await claim()
    for (const name of ['reader', 'nobody', 'wired', '..%2Fx'])
      expect((await spawn(name, { run_in_background: true }, { key: claimed.credential })).body).toMatchObject({
        status: 403,
        code: 'spawn_blocked',
        title: 'SpawnBlocked',
        id: claimed.session_id,
      })
    await complete(claimed)
  })

  it('404 SubagentNotFound: under names that nobody has, and those that lead elsewhere', async () => {
    for (const name of ['nobody', ...TRAVERSALS])
      expect((await spawn(name)).body).toMatchObject({ status: 404, code: 'subagent_not_found', title: 'SubagentNotFound' })
  })

  it('422 BackgroundMcpBlocked: for a definition with MCP tools in the background, and not in the foreground', async () => {
    expect((await spawn('wired', { run_in_background: true })).body).toMatchObject({
      status: 422,
      code: 'background_mcp_blocked',
      title: 'BackgroundMcpBlocked',
      subagent_type: 'wired',
      tool: 'mcp__github__create_issue',
      tools: ['mcp__github__create_issue'],
    })
    expect((await spawn('wired')).status).toBe(202)
    await finishAll()
  })

  it('422 SubagentInvalid: for a file that cannot be used', async () => {
    expect((await spawn('broken')).body).toMatchObject({ status: 422, code: 'subagent_invalid', title: 'SubagentInvalid', errors: [{ line: 3 }] })
  })

  it('422: for a runner that is not there', async () => {
    expect((await spawn('reader', { runner: 'nobody' })).body).toMatchObject({ status: 422, code: 'runner_unavailable' })
  })

  it('422: where no runner follows definitions, says what to set; an unknown sub-agent is still not found', async () => {
    const COMMAND_RUNNERS = JSON.stringify({ scout: { argv: [process.execPath] } })
    const bare = await startSubagentsApi(await testDatabase(), { COMMAND_RUNNERS, DEFAULT_RUNNER: 'scout' })
    const ask = (name: string, more: object = {}) => bare.post(`/subagents/${name}/spawn`, { prompt: 'x', description: 'x', wait_seconds: 0, ...more })
    const { body } = await ask('Explore')
    expect(body).toMatchObject({ status: 422, code: 'runner_unavailable', missing: [expect.stringContaining('Set ANTHROPIC_API_KEY')] })
    expect(body.detail).toMatch(/No runner on this server follows the definition of Explore.*Set ANTHROPIC_API_KEY.*follows_definitions: true/)
    expect((await ask('nobody')).body).toMatchObject({ status: 404, code: 'subagent_not_found' })
    expect((await bare.post('/subtasks', { task: 'x', subagent: 'Explore' })).body).toMatchObject({ status: 422, code: 'runner_unavailable' })
    expect((await bare.post('/subtasks', { task: 'x' })).body).toMatchObject({ runner: 'scout', runner_reason: 'DEFAULT_RUNNER names it.' })
    // The caller may know of an outside worker that acts on definitions.
    expect(await ask('Explore', { runner: 'external' })).toMatchObject({ status: 202, body: { runner: 'external', runner_reason: 'The request names it.' } })
    await bare.close()
  })

  it('429, 503: keeps to the limits of its agent, and starts nothing where subtasks are off', async () => {
    const limited = await startSubagentsApi(await testDatabase(), { SUBTASK_MAX_PENDING: '1', SUBTASK_MAX_CONCURRENT: '1' })
    const ask = () => limited.post('/subagents/Explore/spawn', { prompt: 'x', description: 'x', wait_seconds: 0 })
    expect((await ask()).status).toBe(202)
    expect((await ask()).body).toMatchObject({ status: 429, code: 'pending_limit_reached' })
    await limited.close()
    const off = await startSubagentsApi(await testDatabase(), { SUBTASK_ENABLED: 'false' })
    expect((await off.post('/subagents/Explore/spawn', { prompt: 'x', description: 'x' })).body).toMatchObject({ status: 503, code: 'subtasks_disabled' })
    await off.close()
  })
})

describe('tools that a definition lists and its runner lacks', () => {
  it('202: are warnings of whatever starts a run, also when it is repeated, and of the sub-agent itself', async () => {
    const api = await startSubagentsApi(await testDatabase(), { ANTHROPIC_API_KEY: 'sk-ant-of-a-test', DEFAULT_RUNNER: 'ai', BACKGROUND_MCP: 'strip' })
    await api.put('builder', definition('x', 'tools: Read, Edit, Bash, TodoWrite, mcp__github__x'))
    const warnings = [
      'The definition lists Bash, and the runner ai does not have it. ENABLE_BASH_TOOL=true switches it on.',
      'The definition lists TodoWrite, and the runner ai does not have it.',
    ]
    const background = [...warnings, 'The definition lists mcp__github__x: no MCP server is reached in the background. Spawn it with run_in_background: false.']
    const ask = (body: object, options: CallOptions = {}) =>
      api.post('/subagents/builder/spawn', { prompt: 'x', description: 'x', wait_seconds: 0, ...body }, options)
    const repeated = { headers: { 'idempotency-key': 'twice' } }
    for (let round = 0; round < 2; round += 1)
      expect(await ask({ run_in_background: true }, repeated)).toMatchObject({ status: 202, body: { runner: 'ai', warnings: background } })
    expect((await ask({})).body.warnings).toEqual([...warnings, 'The definition lists mcp__github__x: MCP_SERVERS of this server has no github.'])
    expect((await ask({ runner: 'external' })).body.warnings).toEqual([])
    expect((await api.post('/subtasks', { task: 'x', subagent: 'builder' })).body.warnings).toEqual(background)
    const { body: task } = await api.post('/tasks', { title: 'Count', instructions: 'Count the files.' })
    expect((await api.post(`/tasks/${task.id}/dispatch`, { subagent: 'builder' })).body.warnings).toEqual(background)
    expect((await api.get('/subagents/builder')).body).toMatchObject({ runner: 'ai', warnings: expect.arrayContaining(warnings) })
    await api.close()
  })
})

describe('where MCP tools are stripped in the background', () => {
  it('202: starts without them, by the setting of the server or of the project', async () => {
    const stripping = await startSubagentsApi(await testDatabase(), { BACKGROUND_MCP: 'strip' })
    await stripping.put('wired', definition('x', 'tools: Read, mcp__github__create_issue, mcp__muster__check_in'))
    const ask = () => stripping.post('/subagents/wired/spawn', { prompt: 'x', description: 'x', run_in_background: true })
    expect((await ask()).status).toBe(202)
    const { body } = await stripping.post('/subtasks/claim', { worker_id: 'w', wait_seconds: 20 })
    expect(body.brief.subagent.tools).toEqual(['Read', 'mcp__muster__check_in'])
    const admin = await stripping.api.key(['admin'])
    const path = `/projects/${stripping.api.ctx.actor.projectId}`
    expect((await stripping.api.call('PATCH', path, { key: admin, body: { settings: { background_mcp: 'reject' } } })).status).toBe(200)
    expect((await ask()).body.code).toBe('background_mcp_blocked')
    expect((await stripping.api.call('PATCH', path, { key: admin, body: { settings: { background_mcp: 'maybe' } } })).body).toMatchObject({ status: 400 })
    await stripping.close()
  })
})

describe('POST /subagents/{name}/tool-check', () => {
  const check = (name: string, body: object, options: CallOptions = {}) => post(`/subagents/${name}/tool-check`, body, options)
  const ALWAYS = ['Read', 'Grep', 'Glob']

  it.each([
    ['reader', 'Read', false, true],
    ['reader', 'Write', false, false],
    ['reader', 'Grep', false, false],
    ['reader', 'Grep', true, true],
    ['reader', 'Task', false, false],
    ['reader', 'mcp__muster__spawn_subagent', true, false],
    ['wired', 'mcp__github__create_issue', false, true],
    ['wired', 'mcp__github__create_issue', true, false],
    ['wired', 'mcp__github__delete', false, false],
    ['wired', 'mcp__muster__check_in', true, true],
    ['shy', 'Grep', false, true],
    ['general-purpose', 'Bash(rm -rf /)', false, true],
    ['Explore', 'Bash', true, false],
    ['reader', 'no tool at all', false, false],
  ])('200: %s with %s, background %s: %s', async (name, tool_name, background, allowed) => {
    const { status, body } = await check(name, { tool_name, background })
    expect({ status, body }).toEqual({ status: 200, body: { allowed, reason: expect.stringMatching(/\w.+\.$/), always_allowed: ALWAYS } })
  })

  it('200: judges what a command runs and where a path leads, and says why', async () => {
    await door.put('guarded', definition('x', 'tools: Bash(git:*), Write(out/**)\ndisallowedTools: Bash(git push:*)'))
    const answer = async (tool_name: string) => (await check('guarded', { tool_name })).body
    for (const use of ['Bash(git  push)', 'Bash(git -C . push)', 'Bash(git $x)', 'Bash(git log; rm x)', 'Write(out/../x)', 'Write(/out/x)']) {
      expect(await answer(use)).toMatchObject({ allowed: false })
    }
    for (const use of ['Bash(git  status)', 'Write(./out/a/../x)']) expect(await answer(use)).toMatchObject({ allowed: true })
    expect((await answer('Bash(git -C . push)')).reason).toBe(
      'guarded is denied "Bash(git -C . push)" by its definition: a part of it is or could be git push:*.',
    )
  })

  it('200: leaves out of what is always allowed what the definition denies', async () => {
    await door.put('blind', definition('x', 'disallowedTools: Read'))
    expect((await check('blind', { tool_name: 'Read', background: true })).body).toMatchObject({ allowed: false, always_allowed: ['Grep', 'Glob'] })
  })

  it('400: refuses a question without a tool', async () => {
    expect((await check('reader', { background: true })).body).toMatchObject({ status: 400, errors: [expect.objectContaining({ pointer: '/tool_name' })] })
  })

  it('404, 422: answers nothing for what is not there or cannot be used', async () => {
    for (const name of ['nobody', ...TRAVERSALS])
      expect((await check(name, { tool_name: 'Read' })).body).toMatchObject({ status: 404, code: 'subagent_not_found' })
    expect((await check('broken', { tool_name: 'Read' })).body).toMatchObject({ status: 422, code: 'subagent_invalid' })
  })
})

describe('the field subagent', () => {
  const REFUSALS = [
    ['nobody', { status: 404, code: 'subagent_not_found' }],
    ['../x', { status: 404, code: 'subagent_not_found' }],
    ['broken', { status: 422, code: 'subagent_invalid' }],
    ['wired', { status: 422, code: 'background_mcp_blocked' }],
  ] as const
  const task = async () => (await post('/tasks', { title: 'Count', instructions: 'Count the files.' })).body.id

  it('makes a subtask a run of it, in the background', async () => {
    const { status, body } = await post('/subtasks', { task: 'x', subagent: 'reader', model: 'opus' })
    expect({ status, body }).toMatchObject({ status: 202, body: { subagent: { name: 'reader', version: 1 }, background: true, model: 'opus' } })
    expect((await subtask(body.id)).subagent).toEqual({ name: 'reader', version: 1 })
    for (const [subagent, refusal] of REFUSALS) expect((await post('/subtasks', { task: 'x', subagent })).body).toMatchObject(refusal)
    await finishAll()
  })

  it('has a task run by it', async () => {
    const { status, body } = await post(`/tasks/${await task()}/dispatch`, { subagent: 'reader' })
    expect({ status, body }).toMatchObject({ status: 202, body: { subagent: { name: 'reader', version: 1 } } })
    const other = await task()
    for (const [subagent, refusal] of REFUSALS) expect((await post(`/tasks/${other}/dispatch`, { subagent })).body).toMatchObject(refusal)
    expect((await post(`/tasks/${other}/dispatch`, {})).status).toBe(202)
    await finishAll()
  })

  it('stands in a schedule, whose runs are of the version that counts then', async () => {
    const made = await post('/schedules', { task: 'x', every: '1 hour', subagent: 'reader' })
    expect(made).toMatchObject({ status: 201, body: { subagent: 'reader' } })
    const path = `/schedules/${made.body.id}`
    expect((await post(`${path}/trigger`, {})).body.subagent).toEqual({ name: 'reader', version: 1 })
    await door.put('reader', definition('Read it twice.'))
    expect((await post(`${path}/trigger`, {})).body.subagent).toEqual({ name: 'reader', version: 2 })
    const patch = (subagent: string | null) => door.api.call('PATCH', path, { key: door.key, body: { subagent } })
    for (const [subagent, refusal] of REFUSALS) {
      expect((await post('/schedules', { task: 'x', every: '1 hour', subagent })).body).toMatchObject(refusal)
      expect((await post('/schedules/preview', { every: '1 hour', subagent })).body).toMatchObject(refusal)
      expect((await patch(subagent)).body).toMatchObject(refusal)
    }
    expect((await patch('Explore')).body.subagent).toBe('Explore')
    expect((await patch(null)).body.subagent).toBeNull()
    await finishAll()
  })
})

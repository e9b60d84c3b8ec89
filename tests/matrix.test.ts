import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { SCOPES } from '@muster/domain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer, CallOptions, Client } from './harness/client.ts'
import { EventStream } from './harness/event-stream.ts'
import { failsOpen, OPERATIONS, type Operation, resolve } from './harness/openapi.ts'
import { type System, startSystem } from './harness/system.ts'
import type { ClaimedSubtask, Problem } from './harness/wire.ts'

/** Stands in everything that the other project has; nobody else may ever read it. */
const MARK = 'CLASSIFIED'
const OTHER_SESSION = 'session-of-the-other-project'
const OTHER_TSG = 'guide-of-the-other-project'
const OTHER_SUBAGENT = 'agent-of-the-other-project'
const UNKNOWN_ID = '01990000-0000-7000-8000-000000000000'
const SESSION_MAX = 128

let system: System
/** Everything in the default project. */
let mine: Client
let expired: string
let revoked: string
/** What the other project has, by the first word of a path and the name of a parameter. */
let theirs: Record<string, Record<string, string>>

beforeAll(async () => {
  // Several, because one counts wrong keys, and after a hundred within ten seconds looks at none any more.
  system = await startSystem({ apis: 6, workers: 0, env: { AUTH: 'keys', SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}` } })
  const { key } = await system.mintKey()
  mine = system.client.as(key)
  const short = await system.mintKey()
  await system.admin`update api_keys set expires_at = now() - interval '1 second' where id = ${short.id}`
  expired = short.key
  const made = await system.mintKey()
  expect((await mine.call('DELETE', `/api-keys/${made.id}`)).status).toBe(204)
  revoked = made.key
  theirs = await fillOtherProject()
})
afterAll(() => system.close())

async function fillOtherProject(): Promise<typeof theirs> {
  const ctx = await system.projectCtx(MARK)
  const { id: keyId, key } = await system.mintKey(['admin'], { ctx })
  const other = system.client.as(key)
  const spawn = (nth: number) => other.spawn({ task: `${MARK} ${nth}`, runner: 'external', parent_session_id: OTHER_SESSION, agent_id: MARK })
  for (let nth = 0; nth < 3; nth += 1) await spawn(nth)
  const ended = (await other.claim()) as ClaimedSubtask
  await other.complete(ended, `${MARK} result`)
  const { claim_id } = await other.ok<{ claim_id: string }>('POST', `/sessions/${OTHER_SESSION}/inbox/claim`, { body: { ack: 'manual' } })
  const running = (await other.claim()) as ClaimedSubtask
  await other.steer(running.subtask.id, `${MARK} update`)
  // Of a failure that the example of a scan tells of.
  await other.ok('POST', '/tsgs', { body: { tsg_id: OTHER_TSG, title: MARK, content: MARK, patterns: ['EADDRINUSE'] } })
  await other.ok('POST', '/tsgs/scan', { body: { error_message: 'EADDRINUSE', session_id: OTHER_SESSION } })
  await other.ok('PUT', `/subagents/${OTHER_SUBAGENT}`, {
    rawBody: `---\ndescription: ${MARK}\n---\n\n${MARK} instructions`,
    headers: { 'content-type': 'text/markdown' },
  })
  const schedule = await other.ok<{ id: string }>('POST', '/schedules', { body: { task: `${MARK} scheduled`, every: '1 hour', runner: 'external' } })
  const task = await other.ok<{ id: string }>('POST', '/tasks', {
    body: { title: `${MARK} title`, instructions: `${MARK} instructions`, parent_session_id: OTHER_SESSION },
  })
  await other.ok('POST', `/tasks/${task.id}/assign`, { body: { subagent_session_id: OTHER_SESSION } })
  const note = await other.ok<{ id: string }>('POST', `/tasks/${task.id}/updates`, { body: { content: `${MARK} note` } })
  await other.ok('POST', `/sessions/${OTHER_SESSION}/messages`, { body: { role: 'assistant', content: `${MARK} message`, task_id: task.id } })
  const question = await other.ok<{ id: string }>('POST', `/tasks/${task.id}/questions`, { body: { prompt: `${MARK} question` } })
  // Where a project has a judge, what is to be judged waits for one.
  await other.ok('PATCH', `/projects/${ctx.actor.projectId}`, { body: { settings: { evaluation: { judge: { model: MARK } } } } })
  const evaluation = await other.ok<{ id: string }>('POST', '/evaluations', {
    body: { output: `${MARK} output`, acceptance_criteria: [`${MARK} criterion`], task_id: task.id, session_id: OTHER_SESSION },
  })
  await other.ok('POST', `/tasks/${task.id}/quality-flag`, { body: { quality: 'good', tags: [MARK] } })
  await other.ok('POST', `/subtasks/${ended.subtask.id}/quality-flag`, { body: { quality: 'excellent', tags: [MARK] } })
  const fact = await other.ok<{ id: string }>('POST', '/memory/facts', { body: { content: `${MARK} fact` } })
  // Of events that do not come: those above may be relayed later, and what they are delivered to would change.
  const webhook = await other.ok<{ id: string }>('POST', '/webhooks', { body: { url: 'https://example.com/', events: ['schedule.paused'], description: MARK } })
  const delivery = await other.ok<{ id: string }>('POST', `/webhooks/${webhook.id}/test`)
  return {
    evaluations: { id: evaluation.id },
    questions: { id: question.id },
    subtasks: { id: running.subtask.id },
    sessions: { id: OTHER_SESSION, claim_id },
    facts: { id: fact.id },
    episodes: { id: ended.subtask.id },
    tsgs: { tsg_id: OTHER_TSG },
    subagents: { name: OTHER_SUBAGENT },
    schedules: { id: schedule.id },
    tasks: { id: task.id, tsg_id: 'no-guide' },
    updates: { update_id: note.id },
    webhooks: { id: webhook.id, delivery_id: delivery.id },
    deliveries: { id: delivery.id },
    projects: { id: ctx.actor.projectId },
    'api-keys': { id: keyId },
    // They belong to no project, and this one sees none.
    workers: { id: UNKNOWN_ID.replace('0000-7000', '0001-7000') },
  }
}

/** The other project as it is stored, to see that nothing in it was changed. */
async function otherProject(): Promise<unknown> {
  const id = theirs.projects?.id ?? ''
  const { admin } = system
  return await Promise.all([
    admin`select to_jsonb(s) from subtasks s where project_id = ${id} order by s.id`,
    admin`select to_jsonb(u) from updates u where project_id = ${id} order by u.id`,
    admin`select to_jsonb(i) from inbox i where project_id = ${id} order by i.id`,
    admin`select to_jsonb(r) from receivers r where project_id = ${id} order by r.id`,
    admin`select to_jsonb(d) from deliveries d where project_id = ${id} order by d.id`,
    admin`select to_jsonb(f) from facts f where project_id = ${id} order by f.id`,
    admin`select to_jsonb(f) from forgotten_episodes f where project_id = ${id} order by f.subtask_id`,
    admin`select to_jsonb(t) from tsgs t where project_id = ${id} order by t.tsg_id`,
    admin`select to_jsonb(u) from tsg_uses u where project_id = ${id} order by u.id`,
    admin`select to_jsonb(n) from tsg_notices n where project_id = ${id} order by n.session_id, n.tsg_id`,
    admin`select to_jsonb(a) from subagents a where project_id = ${id} order by a.name`,
    admin`select to_jsonb(v) from subagent_versions v where project_id = ${id} order by v.name, v.version`,
    admin`select to_jsonb(s) from schedules s where project_id = ${id} order by s.id`,
    admin`select to_jsonb(t) from tasks t where project_id = ${id} order by t.id`,
    admin`select to_jsonb(a) from assignments a where project_id = ${id} order by a.task_id, a.session_id`,
    admin`select to_jsonb(m) from session_messages m where project_id = ${id} order by m.id`,
    admin`select to_jsonb(c) from injection_claims c where project_id = ${id} order by c.id`,
    admin`select to_jsonb(e) from evaluations e where project_id = ${id} order by e.id`,
    admin`select to_jsonb(j) from judgements j where project_id = ${id} order by j.evaluation_id`,
    admin`select to_jsonb(c) from check_runs c where project_id = ${id} order by c.id`,
    admin`select to_jsonb(f) from quality_flags f where project_id = ${id} order by f.subject_kind, f.subject_id`,
    admin`select to_jsonb(q) from questions q where project_id = ${id} order by q.id`,
    admin`select to_jsonb(k) from api_keys k where project_id = ${id} order by k.id`,
    admin`select to_jsonb(p) from projects p where id = ${id}`,
  ])
}

const pathParameters = (operation: Operation) => operation.parameters.filter((parameter) => parameter.in === 'path')
const isStream = (operation: Operation) => operation.answers.get(200)?.has('text/event-stream') === true
const takesUuid = (parameter: Operation['parameters'][number]) => resolve(parameter.schema).format === 'uuid'
/**
 * A session belongs to whoever names it, and what is put is there from then on: neither is ever unknown. Nor does it matter whether a fact was there
 * that is not to be there any more.
 */
const isNamedByCaller = (operation: Operation) =>
  operation.operationId === 'deleteFact' ||
  (pathParameters(operation).length > 0 &&
    !pathParameters(operation).some(takesUuid) &&
    (operation.path.startsWith('/sessions/') || operation.method === 'PUT'))
/** Whatever is no name of a sub-agent is one that there is none of, so that nothing is to be learnt from how it is refused. */
const isOfSubagent = (operation: Operation) => operation.path.startsWith('/subagents/{')
const missingCode = (operation: Operation) => (isOfSubagent(operation) ? 'subagent_not_found' : 'not_found')
const takesBody = (operation: Operation) => operation.body !== undefined || operation.markdown !== undefined

function pathOf(operation: Operation, value: (parameter: Operation['parameters'][number]) => string): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((each) => each.name === name && each.in === 'path')
    if (parameter === undefined) throw new Error(`${operation.operationId} does not describe {${name}}.`)
    return encodeURIComponent(value(parameter))
  })
  // What a query has to have, it has: a word that all of theirs have.
  const needed = operation.parameters.filter((parameter) => parameter.in === 'query' && parameter.required === true)
  return needed.reduce((rest, { name }) => withParameter(rest, `${name}=${MARK}`), path)
}

function withParameter(path: string, parameter: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${parameter}`
}

const unknownPath = (operation: Operation) => pathOf(operation, (parameter) => (takesUuid(parameter) ? UNKNOWN_ID : 'nobody'))

function theirPath(operation: Operation): string {
  const [first = '', second = ''] = operation.path.split('/').filter((word) => word !== '')
  const noun = first === 'memory' ? second : first
  return pathOf(operation, ({ name }) => {
    const value = theirs[noun]?.[name]
    if (value === undefined) throw new Error(`${operation.operationId} has no row: say in \`theirs\` what {${name}} of /${noun} the other project has.`)
    return value
  })
}

/** The body that the reference shows, in no mood to wait for work. */
function example(operation: Operation): CallOptions {
  if (operation.files !== undefined) {
    const parts = operation.files.map((text, place) => `--part\r\nContent-Disposition: form-data; name="file"; filename="${place}.md"\r\n\r\n${text}\r\n`)
    return { rawBody: `${parts.join('')}--part--\r\n`, headers: { 'content-type': 'multipart/form-data; boundary=part' } }
  }
  if (operation.body === undefined) return operation.markdown === undefined ? {} : { rawBody: operation.markdown, headers: { 'content-type': 'text/markdown' } }
  const body = operation.example as Record<string, unknown>
  return { body: 'wait_seconds' in body ? { ...body, wait_seconds: 0 } : body }
}

async function expectProblem(call: Promise<Answer>, status: number, code: string): Promise<Problem> {
  const { status: answered, headers, body } = await call
  expect([answered, (body as Problem).code]).toEqual([status, code])
  expect(headers.get('content-type')).toContain('application/problem+json')
  expect(JSON.stringify(body)).not.toContain(MARK)
  return body as Problem
}

/** Sends the headers of a request with a body of this length, and waits for what is said to them. */
function announce(url: string, method: string, key: string, length: number): Promise<{ status: number | undefined; body: Problem }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': length }
    const sent = request(url, { method, headers }, (response) => {
      response.setEncoding('utf8')
      let text = ''
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => {
        sent.destroy()
        resolve({ status: response.statusCode, body: JSON.parse(text) as Problem })
      })
    })
    sent.on('error', reject)
    sent.flushHeaders()
  })
}

const MALFORMED_KEYS = ['Bearer', 'Bearer nonsense', 'Basic bXN0OmtleQ==', 'Bearer mst_key_', 'Bearer mst_sub_AAAA', `Bearer mst_key_${'x'.repeat(2_000)}`]

/** A cell of the matrix; what an operation does not have cannot be wrong. */
function itWhere(applies: boolean, name: string, test: () => Promise<void>): void {
  if (applies) it(name, test)
}

describe('the reference', () => {
  it('has an example for every body, so that every row can be filled', () => {
    expect(OPERATIONS.length).toBeGreaterThan(20)
    expect(OPERATIONS.filter((operation) => operation.body !== undefined && operation.example === undefined)).toEqual([])
  })
})

describe.each(OPERATIONS.filter((operation) => operation.isPublic).map((operation) => ({ operation, name: `${operation.method} ${operation.path}` })))(
  '$name',
  ({ operation }) => {
    it('is open to everybody, and tells nothing of any project', async () => {
      const { status, body } = await system.client.call(operation.method, unknownPath(operation), example(operation))
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toContain(MARK)
    })
  },
)

describe.each(
  OPERATIONS.filter((operation) => !operation.isPublic).map((operation, place) => ({ operation, place, name: `${operation.method} ${operation.path}` })),
)('$name', ({ operation, place }) => {
  const { method } = operation
  const call = (options: CallOptions, path = unknownPath(operation), client = mine) => client.call(method, path, { ...example(operation), ...options })
  const apiOf = (turn: number) => system.apis[(2 * place + turn) % system.apis.length]?.client as Client
  const withHeader = (authorization: string) => call({ key: null, headers: { authorization } }, undefined, apiOf(0))

  it('401 without a key', async () => {
    const { headers } = await call({ key: null })
    expect(headers.get('www-authenticate')).toContain('Bearer')
    await expectProblem(call({ key: null }), 401, 'unauthenticated')
  })

  it('401 with a malformed or unknown key', async () => {
    await expectProblem(withHeader(MALFORMED_KEYS[place % MALFORMED_KEYS.length] as string), 401, 'unauthenticated')
    await expectProblem(withHeader(`Bearer mst_key_${'A'.repeat(43)}`), 401, 'unauthenticated')
  })

  it('401 with an expired or revoked key', async () => {
    for (const key of [expired, revoked]) await expectProblem(call({ key }, undefined, apiOf(1)), 401, 'unauthenticated')
  })

  itWhere(operation.scope !== undefined, '403 with every scope but its own, whatever else is wrong', async () => {
    const { key } = await system.mintKey(SCOPES.filter((scope) => scope !== operation.scope && scope !== 'admin'))
    const problem = await expectProblem(call({ key, ...(operation.body === undefined ? {} : { rawBody: '{' }) }), 403, 'forbidden')
    expect(problem).toMatchObject({ required_scope: operation.scope })
    expect(problem.detail).toContain(operation.scope)
  })

  it('shows and changes nothing of another project', async () => {
    const before = await otherProject()
    const path = theirPath(operation)
    if (isStream(operation) && pathParameters(operation).length === 0) {
      const { id } = await mine.spawn({ task: 'Mine.', runner: 'external' })
      const stream = await EventStream.open(mine, `${path}?after=0`)
      await stream.event((event) => event.subject.id === id)
      stream.close()
      expect(JSON.stringify(stream.events)).not.toContain(MARK)
      await mine.cancel(id)
    } else if (pathParameters(operation).length === 0 || isNamedByCaller(operation)) {
      // Not told apart from a project that has nothing of the kind: an answer like any other, with nothing of theirs in it.
      const { status, body } = await call({}, path)
      expect(status).toBeLessThan(300)
      expect(JSON.stringify(body ?? null)).not.toContain(MARK)
      if (method === 'PUT') await mine.ok('DELETE', path)
    } else {
      const problem = await expectProblem(call({}, path), 404, missingCode(operation))
      const { detail } = await expectProblem(call({}), 404, missingCode(operation))
      // A name that was asked for is said again.
      expect(problem.detail.replace(OTHER_SUBAGENT, 'nobody')).toBe(detail)
    }
    expect(await otherProject()).toEqual(before)
  })

  itWhere(pathParameters(operation).length > 0 && !isNamedByCaller(operation), '404 for an unknown id', async () => {
    await expectProblem(call({}), 404, missingCode(operation))
  })

  itWhere(isOfSubagent(operation), '404 for what is no name, or 422 where it is put', async () => {
    const [status, code] = method === 'PUT' ? [422, 'subagent_invalid'] : [404, 'subagent_not_found']
    for (const name of ['x'.repeat(SESSION_MAX), '../secret', 'Nobody', '.'.repeat(3)])
      await expectProblem(
        call(
          {},
          pathOf(operation, () => name),
        ),
        status as number,
        code as string,
      )
  })

  itWhere(pathParameters(operation).length > 0 && !isOfSubagent(operation), '400 for a malformed id', async () => {
    const malformed = (parameter: Operation['parameters'][number]) => (takesUuid(parameter) ? 'not-an-id' : 'x'.repeat(SESSION_MAX + 1))
    const problem = await expectProblem(call({}, pathOf(operation, malformed)), 400, 'validation_failed')
    expect(problem.errors?.map(({ pointer }) => pointer).sort()).toEqual(
      pathParameters(operation)
        .map(({ name }) => `{${name}}`)
        .sort(),
    )
  })

  itWhere(!failsOpen(operation), '400 for a parameter that it does not know', async () => {
    const problem = await expectProblem(call({}, withParameter(unknownPath(operation), 'no_such_parameter=1')), 400, 'validation_failed')
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(['?no_such_parameter'])
  })

  itWhere(operation.body !== undefined && !failsOpen(operation), '400 for a body that cannot be read, or is none of its own', async () => {
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`
    for (const rawBody of ['{', '[]', '"text"', deep, '{"__proto__": {}}']) await expectProblem(call({ rawBody }), 400, 'validation_failed')
    const nothing = operation.isBodyRequired ? ['', 'null'] : []
    for (const rawBody of nothing) await expectProblem(call({ rawBody }), 400, 'validation_failed')
  })

  itWhere(operation.body !== undefined && !failsOpen(operation), '400 for a field that it does not know', async () => {
    const problem = await expectProblem(call({ body: { ...(operation.example as object), no_such_field: MARK.toLowerCase() } }), 400, 'validation_failed')
    expect(problem.errors).toMatchObject([{ pointer: '/no_such_field', field: 'no_such_field', reason: expect.stringContaining('not a field') }])
  })

  itWhere(takesBody(operation) && !failsOpen(operation), '413 for a body that is too large', async () => {
    // Announced, and refused before it has to be sent: a client that is still sending may never see the answer.
    const { key } = await system.mintKey()
    const { status, body } = await announce(`${system.api.address}${unknownPath(operation)}`, method, key, 64 * 1_048_576)
    expect([status, body.code]).toEqual([413, 'payload_too_large'])
  })

  itWhere(takesBody(operation) && !failsOpen(operation), '415 for another content type', async () => {
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded'])
      await expectProblem(call({ headers: { 'content-type': type } }), 415, 'unsupported_media_type')
  })

  itWhere(failsOpen(operation), 'an empty 200 for whatever is wrong with a call that may be made, and nothing changed', async () => {
    const before = await otherProject()
    const wrong = [
      ...['{', '[]', '"text"', '', 'null', '{"__proto__": {}}'].map((rawBody) => call({ rawBody })),
      call({}, withParameter(unknownPath(operation), 'no_such_parameter=1')),
      call({ headers: { 'content-type': 'text/plain' } }),
    ]
    for (const { status, body } of await Promise.all(wrong)) expect([status, body || null]).toEqual([200, null])
    expect(await otherProject()).toEqual(before)
  })

  it('405 for a method that its path does not take, with those that it takes', async () => {
    const methods = OPERATIONS.filter((each) => each.path === operation.path).map((each) => each.method)
    const wrong = ['PUT', 'PATCH', 'POST', 'DELETE', 'GET'].find((each) => !methods.includes(each)) ?? 'PUT'
    const { status, headers, body } = await mine.call<Problem>(wrong, unknownPath(operation))
    // A path may be another one's that stands for any id: then it is that one's method.
    expect([400, 404, 405]).toContain(status)
    if (status === 405) expect(headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(methods))
    expect(body.code).toMatch(/^(method_not_allowed|validation_failed|not_found)$/)
  })
})

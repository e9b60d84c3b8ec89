import { randomBytes, randomUUID } from 'node:crypto'
import { testDatabase } from '@muster/testing'
import { beatWorker, listAuditEntries } from '@muster/usecases'
import { zipSync } from 'fflate'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { components } from '../http/schemas.ts'
import { type Reply, startApi, type TestApi } from '../testing/api.ts'
import { endpoints } from './index.ts'

/** Every POST that takes an `Idempotency-Key`. A new one joins by itself. */
const posts = endpoints(new Registry()).filter(({ method, yieldsAfterMs }) => method === 'POST' && yieldsAfterMs === undefined)

/** They store nothing, so the same request simply gets the same answer again. */
const READS = ['previewSchedule', 'checkSubagentTool']

let api: TestApi
let key: string

beforeAll(async () => {
  api = await startApi(await testDatabase(), {
    SUBTASK_MAX_PENDING: '1000',
    SUBTASK_MAX_CONCURRENT: '1000',
    SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`,
    CHECKS: '{"tests": {"argv": ["true"]}}',
  })
  key = await api.key(['admin'])
})
afterAll(() => api.close())

/** What a call needs besides its example: the values of its path, and fields of its body, or another body than JSON. */
interface Ready {
  path?: Record<string, string>
  body?: Record<string, unknown>
  raw?: { type: string; bytes: Buffer }
}

async function made(path: string, body: object, method: 'POST' | 'PUT' = 'POST'): Promise<Reply['body']> {
  const answer = await api.call(method, path, { key, body })
  if (answer.status >= 300) throw new Error(`${method} ${path} was answered with ${answer.status}: ${answer.text}`)
  return answer.body
}

const spawned = () => made('/subtasks', { task: 'Count the files.', runner: 'external', parent_session_id: 'idempotent' })
const task = () => made('/tasks', { title: 'Count', instructions: 'Count the files.' })
const assigned = async () => {
  const { id } = await task()
  await made(`/tasks/${id}/assign`, { subagent_session_id: `session-${id}` })
  return id as string
}
const inReview = async () => {
  const { id } = await made('/tasks', { title: 'Count', instructions: 'Count the files.', review: 'manual' })
  await made(`/tasks/${id}/assign`, { subagent_session_id: `session-${id}` })
  await made(`/tasks/${id}/complete`, { outputs: {}, summary: 'There are 3 files.' })
  return id as string
}
const leased = async (): Promise<Ready> => {
  const { id } = await spawned()
  let claim = await made('/subtasks/claim', { worker_id: 'w' })
  while (claim.subtask.id !== id) claim = await made('/subtasks/claim', { worker_id: 'w' })
  return { path: { id: claim.subtask.id }, body: { lease_token: claim.lease.token } }
}
const question = async () => {
  const { path } = await leased()
  return { path: { id: (await made(`/subtasks/${path?.id}/questions`, { kind: 'approval', prompt: 'Push it?', arguments: { branch: 'main' } })).question_id } }
}
const waitingQuestion = async (): Promise<Ready> => {
  const { path = {}, body } = await leased()
  const { question_id } = await made(`/subtasks/${path.id}/questions`, { prompt: 'Which one?' })
  return { path, body: { ...body, question_id } }
}
const schedule = () => made('/schedules', { task: 'Count the files.', every: '1 hour', runner: 'external' })
const webhook = async () => (await made('/webhooks', { url: 'https://example.com/', events: ['*'] })).id as string
const guide = async () => ({
  path: { tsg_id: (await made('/tsgs', { tsg_id: `guide-${randomUUID()}`, title: 'A guide', content: 'Restart it.', patterns: ['EADDRINUSE'] })).tsg_id },
})
const subagent = async (): Promise<Ready> => {
  const raw = '---\ndescription: Counts files.\n---\n\nCount them.'
  const answer = await api.call('PUT', '/subagents/counter', { key, raw, headers: { 'content-type': 'text/markdown' } })
  if (answer.status >= 300) throw new Error(answer.text)
  return { path: { name: 'counter' } }
}
const finished = async () => {
  const { path, body } = await leased()
  await made(`/subtasks/${path?.id}/complete`, { ...body, result: 'There are 3 files.' })
  return path?.id as string
}

/** What has to be there before a call can succeed, by its `operationId`. */
const arrange: Record<string, () => Promise<Ready>> = {
  rotateWebhookSecret: async () => ({ path: { id: await webhook() } }),
  testWebhook: async () => ({ path: { id: await webhook() } }),
  redeliver: async () => ({ path: { id: (await made(`/webhooks/${await webhook()}/test`, {})).id } }),
  redeliverToWebhook: async () => {
    const id = await webhook()
    return { path: { id, delivery_id: (await made(`/webhooks/${id}/test`, {})).id } }
  },
  createSubtask: async () => ({ body: { runner: 'external' } }),
  steerSubtask: async () => ({ path: { id: (await spawned()).id } }),
  flagSubtaskQuality: async () => ({ path: { id: await finished() } }),
  createTask: async () => ({ body: { depends_on: [], tsgs: [] } }),
  noteTask: async () => ({ path: { id: await assigned() } }),
  assignTask: async () => ({ path: { id: (await task()).id } }),
  dispatchTask: async () => ({ path: { id: (await task()).id }, body: { runner: 'external' } }),
  checkIn: async () => {
    const id = await assigned()
    return { path: { id }, body: { content: `<npl-block type="check-in" task-id="${id}">\nCounting.\n</npl-block>` } }
  },
  completeTask: async () => ({ path: { id: await assigned() } }),
  requestTaskChecks: async () => {
    const { body } = await api.call('POST', '/tasks', {
      key,
      body: { title: 'T', instructions: 'Count the files of the project.', acceptance_criteria: [{ text: 'All tests pass', check: 'tests' }] },
    })
    return { path: { id: body.id } }
  },
  reviewTask: async () => ({ path: { id: await inReview() }, body: { criteria: [] } }),
  failTask: async () => ({ path: { id: await assigned() } }),
  cancelTask: async () => ({ path: { id: (await task()).id } }),
  flagTaskQuality: async () => ({ path: { id: (await task()).id } }),
  askAboutSubtask: leased,
  askAboutTask: async () => ({ path: { id: await assigned() } }),
  answerQuestion: question,
  withdrawQuestion: question,
  createSchedule: async () => ({ body: { runner: 'external' } }),
  pauseSchedule: async () => ({ path: { id: (await schedule()).id } }),
  resumeSchedule: async () => {
    const { id } = await schedule()
    await made(`/schedules/${id}/pause`, {})
    return { path: { id } }
  },
  triggerSchedule: async () => ({ path: { id: (await schedule()).id } }),
  spawnSubagent: async () => ({ ...(await subagent()), body: { runner: 'external', run_in_background: true, resume: null } }),
  checkSubagentTool: subagent,
  importSubagents: async () => ({
    raw: { type: 'application/zip', bytes: Buffer.from(zipSync({ 'imported.md': Buffer.from('---\ndescription: Counts files.\n---\n\nCount them.') })) },
  }),
  drainWorker: async () => {
    const id = randomUUID()
    await beatWorker(api.deps.dispatchDb.sql, { id, runners: ['own'], capacity: 1, version: '1', host: 'h', pid: 1 }, false)
    return { path: { id } }
  },
  recordTsgFeedback: guide,
  createEvaluation: async () => ({ body: { task_id: null, judge: false } }),
  learnFact: async () => ({ body: { source_subtask_id: null } }),
  claimSubtask: async () => {
    await spawned()
    return { body: { wait_seconds: 0 } }
  },
  heartbeat: leased,
  completeSubtask: leased,
  failSubtask: leased,
  releaseSubtask: leased,
  waitForAnswer: waitingQuestion,
  injectSession: async () => ({ path: { id: `session-${await assigned()}` } }),
  acknowledgeInjection: async () => {
    const id = `session-${await assigned()}`
    return { path: { id, claim_id: (await made(`/sessions/${id}/injections?ack=manual`, {})).claim_id } }
  },
  postMessage: async () => ({ path: { id: 'idempotent' }, body: { task_id: null } }),
  claimInbox: async () => {
    await finished()
    return { path: { id: 'idempotent' } }
  },
  acknowledgeInbox: async () => {
    await finished()
    return { path: { id: 'idempotent', claim_id: (await made('/sessions/idempotent/inbox/claim', { ack: 'manual' })).claim_id } }
  },
}

/** Secrets are in the first answer alone, and a brief is written anew for each claim. */
const comparable = (text: string) =>
  text === ''
    ? null
    : JSON.parse(text, (name, value) => (['key', 'secret', 'subagent_credential', 'credential', 'lease', 'brief'].includes(name) ? null : value))

/** What the audit log has of these requests. */
const auditOf = async (operation: string, requests: string[]) =>
  (await listAuditEntries(api.ctx, { operation, limit: 200 })).items.filter(({ origin }) => requests.includes(origin.requestId ?? ''))

describe('a POST with an Idempotency-Key, sent twice', () => {
  it.each(posts.map((endpoint) => ({ endpoint, name: `${endpoint.method} ${endpoint.path}` })))('$name gets its first answer again', async ({ endpoint }) => {
    const { operationId, body: json, markdown, path: pattern } = endpoint
    const ready = (await arrange[operationId]?.()) ?? {}
    const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = ready.path?.[name]
      if (value === undefined) throw new Error(`${operationId} has no row: say in \`arrange\` what has to be there, and what {${name}} is.`)
      return value
    })
    const example = json === undefined ? undefined : (components.get(json)?.example as object | undefined)
    const sent = json === undefined && markdown === undefined ? {} : { body: { ...example, ...ready.body } }
    const body = ready.raw === undefined ? sent : { raw: ready.raw.bytes }
    const headers = { 'idempotency-key': randomUUID(), ...(ready.raw === undefined ? {} : { 'content-type': ready.raw.type }) }
    const first = await api.call('POST', path, { key, headers, ...body })
    const second = await api.call('POST', path, { key, headers, ...body })

    expect(first.status, first.text).toBeLessThan(300)
    expect([second.status, comparable(second.text)]).toEqual([first.status, comparable(first.text)])
    const isLive = READS.includes(operationId) || operationId === 'claimSubtask'
    expect(second.headers['idempotent-replayed']).toBe(isLive ? undefined : 'true')
    expect(second.headers.location).toBe(first.headers.location)

    const requests = [first, second].map(({ headers: answered }) => String(answered['x-request-id']))
    const audited = await auditOf(operationId, requests)
    // What is answered again has written nothing.
    expect(audited.map(({ origin }) => origin.requestId)).toEqual(endpoint.unaudited === undefined ? requests.slice(0, 1) : [])
    expect(endpoint.unaudited ?? 'in the log').toMatch(/\w+ \w+/)
  })
})

describe('a query', () => {
  it('is part of the request: the same key with another is refused', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const inject = (ack: string) => api.call('POST', `/sessions/queried/injections${ack}`, { key, headers })
    expect((await inject('?ack=manual')).status).toBe(200)
    expect((await inject('?ack=auto')).body).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
    expect((await inject('?ack=manual')).headers['idempotent-replayed']).toBe('true')
  })
})

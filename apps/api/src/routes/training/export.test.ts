import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkIn, type EvaluationsApi, POOR, reflection, startEvaluationsApi } from '../../testing/evaluations.ts'

const UNKNOWN = '01990000-0000-7000-8000-000000000000'
const GOOD = reflection('✅')

let own: EvaluationsApi
let strange: string
let subtaskId: string
let taskId: string

beforeAll(async () => {
  own = await startEvaluationsApi(await testDatabase())
  strange = await own.api.key(['admin'], await own.api.stranger())
  subtaskId = await own.complete(GOOD, { task: 'Count the files.' })
  taskId = await own.task({ acceptance_criteria: ['Links work'] })
})
afterAll(() => own.api.close())

const flag = async (path: string, quality: string, tags?: string[]) =>
  (await own.send('POST', `${path}/quality-flag`, { quality, ...(tags === undefined ? {} : { tags }) })).body
const lines = async (query = '') => (await own.send('GET', `/training/export?${query}`)).body
const say = async (role: string, content: string) => (await own.send('POST', '/sessions/talk/messages', { role, content, task_id: taskId })).body

describe('POST /subtasks/{id}/quality-flag', () => {
  it('200: says of what quality it is, and the last word counts', async () => {
    const path = `/subtasks/${subtaskId}`
    const evaluationId = (await own.send('GET', path)).body.evaluation.id
    const first = await flag(path, 'needs_work', ['auth', 'auth'])
    expect(first).toEqual({
      task_id: null,
      subtask_id: subtaskId,
      evaluation_id: evaluationId,
      quality: 'needs_work',
      tags: ['auth'],
      training_candidate: false,
      author: { kind: 'key', id: expect.any(String) },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect(await flag(path, 'good')).toMatchObject({ quality: 'good', tags: [], training_candidate: true, created_at: first.created_at })
    expect(await flag(path, 'needs_work')).toMatchObject({ training_candidate: false })
    expect(await flag(path, 'good')).toMatchObject({ training_candidate: true })
    expect(await flag(path, 'bad')).toMatchObject({ training_candidate: false })
    expect(await flag(path, 'excellent', ['auth', 'short'])).toMatchObject({ training_candidate: true })
  })

  it.each([
    [{}, '/quality', 'is required'],
    [{ quality: 'fine' }, '/quality', 'must be one of excellent, good, needs_work, bad'],
    [{ quality: 'good', tags: [''] }, '/tags/0', 'must not be empty'],
    [{ quality: 'good', tags: Array(21).fill('x') }, '/tags', 'must have at most 20 items'],
  ])('400: refuses %#', async (body, pointer, reason) => {
    for (const path of [`/subtasks/${subtaskId}`, `/tasks/${taskId}`])
      expect((await own.send('POST', `${path}/quality-flag`, body)).body).toMatchObject({ status: 400, errors: [{ pointer, reason }] })
  })

  it('404: knows nothing of another project', async () => {
    for (const path of [`/subtasks/${subtaskId}`, `/tasks/${taskId}`])
      expect((await own.api.call('POST', `${path}/quality-flag`, { key: strange, body: { quality: 'bad' } })).body).toMatchObject({
        status: 404,
        code: 'not_found',
      })
    for (const path of [`/subtasks/${UNKNOWN}`, `/tasks/${UNKNOWN}`, `/tasks/${subtaskId}`]) expect(await flag(path, 'good')).toMatchObject({ status: 404 })
  })
})

describe('GET /training/export', () => {
  it('200: brings a subtask in the three formats, line by line', async () => {
    const messages = [
      { role: 'user', content: 'Count the files.' },
      { role: 'assistant', content: GOOD },
    ]
    const answer = await own.send('GET', '/training/export?format=openai')
    expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
    expect(answer.body).toEqual([{ messages }])
    expect(await lines('format=anthropic')).toEqual([{ messages }])
    expect(await lines()).toEqual([
      {
        messages,
        evaluation: { score: 1, recommendation: 'approve', dimensions: expect.any(Object), criteria: [], criteria_revision: null },
        quality: 'excellent',
        tags: ['auth', 'short'],
      },
    ])
  })

  it('200: brings a task by the output that was evaluated last, then by what was said about it', async () => {
    await own.evaluate({ output: 'Handed in.', task_id: taskId })
    expect(await flag(`/tasks/${taskId}`, 'good', ['auth'])).toMatchObject({ task_id: taskId, subtask_id: null, training_candidate: true })
    const brief = 'Write the guide\n\nWrite it. Keep it short.'
    const ofTask = async (format: string) => (await lines(`format=${format}&quality=good`)).map(({ messages }: { messages: unknown }) => messages)
    expect(await ofTask('openai')).toEqual([
      [
        { role: 'user', content: brief },
        { role: 'assistant', content: 'Handed in.' },
      ],
    ])

    const long = `${checkIn(['- ✅ Links work'])}${'ä'.repeat(70_000)}`
    await say('assistant', 'I look.')
    await say('tool', 'found')
    const said = await say('assistant', long)
    expect(said).toMatchObject({ eval_score: 1, quality_flag: null, training_candidate: false })
    // Hooks bring only what the assistant says.
    expect((await ofTask('anthropic'))[0]).toEqual([
      { role: 'user', content: brief },
      { role: 'assistant', content: 'I look.' },
      { role: 'user', content: 'found' },
      { role: 'assistant', content: long },
    ])
    await say('user', 'Thanks.')
    await say('assistant', 'Welcome.')
    expect((await ofTask('openai'))[0].map(({ content }: { content: string }) => content)).toEqual(['I look.', 'found', long, 'Thanks.', 'Welcome.'])
  })

  it("200: the assistant's messages are flagged with their task", async () => {
    const flags = async () =>
      (await own.send('GET', '/sessions/talk/messages')).body.items.map((each: { role: string; quality_flag: string | null; training_candidate: boolean }) => [
        each.role,
        each.quality_flag,
        each.training_candidate,
      ])
    await flag(`/tasks/${taskId}`, 'excellent', ['auth'])
    const roles = ['assistant', 'user', 'assistant', 'tool', 'assistant']
    expect(await flags()).toEqual(roles.map((role) => [role, role === 'assistant' ? 'excellent' : null, role === 'assistant']))
    await flag(`/tasks/${taskId}`, 'needs_work', ['auth'])
    expect((await flags())[0]).toEqual(['assistant', 'needs_work', false])
    await flag(`/tasks/${taskId}`, 'good', ['auth'])
    expect((await flags())[0]).toEqual(['assistant', 'good', true])
    await flag(`/tasks/${taskId}`, 'bad', ['auth'])
    expect((await flags())[0]).toEqual(['assistant', 'bad', false])
  })

  it('200: leaves out what is no candidate, unless its quality is asked for, and keeps to tags', async () => {
    const qualities = async (query = '') => (await lines(query)).map(({ quality }: { quality: string }) => quality)
    expect(await qualities()).toEqual(['excellent'])
    expect(await qualities('quality=bad')).toEqual(['bad'])
    expect(await qualities('quality=good')).toEqual([])
    expect(await qualities('tags=auth')).toEqual(['excellent'])
    expect(await qualities('tags=auth,short')).toEqual(['excellent'])
    expect(await qualities('tags=auth,long')).toEqual([])
    expect(await qualities('quality=bad&tags=short')).toEqual([])
  })

  it('200: leaves out what is no example', async () => {
    const { id } = (await own.send('POST', '/subtasks', { task: 'x', runner: 'external', agent_id: 'without a result' })).body
    await flag(`/subtasks/${id}`, 'good')
    await flag(`/tasks/${await own.task()}`, 'good')
    expect(await lines('quality=good')).toEqual([])
    await own.send('POST', '/subtasks/claim', { worker_id: 'w' })
  })

  it('200: brings nothing of another project', async () => {
    const answer = await own.api.call('GET', '/training/export?quality=excellent', { key: strange })
    expect([answer.status, answer.text]).toEqual([200, ''])
  })

  it.each([
    ['format=csv', '?format', 'must be one of openai, anthropic, jsonl'],
    ['quality=fine', '?quality', expect.stringContaining('must be one of')],
    [`tags=${'x'.repeat(65)}`, '?tags.0', expect.stringContaining('at most 64')],
    [`tags=${Array(21).fill('x').join(',')}`, '?tags', 'must have at most 20 items'],
  ])('400: refuses ?%s', async (query, pointer, reason) => {
    expect(await lines(query)).toMatchObject({ status: 400, code: 'validation_failed', errors: [{ pointer, reason }] })
  })

  // It moves more than a hundred megabytes.
  it('reads no further than its caller has taken, and stops when that one goes', { timeout: 60_000 }, async () => {
    const { api } = own
    const path = `/subtasks/${await own.complete(`${POOR}${'x'.repeat(1_000_000)}`)}`
    await flag(path, 'needs_work', ['large'])
    await copyFlagged(path.slice('/subtasks/'.length), COPIES)
    let read = 0
    const { options } = api.deps.db.sql as unknown as { options: { debug: unknown } }
    options.debug = (_: number, text: string) => {
      if (text.includes('from "bodies"')) read += 1
    }
    await api.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = api.app.server.address() as AddressInfo
    const open = async (): Promise<IncomingMessage> => {
      const call = request({
        port,
        host: '127.0.0.1',
        agent: false,
        path: '/training/export?quality=needs_work&tags=large',
        headers: { authorization: `Bearer ${own.key}` },
      })
      const answered = once(call, 'response')
      call.end()
      return (await answered)[0]
    }
    /** Reads everything: with the time that an unhurried reader needs. */
    const readAll = async (): Promise<number> => {
      const before = read
      let lines = 0
      for await (const part of (await open()).setEncoding('utf8')) lines += (part as string).split('\n').length - 1
      expect(lines).toBe(COPIES + 1)
      return read - before - lines
    }
    const idle = await open()
    // What is read ahead for the one who does not read fits into the buffers between the two.
    expect(await readAll()).toBeLessThan(COPIES / 2)
    idle.destroy()
    await expect.poll(() => connectionsOf(api)).toBe(0)
    expect(await readAll()).toBe(0)
  })
})

const COPIES = 60

/** As many more of a flagged subtask. */
async function copyFlagged(id: string, copies: number): Promise<void> {
  const { deps, ctx } = own.api
  await deps.db.sql.begin(async (sql) => {
    await sql`select set_config('muster.project_id', ${ctx.actor.projectId}, true)`
    await sql`
      insert into subtasks (project_id, id, agent_id, task, priority, runner, timeout_seconds, max_attempts, budget_max_steps, notify, status, final_outcome,
        completed_at, rank_at, attempt, result_body_id)
      select project_id, gen_random_uuid(), 'copied', task, priority, runner, timeout_seconds, max_attempts, budget_max_steps, notify, status, final_outcome,
        completed_at, rank_at, attempt, result_body_id from subtasks cross join generate_series(1, ${copies}::int) where id = ${id}`
    await sql`
      insert into quality_flags (project_id, subject_kind, subject_id, quality, tags, author_kind, author_id)
      select project_id, 'subtask', id, 'needs_work', '{large}', 'key', 'k' from subtasks where agent_id = 'copied'`
  })
}

const connectionsOf = ({ app }: EvaluationsApi['api']) => new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))

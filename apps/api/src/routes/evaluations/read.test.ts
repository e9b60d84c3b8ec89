import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkIn, type EvaluationsApi, POOR, reflection, startEvaluationsApi } from '../../testing/evaluations.ts'

const UNKNOWN = '01990000-0000-7000-8000-000000000000'

let own: EvaluationsApi
let strange: string

beforeAll(async () => {
  own = await startEvaluationsApi(await testDatabase())
  strange = await own.api.key(['admin'], await own.api.stranger())
})
afterAll(() => own.api.close())

const list = async (query: string) => (await own.send('GET', `/evaluations?${query}`)).body
const idsOf = (page: { items: { evaluation_id: string }[] }) => page.items.map(({ evaluation_id }) => evaluation_id)
const notFound = { status: 404, code: 'not_found' }

describe('GET /evaluations', () => {
  it('200: pages, newest first, without a gap and without a repetition', async () => {
    const taskId = await own.task()
    const ids: string[] = []
    for (const output of ['1', '2', '3', '4', '5']) ids.unshift((await own.evaluate({ output, task_id: taskId })).body.evaluation_id)
    await own.evaluate({ output: 'about nothing' })
    const first = await list(`task_id=${taskId}&limit=2`)
    const second = await list(`task_id=${taskId}&limit=2&cursor=${first.next_cursor}`)
    const third = await list(`task_id=${taskId}&limit=2&cursor=${second.next_cursor}`)
    expect([first, second, third].flatMap(idsOf)).toEqual(ids)
    expect(third.next_cursor).toBeNull()
    const all = await list('limit=3')
    expect(idsOf(all).slice(1)).toEqual(ids.slice(0, 2))
    expect(idsOf(await list(`limit=2&cursor=${all.next_cursor}`))).toEqual(ids.slice(2, 4))
  })

  it('200: finds those of a task, and the one of the result of a subtask', async () => {
    const taskId = await own.task({ acceptance_criteria: ['Links work'] })
    const subtaskId = await own.complete(POOR, { task_id: taskId })
    const { body: message } = await own.send('POST', '/sessions/talk/messages', { role: 'assistant', content: checkIn(['- ✅ Links work']), task_id: taskId })
    const [said, result] = (await list(`task_id=${taskId}`)).items
    expect(said).toMatchObject({ origin: 'message', message_id: message.id, session_id: 'talk', subtask_id: null, score: 1, criteria_revision: 1 })
    expect(result).toMatchObject({ origin: 'subtask', subtask_id: subtaskId, message_id: null, score: 0.55, recommendation: 'request_revision' })
    expect(result.summary).toContain('🐛')
    expect(await list(`subtask_id=${subtaskId}`)).toEqual({ items: [result], next_cursor: null })
    expect(idsOf(await list(`subtask_id=${subtaskId}&task_id=${UNKNOWN}`))).toEqual([])
    expect(idsOf(await list(`task_id=${UNKNOWN}`))).toEqual([])
  })

  it('200: shows nothing of another project', async () => {
    expect((await own.api.call('GET', '/evaluations', { key: strange })).body).toEqual({ items: [], next_cursor: null })
  })

  it('400: refuses what is no filter, and cursors of others', async () => {
    expect(await list('task_id=1')).toMatchObject({ status: 400, errors: [{ pointer: '?task_id', reason: 'must be a UUID' }] })
    expect(await list('limit=201')).toMatchObject({ status: 400, errors: [{ pointer: '?limit' }] })
    expect(await list('cursor=x')).toMatchObject({ status: 400, code: 'cursor_invalid' })
  })
})

describe('GET /evaluations/{id}', () => {
  it('404: knows none of another project', async () => {
    const { evaluation_id } = (await own.evaluate({ output: 'x' })).body
    for (const path of [`/evaluations/${evaluation_id}`, `/evaluations/${evaluation_id}/payload`])
      expect((await own.api.call('GET', path, { key: strange })).body).toMatchObject(notFound)
  })
})

describe('GET /evaluations/{id}/payload', () => {
  it('200: brings the output from wherever it is kept', async () => {
    const short = reflection('✅')
    const long = `${short}${'ä'.repeat(70_000)}`
    for (const output of [short, long]) {
      const subtaskId = await own.complete(output)
      await own.send('POST', '/sessions/payloads/messages', { role: 'assistant', content: output })
      await own.evaluate({ output })
      const [request, message, subtask] = (await list('limit=3')).items
      expect([request.origin, message.origin, subtask.origin]).toEqual(['request', 'message', 'subtask'])
      for (const { evaluation_id, subtask_id } of [request, message, subtask])
        expect((await own.send('GET', `/evaluations/${evaluation_id}/payload`)).body).toEqual({ full_output: output, evaluation_id, subtask_id })
      expect(subtask.subtask_id).toBe(subtaskId)
    }
  })
})

describe('GET /tasks/{id}/payload', () => {
  it('200: brings the output that was evaluated last', async () => {
    const taskId = await own.task()
    const subtaskId = await own.complete(POOR, { task_id: taskId })
    expect((await own.send('GET', `/tasks/${taskId}/payload`)).body).toMatchObject({ full_output: POOR, subtask_id: subtaskId })
    const { evaluation_id } = (await own.evaluate({ output: 'Better.', task_id: taskId })).body
    expect((await own.send('GET', `/tasks/${taskId}/payload`)).body).toEqual({ full_output: 'Better.', evaluation_id, subtask_id: null })
  })

  it('404: says so where nothing of it was evaluated', async () => {
    const taskId = await own.task()
    expect((await own.send('GET', `/tasks/${taskId}/payload`)).body).toMatchObject({ ...notFound, detail: 'No output of this task has been evaluated yet.' })
    expect((await own.api.call('GET', `/tasks/${taskId}/payload`, { key: strange })).body).toMatchObject({
      ...notFound,
      detail: expect.stringContaining('no such task'),
    })
  })
})

describe('GET /subtasks/{id}/payload', () => {
  it('200: brings the result', async () => {
    const id = await own.complete(POOR)
    const { evaluation } = (await own.send('GET', `/subtasks/${id}`)).body
    expect((await own.send('GET', `/subtasks/${id}/payload`)).body).toEqual({ full_output: POOR, evaluation_id: evaluation.id, subtask_id: id })
  })

  it('404: says so where there is none', async () => {
    const { id } = (await own.send('POST', '/subtasks', { task: 'x', runner: 'external' })).body
    expect((await own.send('GET', `/subtasks/${id}/payload`)).body).toMatchObject({ ...notFound, detail: 'No output of this subtask has been evaluated yet.' })
    expect((await own.api.call('GET', `/subtasks/${id}/payload`, { key: strange })).body).toMatchObject({
      ...notFound,
      detail: expect.stringContaining('no such subtask'),
    })
    await own.send('POST', '/subtasks/claim', { worker_id: 'w' })
  })
})

describe('the result of a subtask', () => {
  it('carries its evaluation wherever the subtask is shown, and none before it has completed', async () => {
    const id = await own.complete(reflection('✅🔄🔄'), { agent_id: 'shown', parent_session_id: 'shown' })
    const evaluation = { id: (await list(`subtask_id=${id}`)).items[0].evaluation_id, score: 0.6, recommendation: 'review' }
    expect((await own.send('GET', `/subtasks/${id}`)).body).toMatchObject({ evaluation })
    expect((await own.send('GET', `/subtasks/${id}?wait_seconds=1`)).body).toMatchObject({ evaluation })
    const pending = (await own.send('POST', '/subtasks', { task: 'x', runner: 'external', agent_id: 'shown' })).body
    expect(pending.evaluation).toBeNull()
    for (const query of ['agent_id=shown', 'agent_id=shown&status=completed', 'session=shown'])
      expect((await own.send('GET', `/subtasks?${query}`)).body.items.filter((each: { id: string }) => each.id === id)).toMatchObject([{ evaluation }])
    expect((await own.send('GET', '/subtasks?agent_id=shown&status=pending')).body.items).toMatchObject([{ id: pending.id, evaluation: null }])
    await own.send('POST', '/subtasks/claim', { worker_id: 'w' })
  })

  it('is in the inbox with its score, and as a summary where it is poor', async () => {
    await own.complete(reflection('✅'), { parent_session_id: 'parent' })
    await own.complete(`${POOR}${' '.repeat(70_000)}.`, { parent_session_id: 'parent' })
    await own.complete('No blocks.', { parent_session_id: 'parent' })
    const { items } = (await own.send('POST', '/sessions/parent/inbox/claim')).body
    expect(items).toMatchObject([
      { score: 1, recommendation: 'approve', result: reflection('✅'), summary: null },
      { score: 0.55, recommendation: 'request_revision', result: null, summary: expect.stringContaining('Its score is 0.55.') },
      { score: null, recommendation: 'review', result: 'No blocks.', summary: null },
    ])
  })
})

describe('GET /subtasks?subagent', () => {
  it('200: finds the runs of one', async () => {
    const spawn = async (subagent?: string) =>
      (await own.send('POST', '/subtasks', { task: 'x', runner: 'external', agent_id: 'roles', ...(subagent === undefined ? {} : { subagent }) })).body.id
    const [one, , other, two] = [await spawn('Explore'), await spawn(), await spawn('Plan'), await spawn('Explore')]
    const found = async (query: string) => (await own.send('GET', `/subtasks?${query}`)).body.items.map(({ id }: { id: string }) => id)
    expect(await found('subagent=Explore')).toEqual([two, one])
    expect(await found('subagent=Explore&limit=1')).toEqual([two])
    expect(await found('subagent=Plan&agent_id=roles&status=pending')).toEqual([other])
    expect(await found('subagent=Explore&agent_id=nobody')).toEqual([])
    expect(await found('subagent=nobody')).toEqual([])
  })
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BRIEF, startTasksApi, type TasksApi, UNKNOWN } from '../../testing/tasks.ts'

let api: TasksApi['api']
let send: TasksApi['send']
let make: TasksApi['make']
let patch: TasksApi['patch']

beforeAll(async () => {
  ;({ api, send, make, patch } = await startTasksApi(await testDatabase()))
})
afterAll(() => api.close())

describe('PATCH /tasks/{id}', () => {
  it('200: answers with the next revision, what changed, and the update', async () => {
    const path = await make()
    const { status, headers, body } = await patch(path, '"1"', {
      instructions: 'Write it. Keep it long.',
      acceptance_criteria: ['All steps work', 'It is long'],
    })
    expect([status, headers.etag]).toEqual([200, '"2"'])
    expect(body).toMatchObject({
      revision: 2,
      task: { revision: 2 },
      diff: { instructions: [{ op: 'keep', text: 'Write it.' }, { op: 'remove' }, { op: 'add' }], acceptance_criteria: [{ op: 'keep' }, { op: 'add' }] },
    })
    expect((await send('GET', `${path}/revisions`)).body.items).toMatchObject([
      { revision: 2, diff: body.diff, author: { kind: 'key' } },
      { revision: 1, diff: null },
    ])
    expect((await send('GET', `${path}/updates`)).body.items).toMatchObject([{ update_id: body.update_id, update_type: 'instructions', status: 'superseded' }])
  })

  it.each(['"1"', 'W/"1"', '1', '"7", "1"', '*'])('200: takes %s for the first revision', async (revision) => {
    expect((await patch(await make(), revision, { title: 'Other' })).status).toBe(200)
  })

  it('200: changes nothing where nothing changes', async () => {
    expect((await patch(await make(), '"1"', { title: BRIEF.title })).body).toMatchObject({ revision: 1, update_id: null, diff: {} })
  })

  it('200: corrects the folder, checks the files again, and tells the holder as a change of the context', async () => {
    const root = await mkdtemp(join(tmpdir(), 'muster-folder-'))
    await writeFile(join(root, 'lexer.ts'), '')
    const { settings } = api.ctx
    const rootsBefore = settings.WORKSPACE_ROOTS
    Object.assign(settings, { WORKSPACE_ROOTS: [root] })
    try {
      const path = await make({ client_cwd: '/nowhere', relevant_files: ['./lexer.ts', 'lexer.ts', 'lexr.ts'] })
      const created = (await send('GET', path)).body
      expect(created.task_context).toMatchObject({
        relevant_files: ['./lexer.ts', 'lexr.ts'],
        file_checks: [{ status: 'not_checked' }, { status: 'not_checked' }],
      })
      const { status, headers, body } = await patch(path, '"1"', { client_cwd: root })
      expect([status, headers.etag]).toEqual([200, '"2"'])
      expect(body.diff).toEqual({
        client_cwd: [
          { op: 'remove', text: '/nowhere' },
          { op: 'add', text: root },
        ],
      })
      expect(body.task).toMatchObject({
        client_cwd: root,
        task_context: {
          file_checks: [
            { field: 'relevant_files', path: './lexer.ts', status: 'found', nearest: null },
            { field: 'relevant_files', path: 'lexr.ts', status: 'not_found', nearest: 'lexer.ts' },
          ],
          validation_warnings: ["File not found: 'lexr.ts' - will be skipped by agents. Did you mean 'lexer.ts'?"],
        },
      })
      expect((await send('GET', `${path}/updates`)).body.items).toMatchObject([{ update_id: body.update_id, update_type: 'context' }])
      expect((await patch(path, '"2"', { client_cwd: root })).body).toMatchObject({ revision: 2, update_id: null, diff: {} })
      expect((await patch(path, '"1"', { client_cwd: null })).status).toBe(412)
      expect((await patch(path, '"2"', { client_cwd: null })).body.task).toMatchObject({ revision: 3, client_cwd: null })
    } finally {
      Object.assign(settings, { WORKSPACE_ROOTS: rootsBefore })
      await rm(root, { recursive: true })
    }
  })

  it('400: refuses an If-Match that is none, and a field that cannot be changed', async () => {
    const path = await make()
    expect((await patch(path, 'one', {})).body).toMatchObject({ status: 400, errors: [{ pointer: 'If-Match:' }] })
    expect((await patch(path, '"1"', { status: 'completed' })).body).toMatchObject({ status: 400, errors: [{ pointer: '/status' }] })
    expect((await patch(path, '"1"', { title: '', priority: 'x' })).body.errors).toMatchObject([{ pointer: '/title' }, { pointer: '/priority' }])
  })

  it('404: knows no such task, with or without If-Match', async () => {
    expect((await send('PATCH', `/tasks/${UNKNOWN}`, { title: 'x' })).status).toBe(404)
    expect((await patch(`/tasks/${UNKNOWN}`, '"1"', { title: 'x' })).status).toBe(404)
  })

  it('409: changes nothing that has ended', async () => {
    const path = await make()
    await send('POST', `${path}/cancel`, { reason: 'x' })
    for (const body of [
      await patch(path, '"1"', { title: 'x' }),
      await send('PATCH', path, { title: 'x' }),
      await send('POST', `${path}/updates`, { content: 'x' }),
      await send('POST', `${path}/assign`, { subagent_session_id: 's' }),
      await send('POST', `${path}/complete`, { outputs: {} }),
      await send('POST', `${path}/review`, { decision: 'approve' }),
      await send('POST', `${path}/fail`, { reason: 'x' }),
      await send('POST', `${path}/cancel`, { reason: 'x' }),
      await send('PUT', `${path}/tsgs/ports`),
      await send('DELETE', `${path}/tsgs/ports`),
      await send('POST', `${path}/check-ins`, { content: '<npl-block type="check-in">\n</npl-block>' }),
    ])
      expect(body.body).toMatchObject({ status: 409, code: 'invalid_transition' })
  })

  it('412: tells the current revision to who has an old one, also of two at once', async () => {
    const path = await make()
    const answers = await Promise.all([patch(path, '"1"', { title: 'One' }), patch(path, '"1"', { title: 'Two' })])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
    expect(answers.find(({ status }) => status === 412)?.body).toMatchObject({ code: 'revision_stale', revision: 2 })
  })

  it('422: refuses a circle, with the path', async () => {
    const one = await make()
    const two = await make({ depends_on: [one.slice(7)] })
    expect((await patch(one, '"1"', { depends_on: [two.slice(7)] })).body).toMatchObject({
      status: 422,
      code: 'dependency_cycle',
      path: [one.slice(7), two.slice(7), one.slice(7)],
    })
  })

  it('428: wants to know which revision was changed', async () => {
    expect((await send('PATCH', await make(), { title: 'x' })).body).toMatchObject({ status: 428, code: 'revision_required', revision: 1 })
  })
})

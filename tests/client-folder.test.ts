import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'
import type { Subtask } from './harness/wire.ts'

let system: System
let folder: string
/** The only folder in WORKSPACE_ROOTS. */
let root: string
let outside: string

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'muster-roots-')))
  root = join(folder, 'root')
  outside = join(folder, 'outside')
  for (const path of [join(root, 'project'), join(root, 'moving'), outside]) await mkdir(path, { recursive: true })
  await symlink(join(root, 'project'), join(root, 'by-link'))
  await symlink(outside, join(root, 'out'))
  system = await startSystem({ env: { WORKSPACE_ROOTS: root, SUBTASK_MAX_PENDING: '10' }, workers: 0 })
})
afterAll(async () => {
  await system.close()
  await rm(folder, { recursive: true })
})

interface Where {
  cwd: string
  variable: string
  workspace: string
  text: string
}

interface DispatchedTask {
  taskId: string
  own: string
  subtask: Subtask
}

async function dispatch(clientCwd: string | null): Promise<DispatchedTask> {
  const task = await system.client.createTask({ title: 'Where are you?', instructions: 'Say in which folder you work.', client_cwd: clientCwd })
  const subtask = await system.client.ok<Subtask>('POST', `/tasks/${task.id}/dispatch`, { body: { runner: 'where' } })
  return { taskId: task.id, own: join(system.folder, 'tasks', task.id), subtask }
}

async function whereWas({ subtask }: DispatchedTask): Promise<Where> {
  const ended = await system.client.ended(subtask.id)
  expect(ended).toMatchObject({ status: 'completed', error: null })
  return JSON.parse(ended.result as string)
}

/** All three ways to name the folder of a run. */
const allAre = (path: string) => ({ cwd: path, variable: path, workspace: path })

describe('a dispatched run', () => {
  it('works in the client folder when that lies in WORKSPACE_ROOTS at its start, otherwise in its own, and its brief says which', async () => {
    const inside = await dispatch(join(root, 'project'))
    const byLink = await dispatch(join(root, 'by-link'))
    const led = await dispatch(join(root, 'out'))
    const elsewhere = await dispatch(outside)
    const missing = await dispatch(join(root, 'none'))
    const without = await dispatch(null)
    const swapped = await dispatch(join(root, 'moving'))
    // Between the dispatch and the run, the folder becomes a link that leads out.
    await rename(join(root, 'moving'), join(root, 'moved'))
    await symlink(outside, join(root, 'moving'))
    await system.startWorker()

    for (const run of [inside, byLink]) {
      const where = await whereWas(run)
      expect(where).toMatchObject(allAre(join(root, 'project')))
      expect(where.text).toContain(`\nFolder of this run: the client folder, ${run === inside ? join(root, 'project') : join(root, 'by-link')}`)
      expect(existsSync(join(run.own, 'left-here'))).toBe(false)
    }
    // Nothing of it is removed, after the run and by the sweep of a worker that starts.
    await system.startWorker()
    expect([inside.subtask.id, byLink.subtask.id]).toContain(await readFile(join(root, 'project/left-here'), 'utf8'))

    for (const run of [led, elsewhere, missing, swapped]) {
      const where = await whereWas(run)
      expect(where).toMatchObject(allAre(run.own))
      expect(where.text).toContain(
        "\nFolder of this run: the task's own, which lasts as long as the task. The client folder is not a folder below WORKSPACE_ROOTS",
      )
      expect(await readdir(run.own)).toEqual(['left-here'])
    }
    const where = await whereWas(without)
    expect(where).toMatchObject(allAre(without.own))
    expect(where.text).not.toMatch(/client folder/i)
    expect(await readdir(outside)).toEqual([])
    expect(await readdir(join(root, 'moved'))).toEqual([])
    expect(existsSync(join(root, 'none'))).toBe(false)
  })

  it('works in the folder as it was corrected before it ran', async () => {
    const { id } = await system.client.createTask({ title: 'Where are you?', instructions: 'Say in which folder you work.', client_cwd: '/nowhere' })
    expect((await system.client.revise(id, 1, { client_cwd: join(root, 'project') })).status).toBe(200)
    const subtask = await system.client.ok<Subtask>('POST', `/tasks/${id}/dispatch`, { body: { runner: 'where' } })
    const where = await whereWas({ taskId: id, own: '', subtask })
    expect(where).toMatchObject(allAre(join(root, 'project')))
    expect(where.text).toContain(`Client Folder: ${join(root, 'project')}\n`)
  })
})

import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Harness, makeTask, spawn, startHarness } from '@muster/testing'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { WorkerDeps } from './deps.ts'
import { removeUnknownFolders } from './unknown-folders.ts'

const NOW_MS = 2_000_000_000_000

let harness: Harness
let deps: WorkerDeps
let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'muster-folders-'))
  harness = await startHarness({ settings: { DATA_DIR: dataDir } })
  deps = harness.deps as unknown as WorkerDeps
})
afterEach(async () => {
  await harness.close()
  await rm(dataDir, { recursive: true })
})

async function folder(name: string, ageHours: number): Promise<string> {
  await mkdir(join(dataDir, name), { recursive: true })
  await writeFile(join(dataDir, name, 'file.txt'), 'work')
  const at = new Date(NOW_MS - ageHours * 3_600_000)
  await utimes(join(dataDir, name), at, at)
  return name
}

const left = async () => [
  ...(await readdir(join(dataDir, 'tasks'))).map((name) => `tasks/${name}`),
  ...(await readdir(join(dataDir, 'workspaces'))).map((name) => `workspaces/${name}`),
]

it('removes old folders of what the database does not know, and no other', async () => {
  const [task, subtask] = [await makeTask(harness.ctx), await spawn(harness.ctx)]
  const kept = [
    await folder(`tasks/${task.id}`, 1_000),
    await folder(`workspaces/${subtask.id}-1`, 1_000),
    await folder(`tasks/${harness.deps.newId()}`, 20),
    await folder('tasks/notes', 1_000),
  ]
  await folder(`tasks/${harness.deps.newId()}`, 30)
  await folder(`workspaces/${harness.deps.newId()}-2`, 30)
  expect(await removeUnknownFolders(deps, NOW_MS)).toBe(2)
  expect((await left()).sort()).toEqual(kept.sort())
  expect(await removeUnknownFolders(deps, NOW_MS)).toBe(0)
})

it('removes nothing where the data folder belongs to another database', async () => {
  await writeFile(join(dataDir, 'database'), harness.deps.newId())
  await folder(`tasks/${harness.deps.newId()}`, 1_000)
  expect(await removeUnknownFolders(deps, NOW_MS)).toBe(0)
})

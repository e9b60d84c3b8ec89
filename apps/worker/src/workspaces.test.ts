import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSettings } from '@muster/domain'
import { KEPT } from '@muster/usecases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { WorkerDeps } from './deps.ts'
import { keepWorkspace, makeWorkspace, workspacePath } from './workspaces.ts'

let deps: WorkerDeps
beforeAll(async () => {
  deps = { settings: parseSettings({ DATA_DIR: await mkdtemp(join(tmpdir(), 'muster-workspaces-')) }) } as WorkerDeps
})
afterAll(() => rm(deps.settings.DATA_DIR, { recursive: true }))

it('the folder of a run that waits is kept, whatever a lost attempt has left in its place', async () => {
  const id = '0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47'
  const path = workspacePath(deps, id, 1)
  await makeWorkspace(path)
  await writeFile(join(path, 'walls.txt'), 'done')
  await makeWorkspace(join(workspacePath(deps, id, KEPT), 'of a lost attempt'))
  await keepWorkspace(deps, path, id)
  expect(await readdir(workspacePath(deps, id, KEPT))).toEqual(['walls.txt'])
})

import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { claimOne, type Harness, spawn, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WorkerDeps } from './deps.ts'
import { makeWorkspace, removeOldWorkspaces, workspacePath } from './workspaces.ts'

let harness: Harness
let deps: WorkerDeps
beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'muster-workspaces-'))
  harness = await startHarness({ settings: { DATA_DIR: dataDir } })
  deps = harness.deps as unknown as WorkerDeps
})
afterAll(async () => {
  await rm(deps.settings.DATA_DIR, { recursive: true })
  await harness.close()
})

describe('workspaces', () => {
  it('are removed when their attempt no longer runs, and only then', async () => {
    await spawn(harness.ctx)
    const run = await claimOne(harness.ctx)
    await makeWorkspace(workspacePath(deps, run.id, run.attempt))
    await makeWorkspace(workspacePath(deps, run.id, run.attempt + 1))
    const unknown = harness.deps.newId()
    await makeWorkspace(workspacePath(deps, unknown, 1))
    await mkdir(join(deps.settings.DATA_DIR, 'workspaces', 'somebody-elses'))
    await removeOldWorkspaces(deps)
    expect((await readdir(join(deps.settings.DATA_DIR, 'workspaces'))).sort()).toEqual([`${run.id}-${run.attempt}`, `${unknown}-1`, 'somebody-elses'].sort())
  })
})

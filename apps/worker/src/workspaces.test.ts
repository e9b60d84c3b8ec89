import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { claimOne, type Harness, settleOne, spawn, startHarness } from '@muster/testing'
import { askAboutSubtask, cancelSubtask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WorkerDeps } from './deps.ts'
import { KEPT, keepWorkspace, makeWorkspace, removeOldWorkspaces, workspacePath } from './workspaces.ts'

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

  it('of a run that waits are kept until the subtask has ended, whatever a lost attempt has left in their place', async () => {
    const { id } = await spawn(harness.ctx)
    const run = await claimOne(harness.ctx)
    const path = workspacePath(deps, id, run.attempt)
    await makeWorkspace(path)
    await writeFile(join(path, 'walls.txt'), 'done')
    await makeWorkspace(join(workspacePath(deps, id, KEPT), 'of a lost attempt'))
    await keepWorkspace(deps, path, id)
    const question = { kind: 'question', prompt: 'Which?', options: null, schema: null, arguments: null, default: null } as const
    const { id: questionId } = await askAboutSubtask(harness.ctx, id, { ...question, onExpiry: 'continue', expiresInSeconds: 60 })
    await settleOne(harness.ctx, run, { kind: 'waiting', questionId, continuation: null })
    await removeOldWorkspaces(deps)
    expect(await readdir(workspacePath(deps, id, KEPT))).toEqual(['walls.txt'])
    await cancelSubtask(harness.ctx, id)
    await removeOldWorkspaces(deps)
    expect(await readdir(join(deps.settings.DATA_DIR, 'workspaces'))).not.toContain(`${id}-${KEPT}`)
  })
})

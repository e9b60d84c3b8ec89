import { link, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StoredFiles, storedFiles } from '@muster/db'
import { advanceClock, claimOne, completed, type Harness, makeTask, resetClock, settleOne, spawn, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { applyRetention, askAboutSubtask, cancelSubtask, completeTask, flagQuality, updateProject } from '../index.ts'
import { attemptFolders, type FolderKind, taskFolders } from './folder-kinds.ts'
import { FolderSweep } from './sweep-folders.ts'

const NOW_MS = 2_000_000_000_000

let harness: Harness
let deps: Harness['deps']
let dataDir: string
let place: string

beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'muster-folders-'))
  deps = { ...harness.deps, settings: { ...harness.deps.settings, DATA_DIR: dataDir } }
  place = deps.newId()
})
afterEach(async () => {
  await resetClock(harness.admin)
  await rm(dataDir, { recursive: true })
})

async function folder(name: string, ageHours: number): Promise<string> {
  await mkdir(join(dataDir, name, 'deep'), { recursive: true })
  await writeFile(join(dataDir, name, 'deep', 'file.txt'), 'work '.repeat(2_000))
  const at = new Date(NOW_MS - ageHours * 3_600_000)
  await utimes(join(dataDir, name), at, at)
  return name
}

const left = async (kind: string) => (await readdir(join(dataDir, kind))).map((name) => `${kind}/${name}`).sort()
const tasks = () => taskFolders(deps, () => NOW_MS)
const attempts = () => attemptFolders(deps, () => NOW_MS)
const stored = async (kind: string): Promise<StoredFiles> => {
  const found = (await storedFiles.readStoredFiles(deps.dispatchDb)).find((each) => each.kind === kind)
  return found ?? { kind, kept: { files: 0, bytes: 0 }, swept: { files: 0, bytes: 0 } }
}

/** One complete look. */
async function sweep(kind: FolderKind): Promise<void> {
  const looks = new FolderSweep(deps, kind, () => place)
  while (await looks.call());
}

async function endedTask(): Promise<string> {
  const { id } = await makeTask(harness.ctx)
  await completeTask(harness.ctx, id, { outputs: {}, summary: 'Done.' })
  return id
}

/** Claims a subtask, which then waits for an answer. */
async function claimAndWait(id: string): Promise<void> {
  const run = await claimOne(harness.ctx)
  const question = { kind: 'question', prompt: 'Which?', options: null, schema: null, arguments: null, default: null } as const
  const { id: questionId } = await askAboutSubtask(harness.ctx, id, { ...question, onExpiry: 'continue', expiresInSeconds: 60 })
  await settleOne(harness.ctx, run, { kind: 'waiting', questionId, continuation: null })
}

describe('folders of tasks', () => {
  it('go when the database does not know their task, and its commit cannot be under way', async () => {
    const task = await makeTask(harness.ctx)
    const kept = [await folder(`tasks/${task.id}`, 1_000), await folder(`tasks/${deps.newId()}`, 20), await folder('tasks/notes', 1_000)]
    await folder(`tasks/${deps.newId()}`, 30)
    await sweep(tasks())
    expect(await left('tasks')).toEqual(kept.sort())
  })

  it('go when the task ended longer ago than its project keeps folders, unless it is flagged', async () => {
    const [old, flagged, live] = [await endedTask(), await endedTask(), (await makeTask(harness.ctx)).id]
    await flagQuality(harness.ctx, { kind: 'task', id: flagged }, { quality: 'good', tags: [] })
    await advanceClock(harness.admin, '89 days')
    const recent = await endedTask()
    const paths = await Promise.all([old, flagged, live, recent].map((id) => folder(`tasks/${id}`, 1_000)))
    await sweep(tasks())
    expect(await left('tasks')).toEqual(paths.toSorted())
    await advanceClock(harness.admin, '2 days')
    await sweep(tasks())
    expect(await left('tasks')).toEqual(paths.filter((path) => !path.includes(old)).sort())
    await advanceClock(harness.admin, '2 hours')
    await updateProject(harness.ctx, harness.ctx.actor.projectId, { settings: { retention_days: { folders: 1 } } })
    await sweep(tasks())
    expect(await left('tasks')).toEqual([`tasks/${flagged}`, `tasks/${live}`].sort())
  })

  it('stay where the data folder belongs to another database', async () => {
    await writeFile(join(dataDir, 'database'), deps.newId())
    const kept = await folder(`tasks/${deps.newId()}`, 1_000)
    await sweep(tasks())
    expect(await left('tasks')).toEqual([kept])
  })

  it('stay where another container, whose process has the same number, is noting another database', async () => {
    const other = deps.newId()
    await writeFile(join(dataDir, 'database'), other)
    await link(join(dataDir, 'database'), join(dataDir, `database.${process.pid}`))
    const kept = await folder(`tasks/${deps.newId()}`, 1_000)
    await sweep(tasks())
    expect(await left('tasks')).toEqual([kept])
    expect(await readFile(join(dataDir, 'database'), 'utf8')).toBe(other)
  })

  it('are judged by many looks at once, of which one notes the database', async () => {
    const id = deps.newId()
    await folder(`tasks/${id}`, 30)
    const answers = await Promise.all(Array.from({ length: 20 }, () => tasks().findOver([id])))
    expect(answers).toEqual(answers.map(() => new Set([id])))
    expect((await readdir(dataDir)).sort()).toEqual(['database', 'tasks'])
  })

  it('are looked at in small steps, and by one process of a data folder at a time', async () => {
    await Promise.all(Array.from({ length: 210 }, () => folder(`tasks/${deps.newId()}`, 30)))
    const looks = new FolderSweep(deps, tasks(), () => place)
    expect(await looks.call(0)).toBe(true)
    expect(await left('tasks')).toHaveLength(10)
    expect(await new FolderSweep(deps, tasks(), () => place).call(0)).toBe(false)
    expect(await left('tasks')).toHaveLength(10)
    while (await looks.call(0));
    expect(await left('tasks')).toEqual([])
  })

  it('are removed before what stays is measured', async () => {
    const kept = await folder(`tasks/${(await makeTask(harness.ctx)).id}`, 1_000)
    await Promise.all(Array.from({ length: 600 }, (_, place) => writeFile(join(dataDir, kept, `${place}.txt`), '')))
    await Promise.all(Array.from({ length: 5 }, () => folder(`tasks/${deps.newId()}`, 30)))
    expect(await new FolderSweep(deps, tasks(), () => place).call(0)).toBe(true)
    expect(await left('tasks')).toEqual([kept])
  })

  it('are measured: what is kept and what was removed', async () => {
    const before = await stored('tasks')
    await folder(`tasks/${(await makeTask(harness.ctx)).id}`, 1_000)
    await folder(`tasks/${deps.newId()}`, 30)
    await folder(`tasks/${deps.newId()}`, 30)
    await sweep(tasks())
    const { kept, swept } = await stored('tasks')
    // A folder, one in it, and a file.
    expect(kept.files - before.kept.files).toBe(3)
    expect(swept.files - before.swept.files).toBe(6)
    expect(kept.bytes - before.kept.bytes).toBeGreaterThanOrEqual(10_000)
    expect(swept.bytes - before.swept.bytes).toBe(2 * (kept.bytes - before.kept.bytes))
    await advanceClock(harness.admin, '2 hours')
    await sweep(tasks())
    expect(await stored('tasks')).toEqual({ kind: 'tasks', kept, swept })
  })
})

describe('folders of attempts', () => {
  it('go when their attempt no longer runs, or their subtask is gone', async () => {
    await spawn(harness.ctx)
    const run = await claimOne(harness.ctx)
    const kept = [
      await folder(`workspaces/${run.id}-${run.attempt}`, 1_000),
      await folder(`workspaces/${deps.newId()}-1`, 20),
      await folder('workspaces/somebody-elses', 1_000),
      await folder('workspaces/.probe-new', 1),
    ]
    await folder(`workspaces/${run.id}-${run.attempt + 1}`, 0)
    await folder(`workspaces/${deps.newId()}-2`, 30)
    await folder('workspaces/.probe-of-a-killed-worker', 30)
    await sweep(attempts())
    expect(await left('workspaces')).toEqual(kept.sort())
    expect(await stored('workspaces')).toMatchObject({ kept: { files: 9 }, swept: { files: 9 } })
  })

  it('stay while a run waits for an answer, until the subtask has ended', async () => {
    const { id } = await spawn(harness.ctx)
    await claimAndWait(id)
    const kept = await folder(`workspaces/${id}-0`, 1_000)
    await sweep(attempts())
    expect(await left('workspaces')).toEqual([kept])
    await cancelSubtask(harness.ctx, id)
    await advanceClock(harness.admin, '10 minutes')
    await sweep(attempts())
    expect(await left('workspaces')).toEqual([])
  })

  it('stay while the end of a run that begins to wait is not stored yet, until the subtask has ended', async () => {
    await spawn(harness.ctx)
    const run = await claimOne(harness.ctx)
    const kept = await folder(`workspaces/${run.id}-0`, 1_000)
    await sweep(attempts())
    expect(await left('workspaces')).toEqual([kept])
    await settleOne(harness.ctx, run)
    await advanceClock(harness.admin, '10 minutes')
    await sweep(attempts())
    expect(await left('workspaces')).toEqual([])
  })

  it('stay if their subtask comes to need them before they are removed', async () => {
    const { id } = await spawn(harness.ctx)
    const kept = await folder(`workspaces/${id}-0`, 1_000)
    const kind = attempts()
    const answers: number[] = []
    await sweep({
      ...kind,
      async findOver(names) {
        const over = await kind.findOver(names)
        if (answers.push(over.size) === 1) await claimAndWait(id)
        return over
      },
    })
    expect(answers).toEqual([1, 0])
    expect(await left('workspaces')).toEqual([kept])
    await cancelSubtask(harness.ctx, id)
  })
})

describe('bodies', () => {
  it('go with what names them, which is counted', async () => {
    await spawn(harness.ctx)
    await settleOne(harness.ctx, await claimOne(harness.ctx), completed('x'.repeat(70_000)))
    await advanceClock(harness.admin, '400 days')
    await applyRetention(harness.deps, 60_000)
    expect(await harness.admin`select id from bodies`).toEqual([])
    expect((await stored('bodies')).swept).toEqual({ files: 1, bytes: 70_000 })
  })
})

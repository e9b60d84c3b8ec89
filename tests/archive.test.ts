import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createArchive, folderStore } from '@muster/archive'
import { advanceClock, claimAll, completed, resetClock, settleOne, spawn } from '@muster/testing'
import { flagQuality } from '@muster/usecases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'

/** So many that each day takes several files of the archive. */
const ROWS_A_DAY = 5_500
const DAYS = 3

let system: System
let folder: string

beforeAll(async () => {
  system = await startSystem({ apis: 0, env: { SUBTASK_MAX_PENDING: '10', SUBTASK_MAX_CONCURRENT: '10' } })
  folder = await mkdtemp(join(tmpdir(), 'muster-archive-'))
})
afterAll(async () => {
  // Not closed: what is checked then needs the events, which are dropped here.
  await resetClock(system.admin)
  await system.abandon()
  await rm(folder, { recursive: true, force: true })
})

const key = (row: { subtask_id: string; seq: number }) => `${row.subtask_id}/${row.seq}`

/** Rows in finished files of the archive, whose checksums are verified on the way. */
async function archived(): Promise<string[]> {
  const archive = createArchive(folderStore(folder))
  const keys: string[] = []
  for await (const entry of archive.entries()) {
    for (const { table, line } of await archive.read(entry)) if (table === 'steps') keys.push(key(JSON.parse(line)))
  }
  return keys
}

async function stored(): Promise<string[]> {
  return (await system.admin<{ subtask_id: string; seq: number }[]>`select subtask_id, seq from steps`).map(key)
}

async function manifests(): Promise<number> {
  const names = await readdir(join(folder, 'steps'), { recursive: true }).catch(() => [])
  return names.filter((name) => name.endsWith('.manifest.json')).length
}

it('goes on with an archive after kill -9 of the worker that writes it: each row is in it once before it is dropped, and what is needed stays', async () => {
  const { ctx, admin } = system
  // One has not ended and no worker takes it, one is flagged, one is past.
  const waiting = await spawn(ctx, { runner: 'external', agentId: 'waiting' })
  for (const agentId of ['flagged', 'past']) await spawn(ctx, { agentId })
  for (const run of await claimAll(ctx, { limit: 10 })) await settleOne(ctx, run, completed('Done.'))
  const rows = await admin<{ id: string; agent_id: string }[]>`select id, agent_id from subtasks where completed_at is not null`
  const flagged = rows.find((row) => row.agent_id === 'flagged')?.id ?? ''
  await flagQuality(ctx, { kind: 'subtask', id: flagged }, { quality: 'good', tags: [] })
  const ids = [waiting.id, flagged, rows.find((row) => row.agent_id === 'past')?.id ?? '']
  await admin`
    insert into steps (project_id, subtask_id, seq, attempt, kind, content, at)
    select ${ctx.actor.projectId}, (${ids}::uuid[])[1 + n % 3], d * 100000 + n, 1, 'message', to_jsonb(repeat(md5(n::text), 60)), muster_now() + make_interval(days => d)
    from generate_series(0, ${DAYS - 1}) d, generate_series(1, ${ROWS_A_DAY}) n`
  const all = (await stored()).sort()
  await advanceClock(admin, '60 days')

  for (const filesBefore of [1, 3]) {
    const worker = system.launchWorker({ ARCHIVE_URL: folder })
    await until(`there are ${filesBefore} files in the archive`, async () => (await manifests()) >= filesBefore)
    await worker.end('SIGKILL')
    const [kept, written] = [await stored(), new Set(await archived())]
    expect(all.filter((row) => !written.has(row) && !kept.includes(row))).toEqual([])
    expect(written.size).toBeLessThan(all.length)
  }

  await system.startWorker({ ARCHIVE_URL: folder })
  const needed = all.filter((row) => !row.startsWith(ids[2] as string))
  await until('what is past has been dropped', async () => (await stored()).length === needed.length)
  expect((await stored()).sort()).toEqual(needed)
  expect((await archived()).sort()).toEqual(all)
}, 60_000)

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createArchive, folderStore } from '@muster/archive'
import { importArchive } from '@muster/db'
import type { Archive } from '@muster/domain'
import { claimOne, completed, drainOutbox, type Harness, makeTask, settleOne, spawn, startHarness } from '@muster/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Ctx, completeTask, createTsg, eraseData, exportData, learnFact, postMessage, rememberEpisodes } from '../index.ts'

let harness: Harness
let folder: string
let archive: Archive

beforeEach(async () => {
  harness = await startHarness()
  folder = await mkdtemp(join(tmpdir(), 'muster-export-'))
  archive = createArchive(folderStore(folder))
})

afterEach(async () => {
  await harness.close()
  await rm(folder, { recursive: true, force: true })
})

/** Work of a session by an agent: a subtask with a step and a fact, a task, a message. */
async function workOf(ctx: Ctx, sessionId: string, agentId: string): Promise<void> {
  await spawn(ctx, { parentSessionId: sessionId, agentId })
  const run = await claimOne(ctx)
  await harness.admin`insert into steps (project_id, subtask_id, seq, attempt, kind, content) values (${run.projectId}, ${run.id}, 1, 1, 'message', '"work"')`
  await settleOne(ctx, run, completed('x'.repeat(70_000)))
  const task = await makeTask(ctx, { parent_session_id: sessionId })
  await completeTask(ctx, task.id, { outputs: {}, summary: 'Done.' })
  await postMessage(ctx, sessionId, { role: 'user', content: 'Hello.' } as never)
  await learnFact({ ...ctx, actor: { ...ctx.actor, agentId } }, { content: `Fact of ${agentId}`, tags: [] } as never)
  await drainOutbox(harness.deps)
  await rememberEpisodes(harness.deps)
}

/** How many rows of each table name a project, and in which a text stands. */
async function rowsWith(projectId: string, text?: string): Promise<Record<string, number>> {
  const tables = await harness.admin<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'audit_log' order by 1`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await harness.admin<{ count: number }[]>`
      select count(*) as count from ${harness.admin(name)} x where x.project_id = ${projectId} and (${text ?? null}::text is null or to_jsonb(x)::text like ${`%${text ?? ''}%`})`
    if ((row?.count ?? 0) > 0) counts[name] = row?.count ?? 0
  }
  return counts
}

describe('erasing', () => {
  it('leaves nothing of a project but its row, and nothing of another project is touched', async () => {
    const other = await harness.projectCtx()
    await workOf(harness.ctx, 's1', 'a1')
    await workOf(other, 's1', 'a1')
    const before = await rowsWith(other.actor.projectId)
    const { erased, remains } = await eraseData(harness.ctx, { kind: 'project' })
    expect(erased).toMatchObject({ subtasks: 1, tasks: 1, session_messages: 1, facts: 1, steps: 1, bodies: 1 })
    expect(remains.join()).toMatch(/the row of the project/)
    expect(await rowsWith(harness.ctx.actor.projectId)).toEqual({})
    expect(await rowsWith(other.actor.projectId)).toEqual(before)
  })

  it('leaves no row that names a session, and what other sessions have', async () => {
    await workOf(harness.ctx, 'session-one', 'a1')
    await workOf(harness.ctx, 'session-two', 'a1')
    const { projectId } = harness.ctx.actor
    const others = await rowsWith(projectId, 'session-two')
    await eraseData(harness.ctx, { kind: 'session', name: 'session-one' })
    expect(await rowsWith(projectId, 'session-one')).toEqual({})
    expect(await rowsWith(projectId, 'session-two')).toEqual(others)
    const [orphans] = await harness.admin<{ evaluations: number; bodies: number; attempts: number; words: number }[]>`
      select (select count(*) from evaluations e where subtask_id is not null and not exists (select from subtasks s where s.id = e.subtask_id)) as evaluations,
        (select count(*) from bodies b where not exists (select from subtasks s where s.result_body_id = b.id)) as bodies,
        (select count(*) from attempts a where not exists (select from subtasks s where s.id = a.subtask_id)) as attempts,
        (select count(*) from episode_words w where not exists (select from subtasks s where s.id = w.subtask_id)) as words`
    expect(orphans).toEqual({ evaluations: 0, bodies: 0, attempts: 0, words: 0 })
  })

  it('takes the subtasks and facts of an agent, and says that tasks remain', async () => {
    await workOf(harness.ctx, 's', 'agent-one')
    const { remains } = await eraseData(harness.ctx, { kind: 'agent', name: 'agent-one' })
    expect(await rowsWith(harness.ctx.actor.projectId, 'agent-one')).toEqual({})
    expect(await rowsWith(harness.ctx.actor.projectId)).toMatchObject({ tasks: 1 })
    expect(remains.join()).toMatch(/tasks/)
  })

  it('is refused while something has not ended, and deletes nothing then', async () => {
    await workOf(harness.ctx, 's', 'a')
    await spawn(harness.ctx, { parentSessionId: 's', agentId: 'a' })
    const before = await rowsWith(harness.ctx.actor.projectId)
    for (const scope of [{ kind: 'project' }, { kind: 'session', name: 's' }, { kind: 'agent', name: 'a' }] as const)
      await expect(eraseData(harness.ctx, scope)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('1 subtasks') })
    expect(await rowsWith(harness.ctx.actor.projectId)).toEqual(before)
  })

  it('needs the scope of an administrator', async () => {
    const reader = harness.as({ ...harness.ctx.actor, scopes: ['subtasks:read'] })
    await expect(eraseData(reader, { kind: 'project' })).rejects.toMatchObject({ code: 'forbidden' })
    await expect(exportData(reader, { kind: 'project' }, archive)).rejects.toMatchObject({ code: 'forbidden' })
  })
})

describe('an export', () => {
  it('of a project can be imported after it was erased, and everything is as it was; a second import changes nothing', async () => {
    await workOf(harness.ctx, 's1', 'a1')
    await workOf(harness.ctx, 's2', 'a2')
    await createTsg(harness.ctx, { tsg_id: 'guide', title: 'Guide', content: 'Do it.', error_patterns: ['x'] } as never).catch(() => undefined)
    await harness.admin`delete from idempotency_keys`
    const { projectId } = harness.ctx.actor
    // The callback of a subtask, which goes with it, and a webhook, which does not.
    await harness.admin`
      insert into receivers (project_id, id, kind, destination_id, url, events, subject_id)
      select project_id, gen_random_uuid(), kind, gen_random_uuid(), 'https://example.com', '{*}', case kind when 'callback' then id end
      from subtasks cross join unnest(array['callback', 'webhook']) as kind where project_id = ${projectId}`
    const before = await rowsWith(projectId)
    const counts = await exportData(harness.ctx, { kind: 'project' }, archive)
    expect(counts).toMatchObject(before)
    await eraseData(harness.ctx, { kind: 'project' })
    const report = await importArchive(harness.database.adminUrl, archive)
    expect(await rowsWith(projectId)).toEqual(before)
    expect(report.inserted).toMatchObject(before)
    const again = await importArchive(harness.database.adminUrl, archive)
    expect(Object.values(again.inserted).every((count) => count === 0)).toBe(true)
    expect(await rowsWith(projectId)).toEqual(before)
  })

  it('of a session has its work, and nothing of another session', async () => {
    await workOf(harness.ctx, 'session-one', 'a1')
    await workOf(harness.ctx, 'session-two', 'a1')
    const counts = await exportData(harness.ctx, { kind: 'session', name: 'session-one' }, archive)
    expect(counts).toMatchObject({ subtasks: 1, tasks: 1, session_messages: 1, steps: 1, inbox: expect.any(Number) })
    expect(counts.events).toBeGreaterThan(3)
    let text = ''
    for await (const entry of archive.entries()) text += (await archive.read(entry)).map(({ line }) => line).join('\n')
    expect(text).not.toContain('session-two')
  })
})

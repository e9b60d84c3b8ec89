import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createArchive, folderStore } from '@muster/archive'
import { importArchive } from '@muster/db'
import type { Archive } from '@muster/domain'
import { claimOne, completed, drain, drainOutbox, type Harness, makeTask, settleOne, spawn, startHarness } from '@muster/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  askAboutSubtask,
  type Ctx,
  cancelSubtask,
  claimInbox,
  completeTask,
  createSchedule,
  createTsg,
  createWebhook,
  deactivateSchedule,
  eraseData,
  exportData,
  learnFact,
  listDeliveries,
  postMessage,
  rememberEpisodes,
  triggerSchedule,
} from '../index.ts'

let harness: Harness
let folder: string
let archive: Archive

beforeEach(async () => {
  harness = await startHarness({ settings: { SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}` } })
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

/** A webhook for all events of a project, or of one subject, agent or session. */
async function webhookOf(ctx: Ctx, only: { subject?: string; agentId?: string; sessionId?: string } = {}): Promise<string> {
  const fields = { url: 'https://example.com/hook', events: ['*'], description: null, subject: null, agentId: null, sessionId: null, isOrdered: false }
  return (await createWebhook(ctx, { ...fields, ...only })).webhook.id
}

/** Work as above, and a subtask with a callback, a webhook of its own and a question, and a schedule with a callback that has fired and ended. All texts have a mark. */
async function markedWorkOf(
  ctx: Ctx,
  sessionId: string,
  agentId: string,
  mark: string,
): Promise<Record<'subtask' | 'run' | 'schedule' | 'question' | 'webhook', string>> {
  await workOf(ctx, sessionId, agentId)
  await postMessage(ctx, sessionId, { role: 'user', content: mark } as never)
  const callback = { url: 'https://example.com/callback' }
  const subtask = await spawn(ctx, { parentSessionId: sessionId, agentId, task: mark, callback })
  const webhook = await webhookOf(ctx, { subject: subtask.id })
  const run = await claimOne(ctx)
  const asked = { kind: 'question', options: null, schema: null, arguments: null, default: null, expiresInSeconds: 3_600, onExpiry: 'continue' } as const
  const question = await askAboutSubtask(ctx, subtask.id, { ...asked, prompt: mark })
  await claimInbox(ctx, sessionId, { limit: 10, ack: 'auto' })
  await settleOne(ctx, run, completed(mark))
  const phrase = { kind: 'every', text: '1 day' } as const
  const schedule = await createSchedule(ctx, { task: mark, phrase, parentSessionId: sessionId, agentId, runner: 'own', callback, metadata: { mark } })
  const scheduled = await triggerSchedule(ctx, schedule.id, () => {})
  await drain(ctx)
  await deactivateSchedule(ctx, schedule.id)
  await drainOutbox(harness.deps)
  await rememberEpisodes(harness.deps)
  return { subtask: subtask.id, run: scheduled.id, schedule: schedule.id, question: question.id, webhook }
}

const evaluationsOf = async (subtasks: readonly string[]) =>
  (await harness.admin<{ id: string }[]>`select id from evaluations where subtask_id = any(${subtasks as string[]}::uuid[])`).map(({ id }) => id)

/** The tables of any schema in which a text stands, but for the audit log, which stays. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await harness.admin<{ schema: string; name: string }[]>`
    select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') and c.relname <> 'audit_log' order by 1, 2`
  const found: string[] = []
  for (const { schema, name } of tables) {
    const rows = await harness.admin`select from ${harness.admin(schema)}.${harness.admin(name)} x where x::text like ${`%${text}%`} limit 1`
    if (rows.length > 0) found.push(`${schema}.${name}`)
  }
  return found
}

/** How many rows of each table an archive has. A row that two things name may be in it twice. */
async function rowsOfArchive(): Promise<Record<string, number>> {
  const lines = new Set<string>()
  for await (const entry of archive.entries()) for (const { table, line } of await archive.read(entry)) lines.add(`${table} ${line}`)
  const counts: Record<string, number> = {}
  for (const line of lines) {
    const table = line.slice(0, line.indexOf(' '))
    counts[table] = (counts[table] ?? 0) + 1
  }
  return counts
}

async function textOfArchive(): Promise<string> {
  let text = ''
  for await (const entry of archive.entries()) text += (await archive.read(entry)).map(({ line }) => line).join('\n')
  return text
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

  it.each(['session', 'agent'] as const)(
    'leaves nothing of a scope (%s): of its ended schedules, its questions, and of what was sent of them',
    async (kind) => {
      await webhookOf(harness.ctx)
      const own = kind === 'agent' ? await webhookOf(harness.ctx, { agentId: 'agent-one' }) : await webhookOf(harness.ctx, { sessionId: 'session-one' })
      const ids = await markedWorkOf(harness.ctx, 'session-one', 'agent-one', 'marked-one')
      const others = await markedWorkOf(harness.ctx, 'session-two', 'agent-two', 'marked-two')
      const evaluations = await evaluationsOf([ids.subtask, ids.run])
      const { projectId } = harness.ctx.actor
      const sent = (await listDeliveries(harness.ctx, null, { limit: 500 })).items
      const subjects = new Set(sent.map(({ subjectId }) => subjectId))
      expect(evaluations).toHaveLength(2)
      for (const id of [ids.subtask, ids.run, ids.schedule, ...evaluations]) expect(subjects).toContain(id)
      expect(await tablesWith('marked-one')).toEqual(expect.arrayContaining(['public.deliveries', 'public.questions', 'public.schedules', 'public.subtasks']))
      const kept = await rowsWith(projectId, 'marked-two')
      const keptNames = await rowsWith(projectId, `${kind}-two`)
      const counts = await exportData(harness.ctx, { kind, name: `${kind}-one` }, archive)
      expect(counts).toMatchObject({ schedules: 1, schedule_slots: expect.any(Number), deliveries: expect.any(Number), questions: 1 })

      const { erased, remains } = await eraseData(harness.ctx, { kind, name: `${kind}-one` })
      expect(await rowsOfArchive()).toEqual(erased)
      // A message belongs to a session.
      expect(await tablesWith('marked-one')).toEqual(kind === 'agent' ? ['public.session_messages'] : [])
      for (const id of [ids.subtask, ids.run, ids.schedule, ids.webhook, own, ...evaluations]) expect(await rowsWith(projectId, id)).toEqual({})
      // The session still has its receipt of the question of an agent.
      expect(await rowsWith(projectId, ids.question)).toEqual(kind === 'agent' ? { inbox: 1 } : {})
      expect(remains.join('; ')).toMatch(kind === 'agent' ? /inbox items by which other sessions.*; tasks with/ : /inbox items by which other sessions/)
      expect(await rowsWith(projectId, 'marked-two')).toEqual(kept)
      expect(await rowsWith(projectId, `${kind}-two`)).toEqual(keptNames)
      for (const id of [others.subtask, others.run, others.schedule]) expect(Object.keys(await rowsWith(projectId, id))).toContain('deliveries')
    },
  )

  it.each(['session', 'agent'] as const)('that is interrupted, wherever it is, leaves nothing of a scope (%s) when it is repeated', async (kind) => {
    await webhookOf(harness.ctx)
    const ids = await markedWorkOf(harness.ctx, 'session-one', 'agent-one', 'marked-one')
    const { projectId } = harness.ctx.actor
    const scope = { kind, name: `${kind}-one` }
    const evaluations = await evaluationsOf([ids.subtask, ids.run])
    await harness.admin`create function interrupt_erasure() returns trigger language plpgsql as $$ begin raise exception 'interrupted'; end $$`
    // In the order in which they are erased; the last one is of the last step.
    for (const table of ['subtasks', ...(kind === 'session' ? ['tasks', 'session_messages'] : []), 'schedules', kind === 'session' ? 'tsg_notices' : 'facts']) {
      await harness.admin`create trigger interrupt before delete on ${harness.admin(table)} for each statement execute function interrupt_erasure()`
      await expect(eraseData(harness.ctx, scope)).rejects.toThrow(/interrupted/)
      await harness.admin`drop trigger interrupt on ${harness.admin(table)}`
    }
    expect(await rowsWith(projectId, ids.schedule)).toEqual({})
    expect(await rowsWith(projectId, `${kind}-one`)).not.toEqual({})
    await eraseData(harness.ctx, scope)
    expect(await rowsWith(projectId, `${kind}-one`)).toEqual({})
    expect(await tablesWith('marked-one')).toEqual(kind === 'agent' ? ['public.session_messages'] : [])
    for (const id of [ids.subtask, ids.run, ids.schedule, ids.webhook, ...evaluations]) expect(await rowsWith(projectId, id)).toEqual({})
    expect((await eraseData(harness.ctx, scope)).erased).toEqual({})
  })

  it('takes events that were not in the log yet', async () => {
    await webhookOf(harness.ctx)
    const { id } = await spawn(harness.ctx, { parentSessionId: 'session-one' })
    await cancelSubtask(harness.ctx, id)
    await eraseData(harness.ctx, { kind: 'session', name: 'session-one' })
    await drainOutbox(harness.deps)
    expect(await rowsWith(harness.ctx.actor.projectId, id)).toEqual({})
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
    expect(await textOfArchive()).not.toContain('session-two')
  })

  it('of an agent has its subtasks, facts and schedules with what was sent of them, and nothing of another agent', async () => {
    await webhookOf(harness.ctx)
    const ids = await markedWorkOf(harness.ctx, 'session-one', 'agent-one', 'marked-one')
    await markedWorkOf(harness.ctx, 'session-two', 'agent-two', 'marked-two')
    const counts = await exportData(harness.ctx, { kind: 'agent', name: 'agent-one' }, archive)
    expect(counts).toMatchObject({ subtasks: 3, facts: 1, schedules: 1, questions: 1, steps: 1 })
    const text = await textOfArchive()
    for (const id of [ids.subtask, ids.run, ids.schedule, ids.question]) expect(text).toContain(id)
    for (const type of ['evaluation.created', 'question.asked', 'schedule.deactivated', 'subtask.completed'])
      expect(text).toMatch(new RegExp(`"body": "\\{\\\\"type\\\\":\\\\"${type.replace('.', '\\.')}`))
    expect(text).not.toMatch(/agent-two|session-two|marked-two/)
  })
})

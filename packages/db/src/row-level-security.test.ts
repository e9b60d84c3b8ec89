import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { advanceClock, drain, drainOutbox, type Harness, makeTask, spawn, startHarness } from '@muster/testing'
import {
  askAboutTask,
  assignTask,
  type Ctx,
  createApiKey,
  createEvaluation,
  createSchedule,
  flagQuality,
  forgetEpisode,
  learnFact,
  putSubagent,
  rememberEpisodes,
  requestChecks,
  steerSubtask,
  takeHookEvent,
  triggerSchedule,
} from '@muster/usecases'
import type postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, injections, maintenance, memory, transaction } from './index.ts'

let harness: Harness
let other: Ctx

beforeAll(async () => {
  harness = await startHarness({ settings: { CHECKS: '{"tests": {"argv": ["true"]}}' } })
  other = await harness.projectCtx()
  for (const ctx of [harness.ctx, other]) {
    const subtask = await spawn(ctx, { parentSessionId: 'parent' })
    await steerSubtask(ctx, subtask.id, { content: 'note', delivery: 'next_step', steerable: () => true })
    await createApiKey(ctx, { name: 'key', scopes: ['subtasks:read'] })
    const schedule = await createSchedule(ctx, { task: 'x', phrase: { kind: 'every', text: '1 hour' }, runner: 'own' })
    await triggerSchedule(ctx, schedule.id, () => {})
    await putSubagent(ctx, 'one', '---\ndescription: x\n---\n\nx')
    await reserveTask(ctx)
    await createEvaluation(ctx, { output: 'evaluated', judge: true })
    await flagQuality(ctx, { kind: 'subtask', id: subtask.id }, { quality: 'good', tags: [] })
    await learnFact(ctx, { content: 'known' })
    const question = { kind: 'question', options: null, schema: null, arguments: null, default: null, onExpiry: 'continue' } as const
    await askAboutTask(ctx, (await makeTask(ctx)).id, { ...question, prompt: 'Which?', expiresInSeconds: 60 })
    await requestChecks(ctx, (await makeTask(ctx, { acceptance_criteria: [{ text: 'All is well', check: 'tests' }] })).id)
  }
  await drain(harness.ctx)
  await drainOutbox(harness.deps)
  await rememberEpisodes(harness.deps)
  const [ended] = await harness.admin<{ id: string }[]>`select subtask_id as id from episode_words where project_id = ${DEFAULT_PROJECT_ID} limit 1`
  await forgetEpisode(harness.ctx, ended?.id ?? '')
})

afterAll(() => harness.close())

/** The row of a call of Claude Code's Agent tool that names a task. */
async function reserveTask(ctx: Ctx): Promise<void> {
  const toolInput = { prompt: `muster-task: ${(await makeTask(ctx)).id}` }
  const call = {
    event: 'PreToolUse',
    sessionId: 'claude',
    agentId: null,
    agentType: null,
    toolName: 'Agent',
    toolInput,
    error: null,
    lastAssistantMessage: null,
  }
  await takeHookEvent(ctx, call, () => true)
}

const TABLES = `
  select c.oid::regclass::text as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced, c.relispartition as is_partition,
    exists (select from pg_attribute a where a.attrelid = c.oid and a.attnotnull and a.attname = case when c.relname = 'projects' then 'id' else 'project_id' end) as has_project
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`

interface Table {
  name: string
  enabled: boolean
  forced: boolean
  is_partition: boolean
  has_project: boolean
}

describe('every table', () => {
  it('belongs to a project and has row-level security enabled and forced, partitions included', async () => {
    const tables = await harness.admin.unsafe<Table[]>(TABLES)
    expect(tables.length).toBeGreaterThan(15)
    expect(tables.filter((table) => !(table.enabled && table.forced && table.has_project))).toEqual([])
  })

  it('has it also in the partitions that are made later', async () => {
    const before = await harness.admin.unsafe<Table[]>(TABLES)
    await harness.admin`select setval('muster_system.event_seq', 5000000)`
    await advanceClock(harness.admin, '40 days')
    await transaction(harness.deps.dispatchDb, null, (tx) => maintenance.ensurePartitions(tx, 30))
    const after = await harness.admin.unsafe<Table[]>(TABLES)
    expect(after.length).toBe(before.length + 6)
    expect(after.filter((table) => !(table.enabled && table.forced))).toEqual([])
    await advanceClock(harness.admin, '-40 days')
  })

  it('is closed to everybody but the roles that work with it', async () => {
    const grants = await harness.admin`
      select grantee, table_name from information_schema.role_table_grants
      where table_schema in ('public', 'muster_system') and grantee not in (select usename from pg_user) and grantee not in ('muster_app', 'muster_dispatch', 'muster_definer')`
    expect(grants).toEqual([])
  })

  it('is read across projects by the role of dispatching only where SECURITY.md says so', async () => {
    const readable = await harness.admin<{ name: string }[]>`
      select c.relname as name from pg_class c
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and has_table_privilege('muster_dispatch', c.oid, 'SELECT') order by 1`
    const security = await readFile(new URL('../../../SECURITY.md', import.meta.url), 'utf8')
    const promised = /`muster_dispatch`, which .* reads (.*) of all of them/
      .exec(security)?.[1]
      ?.split(/, | and /)
      .map((name) => name.trim().replaceAll(' ', '_'))
    expect(promised?.sort()).toEqual(readable.map(({ name }) => name))
  })

  it('shows partitions to nobody directly', async () => {
    const partitions = (await harness.admin.unsafe<Table[]>(TABLES)).filter((table) => table.is_partition)
    for (const { name } of partitions) {
      for (const database of [harness.deps.db, harness.deps.dispatchDb])
        await expect(database.sql.unsafe(`select from ${name}`)).rejects.toThrow(/permission denied/)
    }
  })
})

/** The rows that `muster_app` can read of each table, in a transaction with or without a project. */
async function visible(projectId: string | null): Promise<Record<string, string[]>> {
  return await transaction(harness.deps.db, projectId, async (tx) => {
    const seen: Record<string, string[]> = {}
    for (const table of [
      'subtasks',
      'attempts',
      'updates',
      'inbox',
      'events',
      'api_keys',
      'steps',
      'bodies',
      'idempotency_keys',
      'schedules',
      'schedule_slots',
      'subagents',
      'subagent_versions',
      'hook_reservations',
      'evaluations',
      'judgements',
      'quality_flags',
      'questions',
      'check_runs',
      'facts',
      'forgotten_episodes',
      'episode_words',
    ]) {
      const rows = await tx.sql.unsafe<{ project_id: string }[]>(`select distinct project_id from ${table}`)
      if (rows.length > 0) seen[table] = rows.map((row) => row.project_id)
    }
    const rows = await tx.sql<{ id: string }[]>`select id from projects`
    if (rows.length > 0) seen.projects = rows.map((row) => row.id)
    return seen
  })
}

/** Tries a statement in a transaction of its own. */
function alone(work: (sql: postgres.Sql) => Promise<unknown>): Promise<unknown> {
  return transaction(harness.deps.db, DEFAULT_PROJECT_ID, (tx) => work(tx.sql))
}

describe('muster_app', () => {
  it('sees nothing without a project', async () => {
    expect(await visible(null)).toEqual({})
  })

  it('sees its own project and no other', async () => {
    const [own, others] = [await visible(DEFAULT_PROJECT_ID), await visible(other.actor.projectId)]
    expect(Object.keys(own).sort()).toEqual([
      'api_keys',
      'attempts',
      'check_runs',
      'episode_words',
      'evaluations',
      'events',
      'facts',
      'forgotten_episodes',
      'hook_reservations',
      'inbox',
      'judgements',
      'projects',
      'quality_flags',
      'questions',
      'schedule_slots',
      'schedules',
      'subagent_versions',
      'subagents',
      'subtasks',
      'updates',
    ])
    expect(new Set(Object.values(own).flat())).toEqual(new Set([DEFAULT_PROJECT_ID]))
    expect(new Set(Object.values(others).flat())).toEqual(new Set([other.actor.projectId]))
  })

  it('sees nothing on a connection whose last transaction had a project, committed or rolled back', async () => {
    const single = connect(harness.database.appUrl, { role: 'muster_app', connectionsMax: 1, applicationName: 'test' })
    for (const end of ['commit', 'rollback']) {
      await transaction(single, DEFAULT_PROJECT_ID, async (tx) => {
        expect((await tx.sql`select from subtasks`).length).toBe(2)
        if (end === 'rollback') throw new Error('rolled back')
      }).catch(() => {})
      expect(await single.sql`select current_setting('muster.project_id', true) as left_behind`).toEqual([{ left_behind: '' }])
      expect(await single.sql`select from subtasks`).toHaveLength(0)
    }
    await single.close()
  })

  it('shows the look for what waits its own project alone, and has none after it', async () => {
    const single = connect(harness.database.appUrl, { role: 'muster_app', connectionsMax: 1, applicationName: 'test' })
    await assignTask(harness.ctx, (await makeTask(harness.ctx)).id, 'looked for')
    const look = async (projectId: string) => (await injections.findWaiting(single, projectId, 'looked for')).taskUpdates
    // Also if the statement was prepared and planned in the other project.
    for (let round = 1; round <= 3; round += 1) expect(await Promise.all([look(DEFAULT_PROJECT_ID), look(other.actor.projectId)])).toEqual([true, false])
    expect(await single.sql`select current_setting('muster.project_id', true) as left_behind`).toEqual([{ left_behind: '' }])
    await single.close()
  })

  it('can neither write into another project nor move its rows there', async () => {
    await transaction(harness.deps.db, DEFAULT_PROJECT_ID, async (tx) => {
      await expect(
        alone(
          (sql) => sql`insert into inbox (project_id, id, session_id, subtask_id) values (${other.actor.projectId}, ${randomUUID()}, 'x', ${randomUUID()})`,
        ),
      ).rejects.toThrow(/row-level security/)
      await expect(alone((sql) => sql`update inbox set project_id = ${other.actor.projectId}`)).rejects.toThrow(/row-level security/)
      expect(await tx.sql`update subtasks set task = 'mine' where project_id = ${other.actor.projectId} returning 1`).toHaveLength(0)
      expect(await tx.sql`delete from api_keys where project_id = ${other.actor.projectId} returning 1`).toHaveLength(0)
      expect(await tx.sql`update schedules set task = 'mine' where project_id = ${other.actor.projectId} returning 1`).toHaveLength(0)
      expect(await tx.sql`delete from subagents where project_id = ${other.actor.projectId} returning 1`).toHaveLength(0)
      await expect(alone((sql) => sql`update subagents set project_id = ${other.actor.projectId}`)).rejects.toThrow(/row-level security/)
      // No role rewrites the definition of a run.
      for (const statement of ['delete from subagent_versions', 'update subagent_versions set version = 2'])
        await expect(alone((sql) => sql.unsafe(statement))).rejects.toThrow(/permission denied/)
      for (const table of ['schedules', 'schedule_slots']) {
        await expect(alone((sql) => sql`update ${sql(table)} set project_id = ${other.actor.projectId}`)).rejects.toThrow(/row-level security/)
        await expect(alone((sql) => sql`delete from ${sql(table)}`)).rejects.toThrow(/permission denied/)
      }
    })
  })

  it('can neither write into the memory of another project nor rewrite its own, nor read the words that it is found by', async () => {
    const theirs = other.actor.projectId
    await transaction(harness.deps.db, DEFAULT_PROJECT_ID, async (tx) => {
      await expect(
        alone(
          (sql) => sql`insert into facts (project_id, id, content, tags, author_kind, author_id) values (${theirs}, ${randomUUID()}, 'x', '{}', 'key', 'k')`,
        ),
      ).rejects.toThrow(/row-level security/)
      await expect(alone((sql) => sql`insert into forgotten_episodes (project_id, subtask_id) values (${theirs}, ${randomUUID()})`)).rejects.toThrow(
        /row-level security/,
      )
      for (const table of ['facts', 'episode_words'])
        expect(await tx.sql`delete from ${tx.sql(table)} where project_id = ${theirs} returning 1`).toHaveLength(0)
      for (const statement of [
        "update facts set content = 'x'",
        'delete from forgotten_episodes',
        'select search from episode_words',
        "insert into episode_words values (gen_random_uuid(), gen_random_uuid(), 'x', '')",
        'select from muster_memory',
        'select muster_remember_episodes(1)',
      ])
        await expect(alone((sql) => sql.unsafe(statement))).rejects.toThrow(/permission denied/)
    })
  })

  it('searches the memory of the project of its transaction, and without one finds nothing', async () => {
    const query = { wanted: 'known', words: ['known'], without: '', kind: null, agentId: null, limit: 10 }
    const search = (projectId: string | null) => transaction(harness.deps.db, projectId, (tx) => memory.searchMemory(tx, query))
    const [own, theirs] = [await search(DEFAULT_PROJECT_ID), await search(other.actor.projectId)]
    expect([own.length, theirs.length, await search(null)]).toEqual([1, 1, []])
    expect(own[0]?.id).not.toBe(theirs[0]?.id)
  })

  it('can neither rewrite a verdict, nor take back what was said of quality, nor say it in another project', async () => {
    const theirs = other.actor.projectId
    await transaction(harness.deps.db, DEFAULT_PROJECT_ID, async (tx) => {
      for (const statement of ['update evaluations set score = 1', 'delete from evaluations', 'delete from judgements', 'delete from quality_flags'])
        await expect(alone((sql) => sql.unsafe(statement))).rejects.toThrow(/permission denied/)
      await expect(
        alone(
          (sql) => sql`
            insert into quality_flags (project_id, subject_kind, subject_id, quality, tags, author_kind, author_id)
            values (${theirs}, 'task', ${randomUUID()}, 'bad', '{}', 'key', 'k')`,
        ),
      ).rejects.toThrow(/row-level security/)
      for (const table of ['judgements', 'quality_flags']) {
        expect(await tx.sql`update ${tx.sql(table)} set created_at = now() where project_id = ${theirs} returning 1`).toHaveLength(0)
        await expect(alone((sql) => sql`update ${sql(table)} set project_id = ${theirs}`)).rejects.toThrow(/row-level security/)
      }
    })
  })

  it('can neither forge the log nor read what is on its way there', async () => {
    for (const statement of [
      'delete from events',
      "update events set type = 'x'",
      'insert into events default values',
      'select from outbox',
      'delete from outbox',
    ]) {
      await expect(alone((sql) => sql.unsafe(statement))).rejects.toThrow(/permission denied/)
    }
  })

  it('cannot become a role that sees more', async () => {
    const superuser = decodeURIComponent(new URL(harness.database.adminUrl).username)
    for (const role of [superuser, 'muster_definer', 'pg_read_all_data']) {
      await expect(harness.deps.db.sql.unsafe(`set role "${role}"`)).rejects.toThrow(/permission denied/)
      await expect(harness.deps.db.sql.unsafe(`set session authorization "${role}"`)).rejects.toThrow(/permission denied/)
    }
    for (const statement of [
      'set row_security = off; select from subtasks',
      'alter table subtasks disable row level security',
      'drop policy project on subtasks',
    ]) {
      await expect(harness.deps.db.sql.unsafe(statement)).rejects.toThrow(/row-level security|must be owner/)
    }
  })

  it('is nothing but the login itself after a reset, and that sees nothing', async () => {
    await harness.deps.db.sql.begin(async (sql) => {
      await sql`set local role none`
      for (const table of ['subtasks', 'api_keys', 'events', 'projects']) {
        await expect(sql.savepoint((inner) => inner.unsafe(`select from ${table}`))).rejects.toThrow(/permission denied/)
      }
    })
  })
})

describe('muster_dispatch', () => {
  it('sees the tables of dispatching across projects, and no others', async () => {
    const { sql } = harness.deps.dispatchDb
    for (const table of ['subtasks', 'schedules', 'schedule_slots', 'questions', 'check_runs']) {
      expect((await sql<{ project_id: string }[]>`select distinct project_id from ${sql(table)}`).length).toBe(2)
    }
    for (const table of ['schedules', 'schedule_slots']) await expect(sql`update ${sql(table)} set agent_id = 'mine'`).rejects.toThrow(/permission denied/)
    await expect(sql`update questions set status = 'withdrawn'`).rejects.toThrow(/permission denied/)
    // It claims checks, and neither reads what they printed nor gives their verdicts.
    for (const statement of [
      'select output from check_runs',
      'select exit_code from check_runs',
      "update check_runs set output = ''",
      'update check_runs set ended_at = now()',
    ])
      await expect(sql.unsafe(statement)).rejects.toThrow(/permission denied/)
    for (const table of [
      'api_keys',
      'updates',
      'inbox',
      'steps',
      'bodies',
      'projects',
      'subagents',
      'subagent_versions',
      'evaluations',
      'judgements',
      'quality_flags',
      'facts',
      'episode_words',
      'forgotten_episodes',
    ]) {
      await expect(sql.unsafe(`select from ${table}`)).rejects.toThrow(/permission denied/)
    }
    await expect(sql`delete from subtasks`).rejects.toThrow(/permission denied/)
  })
})

describe('functions that look across projects', () => {
  it('belong to a role of their own and pin their search path', async () => {
    const functions = await harness.admin<{ name: string; owner: string; config: string[] | null }[]>`
      select proname as name, proowner::regrole::text as owner, proconfig as config from pg_proc
      where pronamespace = 'public'::regnamespace and prosecdef order by 1`
    expect(functions.map((each) => each.name)).toEqual([
      'muster_add_up_bytes',
      'muster_analyze',
      'muster_delete_audit',
      'muster_drop_partition',
      'muster_due_partitions',
      'muster_early_projects',
      'muster_ensure_partitions',
      'muster_expired',
      'muster_expired_rows',
      'muster_find_api_key',
      'muster_find_assignment_credential',
      'muster_find_browser_session',
      'muster_find_subtask_credential',
      'muster_find_tasks',
      'muster_forget_ended_runs',
      'muster_note_archived',
      'muster_outbound_allow',
      'muster_outlived_tasks',
      'muster_partition_rows',
      'muster_remember_episodes',
      'muster_remove_events',
      'muster_search_memory',
      'muster_search_tasks',
      'muster_search_tsgs',
      'muster_take',
      'muster_take_scope',
    ])
    for (const { config } of functions) expect(config?.find((entry) => entry.startsWith('search_path='))).toMatch(/pg_temp$/)
    const lookers = functions.filter(({ name }) => /^muster_(find|search)/.test(name))
    expect(new Set(lookers.map(({ owner }) => owner))).toEqual(new Set(['muster_definer']))
  })

  it('are closed to everybody else', async () => {
    const open = await harness.admin`
      select proname from pg_proc where pronamespace = 'public'::regnamespace and prosecdef and has_function_privilege('public', oid, 'execute')`
    expect(open).toEqual([])
  })
})

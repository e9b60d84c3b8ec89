import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type BriefFields, DomainError } from '@muster/domain'
import { allEvents, drainOutbox, type Harness, invariants, makeTask, startHarness } from '@muster/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTask, getTask, listTaskRevisions, validateTask } from '../index.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
})

afterEach(async () => {
  await drainOutbox(harness.deps)
  expect(await invariants(harness.admin)).toEqual([])
})

afterAll(() => harness.close())

/** [EN] 7.2 */
const GOOD: BriefFields = {
  description: 'Implement JWT token authentication',
  priority: 'high',
  background_context: `
        Current OAuth2 implementation uses deprecated token format.
        Users report intermittent login failures after 2 hours.
    `,
  expected_deliverables: ['Updated authentication handler in src/auth/handler.py', 'JWT token validation function with expiry handling'],
  success_criteria: ['All existing integration tests pass without modification', 'Authentication latency remains under 100ms p95'],
  constraints: ['Do not modify src/auth/legacy.py - used by payment service', 'No database schema changes allowed in this sprint'],
  relevant_files: ['src/auth/handler.py', 'requirements.txt'],
  related_documentation: ['https://jwt.io/introduction', 'docs/oauth2-migration-guide.md'],
}

async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  const outcome = await work.catch((error: unknown) => error)
  if (outcome instanceof DomainError) return outcome
  throw new Error('was not refused', { cause: outcome })
}

async function countTasks(): Promise<number> {
  const [row] = await harness.admin<{ count: number }[]>`select count(*)::int as count from tasks`
  return row?.count ?? 0
}

describe('creating a task', () => {
  it('stores every field, and announces it in the same commit', async () => {
    const waitedFor = await makeTask(harness.ctx)
    const made = await createTask(harness.ctx, {
      ...GOOD,
      acceptance_criteria: [' Tokens expire ', '', 'Tokens expire'],
      required_outputs: ['handler', { name: 'report', schema: { type: 'object' } }],
      parent_session_id: 'chat-1',
      client_cwd: '/somewhere',
      depends_on: [waitedFor.id],
      review: 'manual',
      metadata: { ticket: 7 },
    })
    expect(await getTask(harness.ctx, made.id)).toEqual(made)
    expect(made).toMatchObject({
      title: 'Implement JWT token authentication',
      instructions: 'Implement JWT token authentication',
      status: 'blocked',
      blockedBy: [waitedFor.id],
      dependsOn: [waitedFor.id],
      revision: 1,
      priority: 'high',
      requiredOutputs: [
        { name: 'handler', description: null, schema: null },
        { name: 'report', description: null, schema: { type: 'object' } },
      ],
      parentSessionId: 'chat-1',
      subagentSessionId: null,
      clientCwd: '/somewhere',
      review: 'manual',
      metadata: { ticket: 7 },
    })
    expect(made.criteria.map(({ text, source }) => [source, text])).toEqual([
      ['acceptance', 'Tokens expire'],
      ['success', 'All existing integration tests pass without modification'],
      ['success', 'Authentication latency remains under 100ms p95'],
      ['constraint', 'Do not modify src/auth/legacy.py - used by payment service'],
      ['constraint', 'No database schema changes allowed in this sprint'],
    ])
    await drainOutbox(harness.deps)
    expect((await allEvents(harness.ctx, made.id)).map((event) => event.type)).toEqual(['task.created', 'task.blocked'])
    expect((await listTaskRevisions(harness.ctx, made.id, { limit: 5 })).items).toMatchObject([
      { revision: 1, diff: null, fields: expect.arrayContaining(['description', 'success_criteria']), author: { kind: 'open' } },
    ])
  })

  it('makes a folder of its own for it, and leaves none where nothing came about', async () => {
    const made = await makeTask(harness.ctx)
    expect(made.workspace).toBe(join(harness.deps.settings.DATA_DIR, 'tasks', made.id))
    expect((await stat(made.workspace as string)).isDirectory()).toBe(true)

    const folders = () => readdir(join(harness.deps.settings.DATA_DIR, 'tasks'))
    const before = await folders()
    await refusalOf(createTask(harness.ctx, { description: 'Fix bug' }))
    const crashing = { ...harness.ctx, db: { ...harness.ctx.db, sql: harness.ctx.db.sql }, newId: () => made.id }
    await expect(makeTask(crashing)).rejects.toThrow()
    expect((await folders()).filter((name) => name !== made.id)).toEqual(before.filter((name) => name !== made.id))
  })

  it('refuses with every problem at once, those of the door among them, and with the warnings', async () => {
    const before = await countTasks()
    const missing = harness.deps.newId()
    const error = await refusalOf(
      createTask(harness.ctx, { description: 'Fix bug', priority: 'P9', success_criteria: ['It works'], expected_deliverables: ['x'.repeat(201)] }, [
        { pointer: '/other', field: 'other', reason: 'is not a field' },
      ]),
    )
    expect(error.code).toBe('validation_failed')
    expect(error.details.errors?.map(({ pointer }) => pointer).sort()).toEqual(['/description', '/expected_deliverables/0', '/other', '/priority'])
    expect(error.details.warnings).toContainEqual(
      expect.objectContaining({ field: 'success_criteria[0]', message: expect.stringContaining('not be measurable') }),
    )
    const unknown = await refusalOf(makeTask(harness.ctx, { tsgs: ['no-such-guide'], depends_on: [missing] }))
    expect(unknown.details.errors).toEqual([
      { pointer: '/tsgs/0', field: 'tsgs[0]', reason: expect.stringContaining('no such'), value: 'no-such-guide' },
      { pointer: '/depends_on/0', field: 'depends_on[0]', reason: expect.stringContaining('no such'), value: missing },
    ])
    expect(await countTasks()).toBe(before)
  })

  it('is not for a sub-agent', async () => {
    const lineage = { subtaskId: null, taskId: harness.deps.newId(), sessionId: 's', depth: 1 as const }
    const own = harness.as({ ...harness.ctx.actor, lineage })
    for (const work of [() => makeTask(own), () => validateTask(own, GOOD)]) expect((await refusalOf(work())).code).toBe('spawn_blocked')
    expect((await refusalOf(makeTask(harness.as({ ...harness.ctx.actor, scopes: ['tasks:read'] })))).code).toBe('forbidden')
  })
})

describe('validating', () => {
  it('judges as creating does, and stores nothing', async () => {
    const before = await countTasks()
    const { cleaned, warnings } = await validateTask(harness.ctx, GOOD)
    expect(cleaned).toMatchObject({ title: 'Implement JWT token authentication', priority: 'high' })
    expect(cleaned.context?.validation_warnings).toEqual(warnings.map(({ message }) => message))
    expect((await refusalOf(validateTask(harness.ctx, { description: 'Fix bug' }))).details.errors).toMatchObject([{ field: 'description' }])
    expect((await refusalOf(validateTask(harness.ctx, { ...GOOD, tsgs: ['none'] }))).details.errors).toMatchObject([{ pointer: '/tsgs/0' }])
    expect(await countTasks()).toBe(before)
  })

  it('warns of nothing in the good example: neither when its files are there, nor when no folder may be looked into, as at a plain start', async () => {
    const root = join(harness.deps.settings.DATA_DIR, 'client')
    for (const file of ['src/auth/handler.py', 'requirements.txt', 'docs/oauth2-migration-guide.md']) {
      await mkdir(dirname(join(root, file)), { recursive: true })
      await writeFile(join(root, file), '')
    }
    const ctx = { ...harness.ctx, settings: { ...harness.ctx.settings, WORKSPACE_ROOTS: [root] } }
    expect((await validateTask(ctx, { ...GOOD, client_cwd: root })).warnings).toEqual([])
    expect((await validateTask(ctx, GOOD)).warnings).toEqual([])
    expect((await validateTask(harness.ctx, { ...GOOD, client_cwd: root })).warnings).toEqual([])
  })
})

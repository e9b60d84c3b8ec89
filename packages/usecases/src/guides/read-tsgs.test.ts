import { subtaskSessionId } from '@muster/domain'
import { allEvents, drainOutbox, type Harness, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Ctx, createTsg, deleteTsg, getTsg, getTsgUsage, listTsgs, recordTsgFeedback, updateTsg } from '../index.ts'
import type { TsgQuery } from './read-tsgs.ts'

let harness: Harness
let other: Ctx
beforeAll(async () => {
  harness = await startHarness()
  other = await harness.projectCtx()
  const guides = [
    {
      tsgId: 'port',
      title: 'The port is in use',
      content: 'Find the process.',
      patterns: ['EADDRINUSE'],
      severity: 'high' as const,
      technologies: ['Node', 'linux'],
    },
    {
      tsgId: 'disk',
      title: 'No space left',
      content: 'Remove old images.',
      patterns: ['ENOSPC', 'no space left on device'],
      technologies: ['docker', 'linux'],
    },
    {
      tsgId: 'tls',
      title: 'Certificates',
      content: 'Look at the clock, then at the port.',
      patterns: ['CERT_HAS_EXPIRED'],
      severity: 'high' as const,
      technologies: [],
    },
    { tsgId: 'oom', title: 'Out of memory', content: 'Give it more.', patterns: ['heap out of memory'], technologies: ['node'] },
  ]
  for (const { technologies, ...guide } of guides) await createTsg(harness.ctx, { ...guide, applicability: { technologies } })
  await createTsg(other, { tsgId: 'port', title: 'Theirs', content: 'Theirs.', patterns: ['EADDRINUSE'] })
})
afterAll(() => harness.close())

const list = async (query: Partial<TsgQuery> = {}, ctx = harness.ctx) => await listTsgs(ctx, { limit: 50, ...query })
const ids = async (query: Partial<TsgQuery> = {}, ctx = harness.ctx) => (await list(query, ctx)).items.map(({ tsgId }) => tsgId)

async function refuses(code: string, calls: Promise<unknown>[]): Promise<void> {
  const ends = await Promise.allSettled(calls)
  expect(ends.map((end) => (end.status === 'rejected' ? (end.reason as { code?: string }).code : 'not refused'))).toEqual(calls.map(() => code))
}

describe('the list of guides', () => {
  it('shows the newest first', async () => {
    expect(await ids()).toEqual(['oom', 'tls', 'disk', 'port'])
  })

  it.each([
    [{ q: 'port' }, ['tls', 'port']],
    [{ q: 'ENOSPC' }, ['disk']],
    [{ q: 'enospc' }, ['disk']],
    [{ q: 'space images' }, ['disk']],
    [{ q: 'oom' }, ['oom']],
    [{ q: 'port', severity: 'high', technology: 'NODE' }, ['port']],
    [{ q: 'nothing of this' }, []],
    [{ q: '& | ! ( "' }, []],
    [{ severity: 'high' }, ['tls', 'port']],
    [{ technology: 'node' }, ['oom', 'port']],
    [{ technology: 'linux', severity: 'medium' }, ['disk']],
  ] as [Partial<TsgQuery>, string[]][])('filters by %o', async (query, expected) => {
    expect(await ids(query)).toEqual(expected)
  })

  it.each([{}, { q: 'port OR space OR memory OR clock' }])('pages without a gap and without a repetition, with %o', async (query) => {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await list({ ...query, limit: 1, cursor })
      seen.push(...page.items.map(({ tsgId }) => tsgId))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(['oom', 'tls', 'disk', 'port'])
  })

  it('pages also through guides of the same moment', async () => {
    const crowd = await harness.projectCtx('crowd')
    await harness.admin`
      insert into tsgs (project_id, tsg_id, title, content, patterns, created_at) select ${crowd.actor.projectId}, 'g-' || n, 'x', 'x', '{x}', now() from generate_series(1, 5) as n`
    const first = await list({ limit: 3 }, crowd)
    expect([...first.items.map(({ tsgId }) => tsgId), ...(await ids({ cursor: first.nextCursor ?? undefined }, crowd))]).toEqual([
      'g-5',
      'g-4',
      'g-3',
      'g-2',
      'g-1',
    ])
  })

  it('finds nothing of another project, by whatever it is searched', async () => {
    expect(await ids({}, other)).toEqual(['port'])
    expect(await ids({ q: 'EADDRINUSE' }, other)).toEqual(['port'])
    expect(await ids({ q: 'ENOSPC' }, other)).toEqual([])
    expect((await list({ q: 'EADDRINUSE' }, other)).items[0]?.title).toBe('Theirs')
    expect((await getTsg(other, 'port')).title).toBe('Theirs')
    await refuses('not_found', [
      getTsg(other, 'disk'),
      getTsgUsage(other, 'disk'),
      updateTsg(other, 'disk', { title: 'x' }),
      deleteTsg(other, 'disk', { force: true }),
      recordTsgFeedback(other, 'disk', { resolved: true }),
    ])
  })

  it.each(['nonsense', '-port', '1-', '99999999999999-port', '1-Port'])('refuses the cursor %s', async (cursor) => {
    await expect(list({ cursor })).rejects.toMatchObject({ code: 'cursor_invalid' })
  })
})

describe('the figures of a guide', () => {
  const NOTHING = { surfaced: 0, read: 0, resolved: 0, unresolved: 0 }

  it('count it as read in the name of a session, and not otherwise', async () => {
    await getTsg(harness.ctx, 'tls')
    expect(await getTsgUsage(harness.ctx, 'tls')).toEqual(NOTHING)
    await getTsg(harness.ctx, 'tls', { sessionId: 'chat' })
    expect(await getTsgUsage(harness.ctx, 'tls')).toEqual({ ...NOTHING, read: 1 })
  })

  it('count who was helped and who was not, and announce the help', async () => {
    expect(await recordTsgFeedback(harness.ctx, 'oom', { resolved: true, sessionId: 'chat' })).toEqual({ tsgId: 'oom', usage: { ...NOTHING, resolved: 1 } })
    expect(await recordTsgFeedback(harness.ctx, 'oom', { resolved: false })).toEqual({ tsgId: 'oom', usage: { ...NOTHING, resolved: 1, unresolved: 1 } })
    await drainOutbox(harness.deps)
    expect(await allEvents(harness.ctx, 'oom')).toMatchObject([
      { type: 'tsg.resolved', subject: { kind: 'tsg', id: 'oom' }, data: { tsg_id: 'oom', title: 'Out of memory', session_id: 'chat', task_id: null } },
    ])
    expect(await allEvents(other, 'oom')).toEqual([])
  })

  it('count a subtask in its own session, whatever it says', async () => {
    const subtaskId = harness.deps.newId()
    const sessionId = subtaskSessionId(subtaskId)
    const lineage = { subtaskId, taskId: null, sessionId, depth: 1 as const }
    const subtask = harness.as({ ...harness.ctx.actor, kind: 'subtask', id: subtaskId, scopes: ['tsgs:read'], lineage })
    await getTsg(subtask, 'disk')
    await recordTsgFeedback(subtask, 'disk', { resolved: true, sessionId: 'of-somebody-else' })
    const rows = await harness.admin`select kind, session_id from tsg_uses where tsg_id = 'disk' order by id`
    expect(rows).toEqual([
      { kind: 'read', session_id: sessionId },
      { kind: 'resolved', session_id: sessionId },
    ])
    await expect(updateTsg(subtask, 'disk', { title: 'Mine' })).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('are of guides that exist', async () => {
    await refuses('not_found', [
      getTsg(harness.ctx, 'unknown', { sessionId: 'chat' }),
      getTsgUsage(harness.ctx, 'unknown'),
      recordTsgFeedback(harness.ctx, 'unknown', { resolved: true }),
    ])
    expect(await harness.admin`select from tsg_uses where tsg_id = 'unknown'`).toHaveLength(0)
  })

  it('need the scope to read', async () => {
    const nobody = harness.as({ ...harness.ctx.actor, scopes: ['tsgs:write'] })
    await refuses('forbidden', [
      getTsg(nobody, 'oom'),
      listTsgs(nobody, { limit: 5 }),
      getTsgUsage(nobody, 'oom'),
      recordTsgFeedback(nobody, 'oom', { resolved: true }),
    ])
  })
})

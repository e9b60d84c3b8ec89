import { type Tx, transaction, tsgNotices } from '@muster/db'
import { allEvents, claimOne, drainOutbox, type Harness, settleOne, spawn, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildPrompt, type Ctx, createTsg, deleteTsg, getTsgUsage, recordTsgFeedback, scanTsgs, updateTsg } from '../index.ts'
import type { TsgContent } from './change-tsgs.ts'
import { findMatchingTsgs, surfaceTsgs } from './surface-tsgs.ts'

let harness: Harness
let ctx: Ctx
beforeAll(async () => {
  harness = await startHarness()
  ctx = harness.ctx
})
afterAll(() => harness.close())

const create = (tsgId: string, patterns: string[], more: Partial<TsgContent> = {}, as = ctx) =>
  createTsg(as, { tsgId, title: `About ${tsgId}`, content: 'x', patterns, ...more })
const scan = async (errorMessage: string, more: { context?: string; sessionId?: string } = {}, as = ctx) =>
  (await scanTsgs(as, { errorMessage, ...more })).map(({ tsgId }) => tsgId)
const within = <T>(work: (tx: Tx) => Promise<T>, as = ctx) => transaction(harness.deps.db, as.actor.projectId, work)
const surface = (sessionId: string, texts: string[]) =>
  within((tx) => surfaceTsgs(ctx, tx, { projectId: ctx.actor.projectId, actor: ctx.actor, sessionId }, texts))
const take = (sessionId: string) => within((tx) => tsgNotices.takeTsgNotices(tx, ctx.actor.projectId, sessionId))

describe('a scan', () => {
  it('finds the guides that know the error or what happened around it, best first', async () => {
    await create('short', ['refused'])
    await create('long', ['connection refused'])
    await create('worst', ['refused'], { severity: 'critical' })
    await create('around', ['ssh: connect'], { severity: 'low' })
    await create('unrelated', ['ENOSPC'])
    const items = await scanTsgs(ctx, { errorMessage: 'Connection refused', context: 'ssh: connect to host' })
    expect(items).toMatchObject([
      { tsgId: 'worst', title: 'About worst', severity: 'critical', pattern: 'refused', successRate: null },
      { tsgId: 'long', pattern: 'connection refused' },
      { tsgId: 'short' },
      { tsgId: 'around' },
    ])
    expect(await scan('all is well')).toEqual([])
  })

  it('puts first what has helped more often, where nothing else tells', async () => {
    for (const id of ['tie-a', 'tie-b', 'tie-c']) await create(id, ['tie broken'])
    await recordTsgFeedback(ctx, 'tie-b', { resolved: true })
    await recordTsgFeedback(ctx, 'tie-a', { resolved: false })
    const items = await scanTsgs(ctx, { errorMessage: 'a tie broken' })
    expect(items.map(({ tsgId, successRate }) => [tsgId, successRate])).toEqual([
      ['tie-b', 1],
      ['tie-c', null],
      ['tie-a', 0],
    ])
  })

  it('shows the twenty best', async () => {
    const crowd = await harness.projectCtx('crowd')
    for (let place = 0; place < 25; place += 1) await create(`g-${place}`, ['crowded'], { severity: place === 24 ? 'high' : 'low' }, crowd)
    const found = await scan('it is crowded', {}, crowd)
    expect([found.length, found[0]]).toEqual([20, 'g-24'])
  })

  it('counts what it brought up each time, and once in a session', async () => {
    await create('counted', ['to be counted'])
    for (let time = 0; time < 2; time += 1) await scan('to be counted')
    for (let time = 0; time < 3; time += 1) expect(await scan('to be counted', { sessionId: 'counting' })).toEqual(['counted'])
    expect(await getTsgUsage(ctx, 'counted')).toMatchObject({ surfaced: 3 })
    await drainOutbox(harness.deps)
    const events = await allEvents(ctx, 'counted')
    expect(events.map(({ type, data }) => [type, data.session_id])).toEqual([
      ['tsg.surfaced', null],
      ['tsg.surfaced', null],
      ['tsg.surfaced', 'counting'],
    ])
    expect(events[0]).toMatchObject({ subject: { kind: 'tsg', id: 'counted' }, data: { title: 'About counted', matched_pattern: 'to be counted' } })
  })

  it('leaves the session a notice, once', async () => {
    await create('noticed', ['to be noticed'])
    await scan('to be noticed', { sessionId: 'a' })
    expect(await take('a')).toEqual([{ tsgId: 'noticed', title: 'About noticed', matchedPattern: 'to be noticed' }])
    expect(await take('a')).toEqual([])
    await scan('to be noticed', { sessionId: 'a' })
    expect(await take('a')).toEqual([])
    expect(await take('b')).toEqual([])
  })

  it('by a sub-agent leaves its own session the notice', async () => {
    const lineage = { subtaskId: null, taskId: harness.deps.newId(), sessionId: 'own', depth: 1 as const }
    const agent = harness.as({ ...ctx.actor, kind: 'session', scopes: ['tsgs:read'], lineage })
    await create('own-error', ['my own error'])
    await scan('my own error', { sessionId: 'of-somebody-else' }, agent)
    expect(await take('of-somebody-else')).toEqual([])
    expect(await take('own')).toHaveLength(1)
  })

  it('needs the scope to read', async () => {
    await expect(scan('x', {}, harness.as({ ...ctx.actor, scopes: ['tsgs:write'] }))).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('looks at the guides of its own project', async () => {
    const other = await harness.projectCtx('apart')
    await create('theirs', ['something apart'], {}, other)
    expect(await scan('something apart')).toEqual([])
    expect(await scan('something apart', {}, other)).toEqual(['theirs'])
    await create('mine', ['something apart'])
    expect(await scan('something apart')).toEqual(['mine'])
    expect(await scan('something apart', {}, other)).toEqual(['theirs'])
  })

  it('is not held up by a catastrophic expression', async () => {
    const own = await harness.projectCtx('catastrophe')
    await create('evil', ['(a+)+$', '(a|aa)+c', '([ab](?s:.){200}){4}[XY]'], { match: 'regex' }, own)
    await create('good', ['a!'], {}, own)
    for (let time = 0; time < 5; time += 1) expect(await scan(`${'ab01 '.repeat(20_000)}a!`, {}, own)).toEqual(['good'])
  })
})

describe('what a scan knows of guides', () => {
  it('is what they are, at once after every change', async () => {
    const own = await harness.projectCtx('changing')
    expect(await scan('first', {}, own)).toEqual([])
    await create('g', ['first'], {}, own)
    expect(await scan('first', {}, own)).toEqual(['g'])
    await updateTsg(own, 'g', { patterns: ['sec.nd'], match: 'regex' })
    expect(await scan('first', {}, own)).toEqual([])
    expect(await scan('second', {}, own)).toEqual(['g'])
    await updateTsg(own, 'g', { title: 'Another title' })
    expect((await scanTsgs(own, { errorMessage: 'second' }))[0]?.title).toBe('Another title')
    await deleteTsg(own, 'g', { force: false })
    expect(await scan('second', {}, own)).toEqual([])
  })

  it('is never older than what was committed, whoever writes at the same time', async () => {
    const own = await harness.projectCtx('racing')
    const committed = [0, 0, 0, 0]
    const write = async (writer: number) => {
      await create(`g-${writer}`, ['racing'], { title: '0' }, own)
      for (let turn = 1; turn <= 10; turn += 1) {
        await updateTsg(own, `g-${writer}`, { title: String(turn) })
        committed[writer] = turn
      }
    }
    const read = async () => {
      while (committed.some((turn) => turn < 10)) {
        const sure = [...committed]
        const seen = new Map((await match(own, 'racing')).map(({ tsgId, title }) => [tsgId, Number(title)]))
        for (const [writer, turn] of sure.entries()) if (turn > 0) expect(seen.get(`g-${writer}`)).toBeGreaterThanOrEqual(turn)
      }
    }
    await Promise.all([...committed.keys()].map(write).concat([read(), read()]))
    expect((await match(own, 'racing')).map(({ title }) => title)).toEqual(['10', '10', '10', '10'])
  })

  it('is asked for by one look at a number, once they are known', async () => {
    const own = await harness.projectCtx('quiet')
    await create('g', ['nothing like it'], {}, own)
    const statements: string[] = []
    await within(async (tx) => {
      await findMatchingTsgs(own, tx, own.actor.projectId, ['text'])
      await findMatchingTsgs(own, { ...tx, sql: noting(tx.sql, statements) } as Tx, own.actor.projectId, ['text'])
    }, own)
    expect(statements).toEqual([expect.stringContaining('tsg_revision')])
  })
})

const match = (own: Ctx, text: string) => within((tx) => findMatchingTsgs(own, tx, own.actor.projectId, [text]), own)

/** The same connection, which also notes what it is asked. */
function noting(sql: Tx['sql'], statements: string[]): Tx['sql'] {
  return new Proxy(sql, {
    apply(target, thisArgument, args: [TemplateStringsArray]) {
      statements.push(args[0].join('?'))
      return Reflect.apply(target, thisArgument, args)
    },
  })
}

describe('what is said in a session', () => {
  it('brings up guides, best first of those that came together, and each once a session', async () => {
    await create('said-low', ['it was said'], { severity: 'low' })
    await create('said-high', ['was said'], { severity: 'high' })
    await create('said-later', ['once more'])
    await surface('talk', ['It was said', 'and nothing else'])
    await surface('talk', ['it was said once more'])
    expect((await take('talk')).map(({ tsgId }) => tsgId)).toEqual(['said-high', 'said-low', 'said-later'])
    await surface('talk', ['it was said once more'])
    expect(await take('talk')).toEqual([])
    await surface('other talk', ['it was said'])
    expect(await take('other talk')).toHaveLength(2)
    expect(await getTsgUsage(ctx, 'said-low')).toMatchObject({ surfaced: 2 })
  })

  it('leaves nothing behind with the transaction that it was in', async () => {
    await create('undone', ['to be undone'])
    const undone = within(async (tx) => {
      await surfaceTsgs(ctx, tx, { projectId: ctx.actor.projectId, actor: ctx.actor, sessionId: 'undone' }, ['to be undone'])
      throw new Error('rolled back')
    })
    await expect(undone).rejects.toThrow('rolled back')
    expect(await take('undone')).toEqual([])
    expect(await getTsgUsage(ctx, 'undone')).toMatchObject({ surfaced: 0 })
  })

  it('is told once, whoever says and whoever takes at the same time', async () => {
    const ids = Array.from({ length: 8 }, (_, place) => `parallel-${place}`)
    for (const id of ids) await create(id, ['all at once'])
    const taken: string[] = []
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        await surface('parallel', ['all at once'])
        taken.push(...(await take('parallel')).map(({ tsgId }) => tsgId))
      }),
    )
    expect(taken.sort()).toEqual(ids)
    for (const id of ids) expect(await getTsgUsage(ctx, id)).toMatchObject({ surfaced: 1 })
  })

  it('is not told of a guide that has been deleted meanwhile', async () => {
    await create('deleted', ['to be deleted'])
    await surface('late', ['to be deleted'])
    await deleteTsg(ctx, 'deleted', { force: false })
    expect(await take('late')).toEqual([])
  })

  it('asks nothing where nothing was said', async () => {
    const statements: string[] = []
    await within((tx) =>
      surfaceTsgs(ctx, { ...tx, sql: noting(tx.sql, statements) } as Tx, { projectId: ctx.actor.projectId, actor: ctx.actor, sessionId: 's' }, []),
    )
    expect(statements).toEqual([])
  })
})

describe('a failed attempt', () => {
  it('has the next one find in its brief which guides know the failure, once', async () => {
    await create('of-attempts', ['cannot bind'])
    await spawn(ctx, { maxAttempts: 3 })
    const fail = async (error: string) => {
      const run = await claimOne(ctx)
      const { text } = await buildPrompt(ctx, run)
      await settleOne(ctx, run, { kind: 'errored', error, retryable: true, partialResult: null })
      return text
    }
    const notice = '[Troubleshooting Guide Available: "About of-attempts"]\nMatched pattern: "cannot bind"\nUse read_tsg("of-attempts") for resolution steps.'
    expect(await fail('It cannot bind the port.')).not.toContain('Guide')
    expect((await fail('It cannot bind the port.')).endsWith(`\n\n${notice}`)).toBe(true)
    expect(await fail('It cannot bind the port.')).not.toContain('Guide')
    expect(await getTsgUsage(ctx, 'of-attempts')).toMatchObject({ surfaced: 1 })
  })

  it('keeps them from an attempt that somebody else has taken over since', async () => {
    await create('of-current-attempts', ['cannot listen'])
    await spawn(ctx, { maxAttempts: 5 })
    await settleOne(ctx, await claimOne(ctx), { kind: 'errored', error: 'It cannot listen.', retryable: true, partialResult: null })
    const lost = await claimOne(ctx)
    await settleOne(ctx, lost, { kind: 'lost', ranMs: 0, lostMs: 0 })
    const current = await claimOne(ctx)
    expect((await buildPrompt(ctx, lost)).text).not.toContain('Guide')
    expect((await buildPrompt(ctx, current)).text).toContain('read_tsg("of-current-attempts")')
  })
})

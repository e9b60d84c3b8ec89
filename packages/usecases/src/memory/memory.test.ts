import { randomUUID } from 'node:crypto'
import { claimOne, completed, drainOutbox, type Harness, settleOne, spawn, startHarness } from '@muster/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authenticate,
  type Ctx,
  cancelSubtask,
  deleteFact,
  forgetEpisode,
  getEpisode,
  getFact,
  getSubtask,
  learnFact,
  rememberEpisodes,
  searchMemory,
} from '../index.ts'

let harness: Harness
let ctx: Ctx
beforeAll(async () => {
  harness = await startHarness()
  ctx = harness.ctx
})
afterAll(() => harness.close())

/** A subtask that has ended, taken into memory. */
async function episode(task: string, result: string | null, own: Ctx = ctx, agentId = 'default') {
  const { id } = await spawn(own, { task, agentId, runner: 'external' })
  if (result === null) await cancelSubtask(own, id)
  else await settleOne(own, await claimOne(own, { runners: ['external'], projectId: own.actor.projectId }), completed(result))
  await remember()
  return id
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'resolved',
    (error: { code?: string }) => error.code ?? String(error),
  )
}

/** Takes in what the log has. One pass ends after its share of a second, however much is left. */
async function remember() {
  await drainOutbox(harness.deps)
  const hasMore = async () => (await harness.admin`select from events where seq > (select read_seq from muster_system.memory) limit 1`).length > 0
  do await rememberEpisodes(harness.deps)
  while (await hasMore())
}

const idsOf = (found: Awaited<ReturnType<typeof searchMemory>>) => found.map((each) => (each.kind === 'fact' ? each.fact.id : each.episode.id))
const search = async (q: string, more: Partial<Parameters<typeof searchMemory>[1]> = {}, as = ctx) => idsOf(await searchMemory(as, { q, limit: 20, ...more }))
const learn = (content: string, as = ctx) => learnFact(as, { content })

/** The credential of a subtask that runs. */
async function running(own = ctx, agentId = 'worker') {
  const { id } = await spawn(own, { task: 'learn', agentId, runner: 'external' })
  const run = await claimOne(own, { runners: ['external'], projectId: own.actor.projectId })
  return { id, run, ctx: { ...own, actor: await authenticate(own, run.credential) } }
}

describe('a fact', () => {
  it('is found as soon as it is kept, and read by its id', async () => {
    const fact = await learnFact(ctx, { content: 'The staging database listens on port 6543.', tags: ['staging', 'staging'] })
    expect(fact).toMatchObject({ tags: ['staging'], agentId: null, sourceSubtaskId: null, author: { kind: 'open', id: 'open' } })
    expect(await search('staging 6543')).toEqual([fact.id])
    expect(await getFact(ctx, fact.id)).toEqual(fact)
  })

  it('comes from the subtask that says it, whatever it says of that itself, and is seen by its parent at once', async () => {
    const source = await running(ctx, 'scholar')
    const fact = await learnFact(source.ctx, { content: 'Okapi are shy.', sourceSubtaskId: randomUUID() })
    expect(fact).toMatchObject({ agentId: 'scholar', sourceSubtaskId: source.id, author: { kind: 'subtask', id: source.id } })
    expect(await search('okapi')).toEqual([fact.id])
    await settleOne(ctx, source.run)
  })

  it('has the agent of the subtask that it is said to come from, which has to be one of the project', async () => {
    const id = await episode('count', 'one, two, three', ctx, 'counter')
    expect(await learnFact(ctx, { content: 'x', sourceSubtaskId: id })).toMatchObject({ agentId: 'counter', sourceSubtaskId: id })
    expect(await codeOf(learnFact(ctx, { content: 'x', sourceSubtaskId: randomUUID() }))).toBe('validation_failed')
    const other = await harness.projectCtx('facts of others')
    expect(await codeOf(learnFact(other, { content: 'x', sourceSubtaskId: id }))).toBe('validation_failed')
  })

  it('is gone when it is deleted, however often', async () => {
    const { id } = await learn('Ephemeral knowledge.')
    await deleteFact(ctx, id)
    await deleteFact(ctx, id)
    expect(await search('ephemeral')).toEqual([])
    expect(await codeOf(getFact(ctx, id))).toBe('not_found')
  })
})

describe('an episode', () => {
  it('is a subtask that has ended, found by its task, its result and its summary, and read whole', async () => {
    const id = await episode('Look for the walrus.', `It sleeps on the pier. ${'x'.repeat(3_000)}`)
    for (const q of ['walrus', 'pier', 'walrus pier']) expect(await search(q)).toEqual([id])
    const [found] = await searchMemory(ctx, { q: 'walrus', limit: 20 })
    expect(found).toMatchObject({ kind: 'episode', truncated: true, episode: { id, task: 'Look for the walrus.', outcome: 'completed' } })
    const whole = await getEpisode(ctx, id)
    expect(whole.result).toHaveLength(3_023)
    expect(whole).toMatchObject({ agentId: 'default', outcome: 'completed', resultTruncated: false, completedAt: (await getSubtask(ctx, id)).completedAt })
  })

  it('is found by the beginning of a result that is kept apart, whatever the width of its characters', async () => {
    const ids = [await episode('long', `narwhal ${'ä€𝄞'.repeat(10_000)}`), await episode('long', `${'€'.repeat(30_000)} narwhal`)]
    expect(await search('narwhal')).toEqual([ids[0]])
    const [found] = await searchMemory(ctx, { q: 'narwhal', limit: 1 })
    expect(found).toMatchObject({ truncated: true, episode: { result: expect.stringMatching(/^narwhal (?:ä€𝄞)+ä?€?…$/u) } })
  })

  it('is there once its end is in the log, and not while it runs', async () => {
    const { run, id } = await running()
    await remember()
    expect(await codeOf(getEpisode(ctx, id))).toBe('not_found')
    await settleOne(ctx, run, completed('The quetzal was seen.'))
    await remember()
    expect(await search('quetzal')).toEqual([id])
  })

  it('may also be one that was cancelled', async () => {
    const id = await episode('Look for the axolotl.', null)
    expect(await searchMemory(ctx, { q: 'axolotl', limit: 20 })).toMatchObject([{ episode: { id, outcome: 'cancelled', result: null } }])
  })

  it('is not brought up again once it is forgotten, while its subtask stays', async () => {
    const id = await episode('Look for the ibex.', 'On the rock.')
    await forgetEpisode(ctx, id)
    await forgetEpisode(ctx, id)
    expect(await search('ibex')).toEqual([])
    expect(await codeOf(getEpisode(ctx, id))).toBe('not_found')
    expect((await getSubtask(ctx, id)).result).toBe('On the rock.')
    expect(await harness.admin`select from episode_words where subtask_id = ${id}`).toHaveLength(0)
  })

  it('is not brought up where it was forgotten before its words were kept', async () => {
    const { run, id } = await running()
    expect(await codeOf(forgetEpisode(ctx, id))).toBe('not_found')
    await settleOne(ctx, run, completed('The gnu has gone.'))
    await forgetEpisode(ctx, id)
    await remember()
    expect(await search('gnu')).toEqual([])
  })
})

describe('a search', () => {
  it('puts first what speaks of it most closely, and the newest first among equals', async () => {
    const first = await learn('The heron and, after a long while and many other birds, the lake.')
    const second = await learn('The heron lake.')
    const third = await learn('The heron lake.')
    expect(await search('heron lake')).toEqual([third.id, second.id, first.id])
    expect(await search('heron lake', { limit: 1 })).toEqual([third.id])
  })

  it('has scores between 0 and 1, and falling', async () => {
    const scores = (await searchMemory(ctx, { q: 'heron lake', limit: 20 })).map(({ score }) => score)
    expect(scores).toEqual(scores.toSorted((one, other) => other - one))
    for (const score of scores) expect(score > 0 && score < 1).toBe(true)
  })

  it('finds what has some of the words where nothing has all, by those that few have', async () => {
    const project = await harness.projectCtx('birds')
    const target = await learn('The kookaburra nests in the old mill.', project)
    await harness.admin`
      insert into facts (project_id, id, content, tags, author_kind, author_id)
      select ${project.actor.projectId}, gen_random_uuid(), 'where does the nothing go ' || n, '{}', 'key', 'k' from generate_series(1, 300) as n`
    expect(await search('where does the kookaburra go at night', {}, project)).toEqual([target.id])
    // Where there are none but common words, they have to do.
    expect(await search('where does unheardof', { limit: 5 }, project)).toHaveLength(5)
    expect(await search('kookaburra unheardof -mill', {}, project)).toEqual([])
  })

  it('keeps to a kind and to an agent', async () => {
    const fact = await learn('The puffin dives.')
    const id = await episode('Look for the puffin.', 'It dives.', ctx, 'diver')
    expect(new Set(await search('puffin'))).toEqual(new Set([fact.id, id]))
    expect(await search('puffin', { kind: 'fact' })).toEqual([fact.id])
    expect(await search('puffin', { kind: 'episode' })).toEqual([id])
    expect(await search('puffin', { agentId: 'diver' })).toEqual([id])
    const bound = { ...ctx, actor: { ...ctx.actor, agentId: 'diver' } }
    expect(await search('puffin', { agentId: 'default' }, bound)).toEqual([id])
  })

  it('finds nothing of another project', async () => {
    const other = await harness.projectCtx('other memory')
    const fact = await learn('The pangolin is ours.')
    const id = await episode('Look for the pangolin.', 'Found.')
    expect(await search('pangolin', {}, other)).toEqual([])
    expect(await codeOf(getFact(other, fact.id))).toBe('not_found')
    expect(await codeOf(getEpisode(other, id))).toBe('not_found')
    await deleteFact(other, fact.id)
    expect(await codeOf(forgetEpisode(other, id))).toBe('not_found')
    expect(new Set(await search('pangolin'))).toEqual(new Set([fact.id, id]))
  })

  it('takes any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }), async (q) => {
        await searchMemory(ctx, { q: q.replaceAll('\0', ' ').toWellFormed(), limit: 5 })
      }),
      { numRuns: 100 },
    )
    for (const q of [
      "'",
      '\\',
      '&|!<->()',
      ':*',
      '-',
      '--x',
      '""',
      '"',
      'or',
      'OR or',
      '%',
      '𝄞',
      '日本語の質問',
      'a:1b',
      "it's \\'quoted\\'",
      'x'.repeat(3_000),
    ])
      expect(await search(q)).toBeInstanceOf(Array)
  })

  it('parts the words of facts and of episodes by the same signs', async () => {
    const signs = Array.from({ length: 128 }, (_, code) => `one${String.fromCharCode(code)}two`).slice(1)
    const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 200 }), 300).map((text) => text.replaceAll('\0', ' ').toWellFormed())
    const differing = await harness.admin`
      select words from unnest(${[...signs, ...texts]}::text[]) as words
      where muster_words(words) <> to_tsvector('simple', translate(words, '!"#$%&''()*+,-./:;<=>?@[\\]^_\`{|}~', repeat(' ', 32)))`
    expect(differing).toEqual([])
    const [row] = await harness.admin`select count(*) filter (where muster_words(words) @@ 'two')::int as apart from unnest(${signs}::text[]) as words`
    // 32 signs and 33 blanks and characters of control; not the letters and the digits.
    expect(row).toEqual({ apart: 65 })
  })

  it('finds a name by its parts, by parts that follow each other, and whole', async () => {
    const { id } = await learn('See src/parser/lexer.ts and foo-bar.baz_qux; ask joe@example.com about https://wiki.test/a-b?c=d#e, 1.22.3 and `--dry-run`.')
    const parts = ['lexer', 'parser', 'lexer.ts', 'parser/lexer', 'src/parser/lexer.ts', '"parser/lexer.ts"', 'bar', 'baz', 'qux', 'foo-bar', 'bar.baz_qux']
    const others = ['example', 'joe', 'joe@example.com', 'wiki.test', 'a-b', '22', '1.22', '1.22.3', 'dry-run', '--dry-run', 'PARSER/Lexer']
    for (const q of [...parts, ...others]) expect([q, await search(q)]).toEqual([q, [id]])
    for (const q of ['lex', 'lexer/parser', 'lexer -src/parser/lexer.ts', '"lexer parser"']) expect([q, await search(q, { limit: 1 })]).not.toEqual([q, [id]])
  })

  it('finds an episode by the parts of its names, also one that was taken in when names were whole', async () => {
    const old = await episode('Mend apps/web/hydrator.tsx.', 'Mended.')
    const forgotten = await episode('Mend apps/web/dehydrator.tsx.', 'Mended.')
    expect(await search('hydrator')).toEqual([old])
    await forgetEpisode(ctx, forgotten)
    await harness.admin`update episode_words set search = to_tsvector('simple', 'Mend apps/web/hydrator.tsx. Mended.') where subtask_id = ${old}`
    await harness.admin`update muster_system.memory set is_renewed = false, renewed_project = null, renewed_subtask = null`
    expect(await search('hydrator')).toEqual([])
    await remember()
    expect(await search('hydrator')).toEqual([old])
    expect(await search('dehydrator')).toEqual([])
    expect(await harness.admin`select is_renewed from muster_system.memory`).toEqual([{ is_renewed: true }])
    const later = await episode('Mend apps/web/renderer.tsx.', 'Mended.')
    expect(await search('renderer')).toEqual([later])
  })

  it('finds old episodes by the parts of their names also while new ones keep ending', async () => {
    const old = await episode('Mend apps/web/prefetcher.tsx.', 'Mended.')
    await harness.admin`update episode_words set search = to_tsvector('simple', 'Mend apps/web/prefetcher.tsx. Mended.') where subtask_id = ${old}`
    await harness.admin`update muster_system.memory set is_renewed = false, renewed_project = null, renewed_subtask = null`
    expect(await search('prefetcher')).toEqual([])
    // There is something in the log at every look.
    const later = await episode('Mend apps/web/postfetcher.tsx.', 'Mended.')
    expect(await search('postfetcher')).toEqual([later])
    expect(await search('prefetcher')).toEqual([old])
  })

  it('finds words of any script, where blanks or commas part them', async () => {
    const { id } = await learn('Ключ лежит под ковриком, 鍵は玄関, Öl!')
    for (const q of ['ключ', 'КОВРИКОМ', '鍵は玄関', 'öl']) expect(await search(q)).toEqual([id])
  })
})

describe("a subtask's own credential", () => {
  it('learns, and searches all of its project, but takes nothing back', async () => {
    const fact = await learn('The tapir is old news.')
    const id = await episode('Look for the tapir.', 'Found.', ctx, 'somebody else')
    const own = await running()
    expect(new Set(await search('tapir', {}, own.ctx))).toEqual(new Set([fact.id, id]))
    expect(await search('tapir', { agentId: 'somebody else' }, own.ctx)).toEqual([id])
    expect((await getEpisode(own.ctx, id)).result).toBe('Found.')
    expect(await codeOf(deleteFact(own.ctx, fact.id))).toBe('forbidden')
    expect(await codeOf(forgetEpisode(own.ctx, id))).toBe('forbidden')
    await settleOne(ctx, own.run)
  })
})

describe('taking ends into memory', () => {
  it('misses none and takes each once, with several at it at once', async () => {
    const project = await harness.projectCtx('many')
    const ids: string[] = []
    for (let nth = 0; nth < 60; nth += 1) ids.push((await spawn(project, { task: `marmot ${nth}`, agentId: `a${nth}` })).id)
    await Promise.all(ids.map((id) => cancelSubtask(project, id)))
    await drainOutbox(harness.deps)
    await Promise.all([1, 2, 3].map(() => rememberEpisodes(harness.deps)))
    await remember()
    expect(new Set(await search('marmot', { limit: 100 }, project))).toEqual(new Set(ids))
    const [row] = await harness.admin<{ count: number }[]>`select count(*)::int as count from episode_words where project_id = ${project.actor.projectId}`
    expect(row?.count).toBe(60)
  })

  it('is not held up by a body that is no text', async () => {
    const id = await episode('Look for the caracal.', 'x'.repeat(70_000))
    await harness.admin`delete from episode_words where subtask_id = ${id}`
    await harness.admin`update bodies set bytes = '\\xff00fe' where id = (select result_body_id from subtasks where id = ${id})`
    await harness.admin`update muster_system.memory set read_seq = 0`
    await remember()
    expect(await search('caracal', { kind: 'episode' })).toEqual([id])
  })
})

import { transaction, tsgs } from '@muster/db'
import { type Harness, startHarness, waitUntilBlocked } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTsg, deleteTsg, getTsg, putTsg, updateTsg } from '../index.ts'
import type { TsgContent } from './change-tsgs.ts'

let harness: Harness
let projectId: string
beforeAll(async () => {
  harness = await startHarness()
  projectId = harness.ctx.actor.projectId
})
afterAll(() => harness.close())

const CONTENT: TsgContent = { title: 'The port is in use', content: 'Find out who has it.', patterns: ['EADDRINUSE'] }
const create = (input: Partial<Parameters<typeof createTsg>[1]> = {}) => createTsg(harness.ctx, { ...CONTENT, ...input })
const revision = async () => (await harness.admin<{ tsg_revision: number }[]>`select tsg_revision from projects`)[0]?.tsg_revision

const make = (tsgId: string) => createTsg(harness.ctx, { tsgId, title: tsgId, content: 'x', patterns: ['x'] })
const link = (tsgId: string, taskId = harness.deps.newId()) => transaction(harness.deps.db, projectId, (tx) => tsgs.linkTsg(tx, projectId, taskId, tsgId))
const remove = (tsgId: string, force = false) => deleteTsg(harness.ctx, tsgId, { force })
const links = (tsgId: string) => harness.admin`select from task_tsgs where tsg_id = ${tsgId}`

/** A transaction that does something and then stays open until it is told to end. */
function held<T>(work: (tx: Parameters<Parameters<typeof transaction>[2]>[0]) => Promise<T>): { done: Promise<T>; began: Promise<T>; end: () => void } {
  const end = Promise.withResolvers<void>()
  const began = Promise.withResolvers<T>()
  const done = transaction(harness.deps.db, projectId, async (tx) => {
    const result = await work(tx)
    began.resolve(result)
    await end.promise
    return result
  })
  return { done, began: began.promise, end: end.resolve }
}

describe('a new guide', () => {
  it('has an id from its title, and what was left out filled in', async () => {
    const tsg = await create()
    expect(tsg).toMatchObject({ ...CONTENT, tsgId: 'the-port-is-in-use', match: 'substring', severity: 'medium', applicability: { technologies: [] } })
    expect(tsg.updatedAt.getTime()).toBeGreaterThanOrEqual(tsg.createdAt.getTime())
    expect(await getTsg(harness.ctx, tsg.tsgId)).toEqual(tsg)
  })

  it('gets a number where another has its title, and all of them are stored, also at once', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => create({ title: '同じ題名' })))
    const ids = made.map(({ tsgId }) => tsgId)
    expect(new Set(ids).size).toBe(12)
    expect(ids).toEqual(expect.arrayContaining(['guide', 'guide-2', 'guide-9']))
    expect(ids.every((id) => /^guide(-[0-9a-f]{12}|-\d)?$/.test(id))).toBe(true)
  })

  it('is refused where the id that it was given is taken', async () => {
    await create({ tsgId: 'taken' })
    await expect(create({ tsgId: 'taken', title: 'Another' })).rejects.toMatchObject({ code: 'conflict', details: { tsg_id: 'taken' } })
    expect((await getTsg(harness.ctx, 'taken')).title).toBe(CONTENT.title)
  })

  it('keeps each pattern and technology once, in their order', async () => {
    const tsg = await create({ tsgId: 'twice', patterns: ['b', 'a', 'b'], applicability: { technologies: ['Node', 'npm', 'NODE'] } })
    expect(tsg.patterns).toEqual(['b', 'a'])
    expect(tsg.applicability.technologies).toHaveLength(2)
  })

  it('is refused with every pattern that is none named', async () => {
    await expect(create({ tsgId: 'bad', match: 'regex', patterns: ['(', 'fine', '.*'] })).rejects.toMatchObject({
      code: 'validation_failed',
      details: {
        errors: [
          { pointer: '/patterns/0', value: '(' },
          { pointer: '/patterns/2', value: '.*' },
        ],
      },
    })
    await expect(getTsg(harness.ctx, 'bad')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('needs the scope to write', async () => {
    const reader = harness.as({ ...harness.ctx.actor, scopes: ['tsgs:read'] })
    await expect(createTsg(reader, CONTENT)).rejects.toMatchObject({ code: 'forbidden', details: { required_scope: 'tsgs:write' } })
    await expect(updateTsg(reader, 'twice', {})).rejects.toMatchObject({ code: 'forbidden' })
    await expect(putTsg(reader, 'twice', CONTENT)).rejects.toMatchObject({ code: 'forbidden' })
  })
})

describe('a change of a guide', () => {
  it('leaves what it does not name', async () => {
    const before = await create({ tsgId: 'changed', severity: 'high', applicability: { technologies: ['node'] } })
    const after = await updateTsg(harness.ctx, 'changed', { content: 'Ask for another.', title: undefined })
    expect(after).toMatchObject({ ...before, content: 'Ask for another.', updatedAt: expect.any(Date) })
    expect(after.updatedAt.getTime()).toBeGreaterThanOrEqual(before.updatedAt.getTime())
    expect(await updateTsg(harness.ctx, 'changed', {})).toEqual(after)
  })

  it('holds the patterns that are there against a new kind of matching', async () => {
    await create({ tsgId: 'kind', patterns: ['fine', '(not an expression'] })
    await expect(updateTsg(harness.ctx, 'kind', { match: 'regex' })).rejects.toMatchObject({
      code: 'validation_failed',
      details: { errors: [{ pointer: '/patterns/1' }] },
    })
    expect((await updateTsg(harness.ctx, 'kind', { match: 'regex', patterns: ['fine'] })).match).toBe('regex')
  })

  it('is a new number for the project, and one that fails is none', async () => {
    const before = (await revision()) as number
    await create({ tsgId: 'counted' })
    await updateTsg(harness.ctx, 'counted', { severity: 'low' })
    await putTsg(harness.ctx, 'counted', CONTENT)
    await expect(create({ tsgId: 'counted' })).rejects.toThrow()
    await expect(updateTsg(harness.ctx, 'unknown', { title: 'x' })).rejects.toMatchObject({ code: 'not_found' })
    expect(await revision()).toBe(before + 3)
  })

  it('loses nothing when several are made at once', async () => {
    await create({ tsgId: 'raced' })
    await Promise.all([
      updateTsg(harness.ctx, 'raced', { title: 'T' }),
      updateTsg(harness.ctx, 'raced', { content: 'C' }),
      updateTsg(harness.ctx, 'raced', { patterns: ['P'] }),
    ])
    expect(await getTsg(harness.ctx, 'raced')).toMatchObject({ title: 'T', content: 'C', patterns: ['P'] })
  })
})

describe('a guide that is put', () => {
  it('is new the first time, and takes the place of what is there the next', async () => {
    const first = await putTsg(harness.ctx, 'put', { ...CONTENT, severity: 'critical' })
    expect(first).toMatchObject({ created: true, tsg: { tsgId: 'put', severity: 'critical' } })
    const second = await putTsg(harness.ctx, 'put', CONTENT)
    expect(second).toMatchObject({ created: false, tsg: { severity: 'medium', createdAt: first.tsg.createdAt } })
  })
})

describe('deleting a guide', () => {
  it('is final, once', async () => {
    await make('free')
    await remove('free')
    await expect(getTsg(harness.ctx, 'free')).rejects.toMatchObject({ code: 'not_found' })
    await expect(remove('free')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is refused while tasks have it, naming some, unless it is forced', async () => {
    await make('linked')
    const taskId = harness.deps.newId()
    await link('linked', taskId)
    await expect(remove('linked')).rejects.toMatchObject({ code: 'tsg_in_use', details: { task_ids: [taskId] } })
    expect(await links('linked')).toHaveLength(1)
    await remove('linked', true)
    expect(await links('linked')).toHaveLength(0)
    await expect(getTsg(harness.ctx, 'linked')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('waits for a link that is being made, and then sees it', async () => {
    await make('raced-by-a-link')
    const linking = held(async (tx) => {
      await tsgs.lockTsgs(tx, projectId, ['raced-by-a-link'])
      return await tsgs.linkTsg(tx, projectId, harness.deps.newId(), 'raced-by-a-link')
    })
    await linking.began
    const deleting = remove('raced-by-a-link')
    deleting.catch(() => {})
    await waitUntilBlocked(harness.admin, 1)
    linking.end()
    await linking.done
    await expect(deleting).rejects.toMatchObject({ code: 'tsg_in_use' })
  })

  it('is waited for by a link, which then finds no guide', async () => {
    await make('gone')
    const deleting = held(async (tx) => {
      await tsgs.lockTsg(tx, projectId, 'gone')
      await tsgs.deleteTsg(tx, projectId, 'gone')
    })
    await deleting.began
    const locking = transaction(harness.deps.db, projectId, (tx) => tsgs.lockTsgs(tx, projectId, ['gone']))
    await waitUntilBlocked(harness.admin, 1)
    deleting.end()
    await deleting.done
    expect(await locking).toEqual([])
  })

  it('does not keep others from editing while it is only being linked', async () => {
    await make('edited')
    const linking = held((tx) => tsgs.lockTsgs(tx, projectId, ['edited']))
    await linking.began
    await transaction(harness.deps.db, projectId, (tx) => tsgs.replaceTsg(tx, projectId, { ...tsg('edited'), title: 'New' }))
    linking.end()
    await linking.done
    expect((await getTsg(harness.ctx, 'edited')).title).toBe('New')
  })

  it('needs the scope to write', async () => {
    await expect(deleteTsg(harness.as({ ...harness.ctx.actor, scopes: ['tsgs:read'] }), 'edited', { force: true })).rejects.toMatchObject({ code: 'forbidden' })
  })
})

function tsg(tsgId: string): tsgs.TsgRow {
  return { tsgId, title: tsgId, content: 'x', patterns: ['x'], match: 'substring', severity: 'low', applicability: { technologies: [] } }
}

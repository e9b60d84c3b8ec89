import { transaction, tsgs } from '@muster/db'
import { type Harness, startHarness, waitUntilBlocked } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTsg, deleteTsg, getTsg } from '../index.ts'

let harness: Harness
let projectId: string
beforeAll(async () => {
  harness = await startHarness()
  projectId = harness.ctx.actor.projectId
})
afterAll(() => harness.close())

const create = (tsgId: string) => createTsg(harness.ctx, { tsgId, title: tsgId, content: 'x', patterns: ['x'] })
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

describe('deleting a guide', () => {
  it('is final, once', async () => {
    await create('free')
    await remove('free')
    await expect(getTsg(harness.ctx, 'free')).rejects.toMatchObject({ code: 'not_found' })
    await expect(remove('free')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is refused while tasks have it, naming some, unless it is forced', async () => {
    await create('linked')
    const taskId = harness.deps.newId()
    await link('linked', taskId)
    await expect(remove('linked')).rejects.toMatchObject({ code: 'tsg_in_use', details: { task_ids: [taskId] } })
    expect(await links('linked')).toHaveLength(1)
    await remove('linked', true)
    expect(await links('linked')).toHaveLength(0)
    await expect(getTsg(harness.ctx, 'linked')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('waits for a link that is being made, and then sees it', async () => {
    await create('raced')
    const linking = held(async (tx) => {
      await tsgs.lockTsgs(tx, projectId, ['raced'])
      return await tsgs.linkTsg(tx, projectId, harness.deps.newId(), 'raced')
    })
    await linking.began
    const deleting = remove('raced')
    deleting.catch(() => {})
    await waitUntilBlocked(harness.admin, 1)
    linking.end()
    await linking.done
    await expect(deleting).rejects.toMatchObject({ code: 'tsg_in_use' })
  })

  it('is waited for by a link, which then finds no guide', async () => {
    await create('gone')
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
    await create('edited')
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

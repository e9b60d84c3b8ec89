import { type Notice, type Tx, transaction } from '@muster/db'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { type Harness, startHarness } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createNotifier, installQueues, type Notifier, runCall } from './index.ts'

let harness: Harness
/** The notifier of another process. */
let far: Notifier

beforeAll(async () => {
  harness = await startHarness()
  far = createNotifier(harness.deps.dispatchDb, (error) => {
    throw error
  })
})

afterAll(() => harness.close())

describe('a notification', () => {
  it('brings every payload to every listener, in few notifications', async () => {
    const received: string[][] = []
    const unlisten = await far.listen('cancel', (payloads) => received.push(payloads))
    const ids = Array.from({ length: 450 }, () => harness.deps.newId())
    for (const id of ids) harness.deps.notifier.notify('cancel', id)
    await vi.waitFor(() => expect(new Set(received.flat())).toEqual(new Set(ids)))
    // One when listening began, one for the first, and the rest in lots that a notification can carry.
    expect(received.length).toBeLessThanOrEqual(5)
    await unlisten()
  })

  it('brings calls of subtasks whose runners have the longest names', async () => {
    const received: string[][] = []
    const unlisten = await far.listen('run', (payloads) => received.push(payloads))
    const calls = Array.from({ length: 200 }, () => runCall({ runner: 'r'.repeat(64), id: harness.deps.newId() }))
    for (const call of calls) harness.deps.notifier.notify('run', call)
    await vi.waitFor(() => expect(new Set(received.flat())).toEqual(new Set(calls)))
    await unlisten()
  })

  it('arrives without payloads too', async () => {
    const received = vi.fn()
    const unlisten = await far.listen('run', received)
    await vi.waitFor(() => expect(received).toHaveBeenCalledTimes(1))
    for (let time = 0; time < 100; time += 1) harness.deps.notifier.notify('run')
    await vi.waitFor(() => expect(received.mock.calls.length).toBeGreaterThanOrEqual(2))
    expect(received).toHaveBeenLastCalledWith([])
    await unlisten()
  })

  it('is received in its own process at once, and only once', async () => {
    const received: string[][] = []
    const unlisten = await harness.deps.notifier.listen('cancel', (payloads) => received.push(payloads))
    await vi.waitFor(() => expect(received).toEqual([[]]))
    harness.deps.notifier.notify('cancel', 'one')
    expect(received).toEqual([[], ['one']])
    const echo = Promise.withResolvers<void>()
    const unlistenFar = await far.listen('cancel', (payloads) => payloads.includes('two') && echo.resolve())
    harness.deps.notifier.notify('cancel', 'two')
    await echo.promise
    expect(received).toEqual([[], ['one'], ['two']])
    await unlistenFar()
    await unlisten()
    harness.deps.notifier.notify('cancel', 'three')
    expect(received).toHaveLength(3)
  })

  it('keeps what waits for the relay within its process', async () => {
    const [near, distant] = [vi.fn(), vi.fn()]
    const silences = [await harness.deps.notifier.listen('outbox', near), await far.listen('outbox', distant)]
    harness.deps.notifier.notify('outbox')
    expect(near).toHaveBeenCalledTimes(2)
    expect(distant).toHaveBeenCalledTimes(1)
    for (const silence of silences) await silence()
  })

  it('calls again when its connection was cut and is back', async () => {
    const received = vi.fn()
    const unlisten = await far.listen('run', received)
    await vi.waitFor(() => expect(received).toHaveBeenCalledTimes(1))
    await harness.admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen %'`
    await vi.waitFor(() => expect(received.mock.calls.length).toBeGreaterThanOrEqual(2), { timeout: 10_000 })
    // And it can be stopped all the same.
    await unlisten()
    received.mockClear()
    const other = vi.fn()
    const unlistenOther = await far.listen('run', other)
    harness.deps.notifier.notify('run')
    await vi.waitFor(() => expect(other.mock.calls.length).toBeGreaterThanOrEqual(2))
    expect(received).not.toHaveBeenCalled()
    await unlistenOther()
  })
})

describe('the queues', () => {
  it('can be installed again and again', async () => {
    await installQueues({ sql: harness.admin })
    await installQueues({ sql: harness.admin })
  })

  it('never move a run job by themselves', async () => {
    const queues = await harness.admin`select distinct retry_limit, expire_seconds, notify from pgboss.queue where name like 'run.%'`
    expect(queues).toEqual([{ retry_limit: 0, expire_seconds: 86_400, notify: false }])
  })

  describe('of a transaction', () => {
    /** A notifier that has sent nothing yet, and what another process hears of it. */
    async function listening(channel: 'run' | 'ended') {
      const own = createNotifier(harness.deps.dispatchDb, () => {})
      const heard: string[][] = []
      const unlisten = await far.listen(channel, (payloads) => heard.push(payloads))
      await vi.waitFor(() => expect(heard).toEqual([[]]))
      heard.length = 0
      return { own, heard, unlisten }
    }

    const send = ({ sql }: Tx, { channel, text }: Notice) => sql`select pg_notify(${channel}, ${text}) where ${text}::text is not null`

    it('travels with the COMMIT, wakes listeners of its own process after it, and is heard once by others', async () => {
      const { own, heard, unlisten } = await listening('ended')
      const here = vi.fn()
      const silence = await own.listen('ended', here)
      here.mockClear()
      const sent = await transaction(harness.deps.db, DEFAULT_PROJECT_ID, async (tx) => {
        const notification = own.withCommit('ended', ['one', 'two'])
        tx.afterCommit(notification.committed)
        return await send(tx, notification)
      })
      expect(sent).toHaveLength(1)
      expect(here.mock.calls).toEqual([[['one', 'two']]])
      await vi.waitFor(() => expect(heard).toEqual([['one', 'two']]))
      own.notify('ended', 'three')
      await vi.waitFor(() => expect(heard).toEqual([['one', 'two'], ['three']]))
      await silence()
      await unlisten()
    })

    it('is never heard of a transaction that rolls back', async () => {
      const { own, heard, unlisten } = await listening('ended')
      const failed = transaction(harness.deps.db, DEFAULT_PROJECT_ID, async (tx) => {
        await send(tx, own.withCommit('ended', ['lost']))
        throw new Error('no')
      })
      await expect(failed).rejects.toThrow('no')
      harness.deps.notifier.notify('ended', 'last')
      await vi.waitFor(() => expect(heard.flat()).toContain('last'))
      expect(heard.flat()).toEqual(['last'])
      await unlisten()
    })

    it('follows the commit where this process has notified a moment ago: such commits would wait for each other', async () => {
      const { own, heard, unlisten } = await listening('ended')
      own.notify('ended', 'before')
      await transaction(harness.deps.db, DEFAULT_PROJECT_ID, async (tx) => {
        const notification = own.withCommit('ended', ['after'])
        expect(notification.text).toBeNull()
        tx.afterCommit(notification.committed)
      })
      await vi.waitFor(() => expect(heard.flat()).toEqual(['before', 'after']))
      await unlisten()
    })
  })
})

import { Muster, MusterError } from '@muster/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'

let system: System
let muster: Muster

beforeAll(async () => {
  system = await startSystem({ env: { AUTH: 'keys', SUBTASK_WORKERS: '3' } })
  const { key } = await system.mintKey(['subtasks:read', 'subtasks:write', 'events:read', 'sessions:write'])
  muster = new Muster({ url: system.api.address, key })
})
afterAll(() => system.close())

describe('@muster/client', () => {
  it('spawns and waits in one expression', async () => {
    const ended = await muster.subtasks.spawn({ task: 'Look around.', runner: 'act' }).result()
    expect(ended).toMatchObject({ status: 'completed', final_outcome: 'completed' })
  })

  it('follows a subtask over a restart of the API: each event and step once, in order, to the end', async () => {
    const port = new URL(system.api.address).port
    const running = await muster.subtasks.spawn({ task: 'Hold.', runner: 'hold' })
    await system.ledger.written(running.id, 'start')
    const followed: string[] = []
    const following = (async () => {
      for await (const item of running.follow()) followed.push(item.kind === 'event' ? item.event.type : item.step.kind)
    })()
    await expect.poll(() => followed).toContain('subtask.started')
    const result = running.result()
    await system.api.child.end('SIGKILL')
    await system.startApi({ PORT: port })
    await running.steer('Leave out the test files.')
    await system.ledger.written(running.id, 'update')
    system.ledger.release(running.id)
    await following
    expect(await result).toMatchObject({ status: 'completed', result: expect.stringContaining('Leave out the test files.') })
    const events = followed.filter((kind) => kind.startsWith('subtask.') && kind !== 'subtask.progress')
    expect(events).toEqual(['subtask.created', 'subtask.started', 'subtask.completed'])
    expect(followed.filter((kind) => kind === 'update')).toHaveLength(1)
    expect(followed.at(-1)).toBe('subtask.completed')
  })

  it('misses no event of the log, even if its first connection breaks before there was one', async () => {
    const other = await system.startApi()
    const { address, child } = system.api
    const { key } = await system.mintKey(['events:read', 'subtasks:write'])
    let begun: () => void = () => undefined
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    /** Sees when the server has said where the stream begins. */
    const watching: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      const seen = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          if (new TextDecoder().decode(chunk).includes('id: ')) begun()
          controller.enqueue(chunk)
        },
      })
      return new Response(response.body?.pipeThrough(seen) ?? null, response)
    }
    const next = new Muster({ url: address, key, fetch: watching }).events.follow({ type: 'subtask.created' }).next()
    await hasBegun
    await child.end('SIGKILL')
    const { id } = await new Muster({ url: other.address, key }).subtasks.spawn({ task: 'While the reader is away.', runner: 'act' })
    await system.startApi({ PORT: new URL(address).port })
    expect((await next).value).toMatchObject({ type: 'subtask.created', subject: { id } })
  })

  it('delivers an inbox once: what was taken in is acknowledged, the rest comes again', async () => {
    const parent_session_id = 'client-inbox'
    for (const task of ['One.', 'Two.']) await muster.subtasks.spawn({ task, runner: 'act', parent_session_id }).result()
    const first = muster.inbox.claim(parent_session_id)
    expect((await first.next()).value).toMatchObject({ task: 'One.' })
    expect((await first.next()).value).toMatchObject({ task: 'Two.' })
    await first.return(undefined)
    const { items } = await muster.call('claimInbox', { path: { id: parent_session_id }, body: {} })
    // The second was not acknowledged, and stays claimed for a minute.
    expect(items).toEqual([])
  })

  it('cancels, lists, and names an error by its code', async () => {
    const holding = await muster.subtasks.spawn({ task: 'Hold until cancelled.', runner: 'hold', agent_id: 'canceller' })
    await system.ledger.written(holding.id, 'start')
    await holding.cancel()
    expect(await holding.result()).toMatchObject({ status: 'cancelled' })
    const refusal = await holding.cancel().catch((error: unknown) => error)
    expect(MusterError.is(refusal, 'not_cancellable')).toBe(true)
    expect((await muster.subtasks.list({ agent_id: 'canceller' }).all()).map(({ id }) => id)).toEqual([holding.id])
  })
})

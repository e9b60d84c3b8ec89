import { describe, expect, it } from 'vitest'
import { Muster } from '../index.ts'

type Reply = () => Response

const refusal = (status: number, code: string, retryable: boolean): Reply => {
  const problem = { code, detail: `It is ${code}.`, status, retryable, request_id: 'r1' }
  return () => Response.json(problem, { status, headers: { 'retry-after': '0' } })
}
const lost: Reply = () => {
  throw new TypeError('fetch failed')
}
const claimed: Reply = () =>
  Response.json({
    subtask: { id: 's1', task: 'Look.' },
    session_id: 'x',
    credential: 'c',
    lease: { token: 't', attempt: 1 },
    brief: { text: 'Look.', continuation: null },
  })

/** A worker whose claims get these replies in order; everything else succeeds, unless it is refused. */
async function work(claims: Reply[], does: () => Promise<string> = async () => 'Done.', refused: Record<string, Reply> = {}) {
  const calls: { path: string; key: string | null; body: Record<string, unknown> }[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const path = new URL(String(input)).pathname.split('/').at(-1) ?? ''
    calls.push({ path, key: new Headers(init?.headers).get('idempotency-key'), body: JSON.parse(String(init?.body)) as Record<string, unknown> })
    if (path === 'claim') {
      const reply = claims.shift()
      if (reply !== undefined) return reply()
      void worker.stop()
      return new Response(null, { status: 204 })
    }
    return refused[path]?.() ?? Response.json({ expires_at: '', cancel_requested: false, updates: [] })
  }
  const worker = new Muster({ fetch, retries: 0 }).worker('external', does)
  await worker.stopped
  return calls
}

describe('the claims of a worker', () => {
  it('keep their key until there is an answer, so that one that was granted is not lost', async () => {
    const calls = await work([lost, refusal(503, 'unavailable', true), claimed])
    const keys = calls.filter(({ path }) => path === 'claim').map(({ key }) => key)
    expect(new Set(keys.slice(0, 3)).size).toBe(1)
    expect(keys[3]).not.toBe(keys[0])
    expect(calls.find(({ path }) => path === 'complete')?.body).toEqual({ lease_token: 't', result: 'Done.' })
  })

  it('go on with another key when the lease of the one that was lost has ended', async () => {
    const calls = await work([lost, refusal(412, 'lease_lost', false), claimed])
    expect(new Set(calls.filter(({ path }) => path === 'claim').map(({ key }) => key)).size).toBe(3)
    expect(calls.map(({ path }) => path)).toContain('complete')
  })
})

describe('the end of a run', () => {
  it('is a failure with the reason, if the server refuses the result', async () => {
    const calls = await work([claimed], undefined, { complete: refusal(413, 'payload_too_large', false) })
    expect(calls.find(({ path }) => path === 'fail')?.body).toEqual({ lease_token: 't', error: 'It is payload_too_large.', retryable: true })
  })

  it('is nothing, if another worker has the subtask', async () => {
    const calls = await work([claimed], undefined, { complete: refusal(412, 'lease_lost', false) })
    expect(calls.map(({ path }) => path)).toEqual(['claim', 'complete', 'claim'])
  })
})

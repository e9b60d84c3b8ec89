import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { Muster, type Run } from '../index.ts'

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

describe('a run whose server goes away', () => {
  const servers: ReturnType<typeof createServer>[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })

  /** A worker of one run, on a server that answers each verb by these replies in order; null loses the connection, and the last reply is for ever. */
  async function workOn(replies: Record<string, (object | null)[]>, does: (run: Run) => Promise<string>) {
    const calls: string[] = []
    const given: Record<string, (object | null)[]> = {
      claim: [(await claimed().json()) as object, null],
      heartbeat: [{ expires_at: '', cancel_requested: false, updates: [] }],
      complete: [{}],
      ...replies,
    }
    const server = createServer((request, response) => {
      const verb = new URL(String(request.url), 'http://far').pathname.split('/').at(-1) ?? ''
      calls.push(verb)
      const left = given[verb] ?? [null]
      const reply = (left.length > 1 ? left.shift() : left[0]) ?? null
      if (reply === null) request.socket.destroy()
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const told = new Map<string, () => void>()
    server.on('request', (request) => told.get(String(request.url).split('/').at(-1) ?? '')?.())
    return {
      calls,
      worker: new Muster({ url, retries: 0 }).worker('external', does),
      called: (verb: string) => new Promise<void>((resolve) => told.set(verb, resolve)),
    }
  }

  const ASKED = { id: 'q1', status: 'open' }

  it('asks again until the server is back, waits for the answer over the next outage, and completes', async () => {
    const answered = { ...ASKED, status: 'answered', answer: { value: 'Yes.' } }
    const replies = { questions: [null, null, ASKED], q1: [null, ASKED, null, answered], complete: [null, {}] }
    const { worker, calls, called } = await workOn(replies, async (run) => (await run.ask({ prompt: 'May I?' })).status)
    const completes = called('complete').then(() => called('complete'))
    await completes
    await worker.stop()
    const about = calls.filter((verb) => verb !== 'claim' && verb !== 'heartbeat')
    expect(about).toEqual(['questions', 'questions', 'questions', 'q1', 'q1', 'q1', 'q1', 'complete', 'complete'])
  })

  it('leaves a question over an outage when it suspends', async () => {
    const { worker, calls, called } = await workOn(
      { questions: [null, ASKED], wait: [null, {}] },
      async (run) => (await run.suspend({ prompt: 'May I?' }, 'state')) as never,
    )
    await called('wait').then(() => called('wait'))
    await worker.stop()
    expect(calls.filter((verb) => verb !== 'claim' && verb !== 'heartbeat')).toEqual(['questions', 'questions', 'wait', 'wait'])
  })

  it('does not keep a worker that stops, also if the run was cancelled before', async () => {
    const cancelled = { expires_at: '', cancel_requested: true, updates: [] }
    const { worker, calls, called } = await workOn({ heartbeat: [cancelled], fail: [null] }, async (run) => String(await run.checkpoint()))
    await called('fail')
    await worker.stop({ graceMs: 0 })
    expect(worker.running).toBe(0)
    expect(calls).not.toContain('complete')
  })
})

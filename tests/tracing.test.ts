import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ScriptedModels, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CollectedSpan, startCollector } from './harness/collector.ts'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'
import type { ClaimedSubtask, Subtask } from './harness/wire.ts'

let collector: Awaited<ReturnType<typeof startCollector>>
let system: System
let models: ScriptedModels

beforeAll(async () => {
  collector = await startCollector()
  models = await startScriptedModels()
  models.answerBy(({ text, tools }) => {
    const usage = { input: 1_000, output: 100 }
    if (tools.includes('Glob'))
      return text.includes('tool_result') ? { text: 'None.', usage } : { toolCalls: [{ name: 'Glob', input: { pattern: '*.none' } }], usage }
    return { toolCalls: [{ name: 'give_verdicts', input: { verdicts: [{ criterion: 1, verdict: 'met', quote: 'It compiles.' }] } }], usage }
  })
  system = await startSystem({
    workers: 2,
    env: {
      ...collector.env,
      SUBTASK_WORKERS: '2',
      SUBTASK_LEASE_SECONDS: '2',
      ANTHROPIC_API_KEY: 'sk-ant-traced',
      ANTHROPIC_BASE_URL: models.anthropicUrl,
      JUDGE_MODEL: 'claude-test',
      CHECKS: JSON.stringify({ passes: { argv: ['/bin/true'] } }),
      SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`,
      OUTBOUND_ALLOW: '127.0.0.1',
    },
  })
  await system.client.ok('PATCH', `/projects/${system.ctx.actor.projectId}`, {
    body: { settings: { outbound_allow: ['127.0.0.1'], evaluation: { judge: true } } },
  })
})
afterAll(async () => {
  await system.close()
  await models.close()
  await collector.close()
})

/** The context of a caller that traces, as it sends it. */
function caller() {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } }
}

/** The spans of a trace, once there are so many of a name. */
const spansOf = (traceId: string, name: string, count: number): Promise<CollectedSpan[]> =>
  until(`${count} spans "${name}" of the trace`, () => {
    const spans = collector.spans().filter((span) => span.traceId === traceId)
    return spans.filter((span) => span.name === name).length >= count ? spans : undefined
  })

const named = (spans: CollectedSpan[], name: string) => spans.filter((span) => span.name === name)

/** A run of the runner `ai` that uses a tool once. */
async function runWithTool(agentId: string): Promise<{ traceId: string; id: string }> {
  const { traceId, headers } = caller()
  const task = `Find the ${agentId} secrets.`
  const { id } = await system.client.spawn({ task, runner: 'ai', agent_id: agentId, model: 'anthropic:claude-test' }, headers)
  expect(await system.client.ended(id)).toMatchObject({ status: 'completed' })
  return { traceId, id }
}

describe('a trace', () => {
  it('goes from the caller through the request and the wait to the run, its program and its end', async () => {
    const { traceId, spanId, headers } = caller()
    const answer = await system.client.call<Subtask>('POST', '/subtasks', { headers, body: { task: 'A confidential task of the caller.', agent_id: 'traced' } })
    const { id } = answer.body
    await system.client.ended(id)
    const spans = await spansOf(traceId, 'settle', 1)
    const [request] = named(spans, 'POST /subtasks')
    const [run] = named(await spansOf(traceId, 'invoke_agent traced', 1), 'invoke_agent traced')
    const [wait] = named(spans, 'wait')
    const [settle] = named(spans, 'settle')
    expect(request).toMatchObject({ service: 'muster-api', parentSpanId: spanId })
    expect(answer.headers.get('traceparent')).toBe(`00-${traceId}-${request?.spanId}-01`)
    expect(wait).toMatchObject({ service: 'muster-worker', parentSpanId: request?.spanId })
    expect(run).toMatchObject({
      parentSpanId: request?.spanId,
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'muster.subtask.id': id, 'muster.end': 'completed' },
    })
    expect(settle).toMatchObject({ parentSpanId: run?.spanId })
    expect(system.ledger.find(id, 'start')?.traceparent).toBe(`00-${traceId}-${run?.spanId}-01`)
    const logged = system.workers.flatMap(({ child }) => child.lines).find(({ fields }) => fields.msg === 'run ended' && fields.subtask_id === id)
    expect(logged?.fields.trace_id).toBe(traceId)
    expect(collector.texts()).not.toContain('confidential')
  })

  it('is named in the log line of a request that failed', async () => {
    const { traceId, headers } = caller()
    system.expectError(/relation \\"tsgs\\" does not exist/)
    await system.admin`alter table tsgs rename to tsgs_away`
    try {
      expect((await system.client.call('GET', '/tsgs', { headers })).status).toBe(500)
    } finally {
      await system.admin`alter table tsgs_away rename to tsgs`
    }
    const logged = system.apis.flatMap(({ child }) => child.lines).find(({ fields }) => fields.msg === 'request failed')
    expect(logged?.fields).toMatchObject({ level: 50, path: '/tsgs', trace_id: traceId })
  })

  it('has the run after that of a worker that was killed', async () => {
    const { traceId, headers } = caller()
    const { id } = await system.client.spawn({ task: 'Hold.', runner: 'hold', agent_id: 'killed' }, headers)
    const first = await system.ledger.written(id, 'start', 1)
    const { worker_id } = await system.client.get(id)
    await system.workerOf(worker_id).child.end('SIGKILL')
    const second = await system.ledger.written(id, 'start', 2)
    system.ledger.release(id)
    await system.client.ended(id)
    const spans = await spansOf(traceId, 'invoke_agent killed', 1)
    const [request] = named(spans, 'POST /subtasks')
    expect(named(spans, 'invoke_agent killed')).toMatchObject([{ parentSpanId: request?.spanId, attributes: { 'muster.attempt': expect.anything() } }])
    // The span of the killed attempt was never sent, but its program belongs to the same trace.
    expect([first, second].map(({ traceparent }) => String(traceparent).slice(3, 35))).toEqual([traceId, traceId])
    await system.startWorker()
  })

  it('has every revision round of a dispatched task', async () => {
    const { traceId, headers } = caller()
    const task = await system.client.createTask({ title: 'Compile it', instructions: 'Make it compile.', acceptance_criteria: ['It compiles'] })
    const results = ['<npl-block type="reflection">\n❌ It does not compile yet\n</npl-block>\nNot done.', 'It compiles.']
    await system.client.ok('POST', `/tasks/${task.id}/dispatch`, {
      headers,
      body: { runner: 'rounds', agent_id: 'rounds', max_revisions: 1, metadata: { results } },
    })
    const spans = await spansOf(traceId, 'invoke_agent rounds', 2)
    const [request] = named(spans, 'POST /tasks/:id/dispatch')
    const runs = named(spans, 'invoke_agent rounds')
    expect(runs.map(({ parentSpanId }) => parentSpanId)).toEqual([request?.spanId, request?.spanId])
    expect(runs.filter(({ attributes }) => attributes['muster.revision_of'] !== undefined)).toHaveLength(1)
  })

  it('has the run that goes on after an answer', async () => {
    const { traceId, headers } = caller()
    const { id } = await system.client.spawn({ task: 'Paint.', runner: 'ask', agent_id: 'asking', parent_session_id: 'asking' }, headers)
    await until('it waits', async () => (await system.client.get(id)).status === 'waiting')
    const { items } = await system.client.ok<{ items: { question_id: string }[] }>('GET', '/questions?session=asking&status=open')
    await system.client.ok('POST', `/questions/${items[0]?.question_id}/answer`, { body: { answer: 'Black' } })
    const spans = await spansOf(traceId, 'invoke_agent asking', 2)
    const [request] = named(spans, 'POST /subtasks')
    expect(named(spans, 'invoke_agent asking')).toMatchObject([
      { parentSpanId: request?.spanId, attributes: { 'muster.end': 'waiting' } },
      { parentSpanId: request?.spanId, attributes: { 'muster.end': 'completed' } },
    ])
  })

  it('has the model calls and tools of a run, without what was said', async () => {
    const { traceId, id } = await runWithTool('quiet')
    const spans = await spansOf(traceId, 'invoke_agent quiet', 1)
    const [run] = named(spans, 'invoke_agent quiet')
    const below = { parentSpanId: run?.spanId }
    expect(named(spans, 'chat claude-test')).toMatchObject([below, { ...below, attributes: { 'gen_ai.provider.name': 'anthropic' } }])
    expect(named(spans, 'execute_tool Glob')).toMatchObject([{ ...below, attributes: { 'gen_ai.operation.name': 'execute_tool' } }])
    expect(run?.attributes['muster.subtask.id']).toBe(id)
    expect(collector.texts()).not.toMatch(/quiet secrets|\*\.none|gen_ai\.(input|output)\.messages/)
  })

  it('is given to an outside worker with its claim', async () => {
    const { traceId, headers } = caller()
    const { id } = await system.client.spawn({ task: 'Outside.', runner: 'external' }, headers)
    const spans = await spansOf(traceId, 'POST /subtasks', 1)
    const claimed = (await system.client.claim()) as ClaimedSubtask & { traceparent: string }
    expect(claimed.subtask.id).toBe(id)
    expect(claimed.traceparent).toBe(`00-${traceId}-${spans[0]?.spanId}-01`)
    await system.client.complete(claimed)
    const [attempt] = named(await spansOf(traceId, 'invoke_agent default', 1), 'invoke_agent default')
    expect(attempt).toMatchObject({ parentSpanId: spans[0]?.spanId, attributes: { 'muster.runner': 'external', 'muster.end': 'completed' } })
    expect(named(await spansOf(traceId, 'wait', 1), 'wait')).toHaveLength(1)
  })

  it('has the checks of a result, its judge, and the deliveries that tell of it', async () => {
    const { traceId, headers } = caller()
    const received: (string | undefined)[] = []
    const receiver = createServer((request, response) => {
      received.push(request.headers.traceparent as string | undefined)
      request.resume()
      response.writeHead(received.length === 1 ? 500 : 204).end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const criteria = [{ text: 'It passes', check: 'passes' }, { text: 'It compiles' }]
    const task = await system.client.ok<{ id: string }>('POST', '/tasks', {
      body: { title: 'Compile it', instructions: 'Make it compile.', acceptance_criteria: criteria },
    })
    await system.client.ok('POST', `/tasks/${task.id}/dispatch`, {
      headers,
      body: {
        runner: 'rounds',
        agent_id: 'checked',
        metadata: { results: ['It compiles.'] },
        callback: { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` },
      },
    })
    const spans = [...(await spansOf(traceId, 'judge', 1)), ...(await spansOf(traceId, 'deliver callback', 2))]
    receiver.closeAllConnections()
    receiver.close()
    const [request] = named(spans, 'POST /tasks/:id/dispatch')
    const [run] = named(spans, 'invoke_agent checked')
    const [check] = named(spans, 'check passes')
    const [judge] = named(spans, 'judge')
    const [chat] = named(spans, 'chat claude-test')
    const result = (name: string, label: unknown) => ({
      name: 'gen_ai.evaluation.result',
      attributes: expect.objectContaining({ 'gen_ai.evaluation.name': name, 'gen_ai.evaluation.score.label': label }),
    })
    expect(run?.events).toEqual([result('rules', expect.any(String))])
    expect(check).toMatchObject({ service: 'muster-worker', parentSpanId: request?.spanId, events: [result('passes', 'met')] })
    expect(judge).toMatchObject({ parentSpanId: request?.spanId, attributes: { 'muster.end': 'judged' }, events: [result('judge', expect.any(String))] })
    expect(chat).toMatchObject({ parentSpanId: judge?.spanId, attributes: { 'gen_ai.usage.output_tokens': expect.anything() } })
    const attempts = named(collector.spans(), 'deliver callback').filter((span) => span.traceId === traceId)
    expect(attempts).toMatchObject([
      { parentSpanId: request?.spanId, attributes: { 'muster.event.type': 'subtask.completed', 'muster.end': 'failed' } },
      { parentSpanId: request?.spanId, attributes: { 'muster.end': 'delivered' } },
    ])
    expect(received).toEqual(attempts.map(({ spanId }) => `00-${traceId}-${spanId}-01`))
    expect(collector.texts()).not.toContain('It compiles')
  })

  it('of a run that a schedule made links to what asked for the schedule', async () => {
    const { traceId, headers } = caller()
    await system.client.ok('POST', '/schedules', { headers, body: { task: 'Act.', when: 'in 1 second', runner: 'act', agent_id: 'scheduled' } })
    const [request] = named(await spansOf(traceId, 'POST /schedules', 1), 'POST /schedules')
    const fired = await until('the schedule has fired', () => named(collector.spans(), 'fire_schedule').at(0))
    expect(fired).toMatchObject({ parentSpanId: '', links: [request?.spanId] })
    expect(fired.traceId).not.toBe(traceId)
    const [run] = named(await spansOf(fired.traceId, 'invoke_agent scheduled', 1), 'invoke_agent scheduled')
    expect(run?.parentSpanId).toBe(fired.spanId)
  })
})

describe('a process without a collector', () => {
  it('passes on what a caller sends, and ignores what is no context', async () => {
    const { address } = await system.startApi({ OTEL_EXPORTER_OTLP_ENDPOINT: undefined })
    const { headers } = caller()
    const answer = await fetch(new URL('/subtasks', address), { headers })
    expect(answer.headers.get('traceparent')).toBe(headers.traceparent)
    expect((await fetch(new URL('/subtasks', address), { headers: { traceparent: 'nonsense' } })).headers.get('traceparent')).toBeNull()
  })
})

describe('a worker that is asked for content', () => {
  it('adds what was said to models and tools to their spans', async () => {
    for (const { child } of system.workers.splice(0)) await child.end('SIGTERM')
    await system.startWorker({ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' })
    const { traceId } = await runWithTool('open')
    const spans = await spansOf(traceId, 'invoke_agent open', 1)
    const [first, second] = named(spans, 'chat claude-test')
    const [tool] = named(spans, 'execute_tool Glob')
    expect(first?.attributes['gen_ai.input.messages']).toContain('Find the open secrets.')
    expect(second?.attributes['gen_ai.output.messages']).toBe('[{"role":"assistant","parts":[{"type":"text","content":"None."}]}]')
    expect(tool?.attributes['gen_ai.tool.call.arguments']).toBe('{"pattern":"*.none"}')
  })
})

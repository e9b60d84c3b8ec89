import { startApi } from '../contenders/api.ts'
import { type Figure, Rows } from '../instrument/figure.ts'
import { type HttpCall, sendHttpAtRate } from '../instrument/http-rate.ts'
import { percentile } from '../instrument/statistics.ts'
import type { SeededBriefs } from '../seeds/briefs.ts'
import { nth, PER_SECOND, seedSessions, sendNotes } from './injections.ts'

/** What Claude Code sends before and after a sub-agent reads a file. */
function hook(briefs: SeededBriefs, index: number, event: 'PreToolUse' | 'PostToolUse', problem: (body: string) => string | undefined): HttpCall {
  const [session, agent] = briefs.sessionId(nth(briefs, index)).split(':')
  const file = `/home/me/app/src/part-${index}.ts`
  const response = { type: 'text', file: { filePath: file, content: 'export const part = 1\n'.repeat(80), numLines: 80, startLine: 1, totalLines: 80 } }
  const body = {
    session_id: session,
    transcript_path: `/home/me/.claude/projects/app/${session}.jsonl`,
    cwd: '/home/me/app',
    permission_mode: 'default',
    agent_id: agent,
    agent_type: 'general-purpose',
    hook_event_name: event,
    tool_name: 'Read',
    tool_input: { file_path: file },
    tool_use_id: `toolu_${index}`,
    ...(event === 'PostToolUse' ? { tool_response: response, duration_ms: 3 } : {}),
  }
  return { method: 'POST', path: '/hooks/claude-code', body: JSON.stringify(body), problem }
}

/** A call of a tool, as clients with `initialize` send it. They are answered with a stream of one message. An error of a tool has no structured content. */
function toolCall(name: string, input: object, isRight: (content: Record<string, unknown>) => boolean): HttpCall {
  return {
    method: 'POST',
    path: '/mcp',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }),
    problem(body) {
      const { result } = JSON.parse(/^data: (\{.*)$/m.exec(body)?.[1] ?? '{}') as {
        result?: { isError?: boolean; structuredContent?: Record<string, unknown> }
      }
      const content = result?.isError === true ? undefined : result?.structuredContent
      return content !== undefined && isRight(content) ? undefined : 'not the result of the tool'
    },
  }
}

export const hooksAndTools: Figure = {
  name: 'hooks-and-tools',
  title: `hooks of Claude Code and tools/call of MCP at ${PER_SECOND}/s with key check, 1,000,000 tasks and 5,000,000 updates stored`,
  raised: 'nothing',
  notes: [
    'latencies count from when a request was due',
    'each check-in acknowledges five updates',
    'stored are tasks, assignments and updates; their events are not',
  ],
  async measure(bench) {
    const rows = new Rows()
    await using database = await bench.server.musterDatabase()
    const briefs = await seedSessions(bench, database)
    const api = await startApi(bench, database)
    await using _ = api.process
    const target = {
      url: api.address,
      headers: { ...api.headers, accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    }
    const taskOf = (index: number) => briefs.taskId(nth(briefs, index))
    let checkIns = 0
    const calls: Record<string, (index: number) => HttpCall> = {
      'hook, nothing new': (index) =>
        hook(briefs, index, index % 2 === 0 ? 'PreToolUse' : 'PostToolUse', (body) => (body === '' ? undefined : 'something new')),
      'hook, with an update': (index) =>
        hook(briefs, index, 'PostToolUse', (body) => (body.includes('generated/') && body.includes(taskOf(index)) ? undefined : 'not the update')),
      'tools/call get_task': (index) =>
        toolCall('get_task', { task_id: taskOf(index) }, ({ task }) => (task as { id?: string } | undefined)?.id === taskOf(index)),
      'tools/call confirm_update': (index) =>
        toolCall('confirm_update', { update_id: briefs.updateId(nth(briefs, index)) }, (content) => content.task_id === taskOf(index)),
      // Each task's first: it also confirms the updates.
      'tools/call check_in': () => {
        const id = taskOf(checkIns)
        checkIns += 1
        const content = `<npl-block type="check-in" task-id="${id}" revision="1">\n✅ Every file was read (${id})\n</npl-block>`
        return toolCall('check_in', { task_id: id, content }, ({ criteria }) => (criteria as { state: string }[])[0]?.state === 'met')
      },
    }
    const measure = async (what: string, seconds: number) => {
      if (what === 'hook, with an update') await sendNotes(target, database, briefs, PER_SECOND * seconds)
      return (await sendHttpAtRate(target, PER_SECOND, seconds, calls[what] as (index: number) => HttpCall)).fromDueMs
    }
    // As long as it takes for the code to be compiled.
    for (const what of Object.keys(calls)) await measure(what, bench.size(5, 1))
    for (let run = 1; run <= bench.runs; run += 1) {
      for (const what of Object.keys(calls)) {
        const tookMs = await measure(what, bench.size(7, 1))
        const [p50, p99] = [percentile(tookMs, 0.5), percentile(tookMs, 0.99)]
        rows.add({ label: `${what}, p50`, unit: 'ms', better: 'lower', goal: null }, null, p50)
        rows.add({ label: `${what}, p99`, unit: 'ms', better: 'lower', goal: null }, null, p99)
        bench.log(`run ${run}, ${what}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`)
      }
    }
    // A hook that fails is answered like one with nothing new, and only the log tells them apart.
    const failed = api.process.log().split('a hook was answered with nothing').length - 1
    if (failed > 0) throw new Error(`${failed} hooks were answered with nothing because they failed or took 500 ms`)
    return rows.list()
  },
}

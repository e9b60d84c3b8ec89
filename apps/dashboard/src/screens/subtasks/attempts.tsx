import type { Event, Subtask } from '@muster/client'
import { Link } from '@tanstack/react-router'
import { Panel } from '../../design/panel.tsx'
import { duration, useNow } from '../../design/time.tsx'
import type { ToolCall } from './steps.ts'

/** More bars than these say nothing; the transcript has every call. */
const CALLS_SHOWN = 200
/** Narrower bars cannot be seen. In percent of the axis. */
const BAR_MIN = 0.4

interface Attempt {
  number: number
  startMs: number
  /** Null while it goes on. */
  endMs: number | null
  end: string
}

/** The attempts that the events of a subtask tell of, oldest first. */
function attemptsOf(events: readonly Event[]): Attempt[] {
  const attempts: Attempt[] = []
  for (const { type, at, data } of events) {
    if (type === 'subtask.started') attempts.push({ number: Number(data.attempt), startMs: Date.parse(at), endMs: null, end: 'running' })
    const last = attempts.at(-1)
    const end = ENDS[type]
    if (last === undefined || end === undefined || last.endMs !== null) continue
    last.endMs = Date.parse(at)
    last.end = typeof data.reason === 'string' ? `${end}: ${data.reason}` : end
  }
  return attempts
}

const ENDS: Record<string, string> = {
  'subtask.retrying': 'failed, to be tried again',
  'subtask.released': 'given back',
  'subtask.waiting': 'waits for an answer',
  'subtask.completed': 'completed',
  'subtask.failed': 'failed',
  'subtask.cancelled': 'cancelled',
}

/** Attempts and their tool calls as bars on one axis of time. Each bar of a call leads to its step. */
export function Attempts({ subtask, events, calls }: { subtask: Subtask; events: readonly Event[]; calls: readonly ToolCall[] }) {
  const now = useNow()
  const attempts = attemptsOf(events)
  const first = attempts[0]
  if (first === undefined) return <p className="empty">No worker has started it yet.</p>
  const ends = attempts.map(({ endMs }) => endMs ?? now)
  const axis = { from: first.startMs, length: Math.max(1, ...ends.map((end) => end - first.startMs)) }
  const { usage } = subtask
  const used = [
    `${usage.steps} steps`,
    `${calls.length} tool calls`,
    `${(usage.input_tokens + usage.output_tokens).toLocaleString('en')} tokens`,
    ...(usage.cost_usd > 0 ? [`$${usage.cost_usd.toFixed(4)}`] : []),
  ]
  return (
    <Panel title="Attempts" count={used.join(', ')} isFlush>
      <ol className="list" aria-label="Attempts">
        {attempts.map((attempt) => (
          <li key={attempt.startMs} className="attempt">
            <p className="attempt-head">
              Attempt {attempt.number}
              <span className="hint grow">{attempt.end}</span>
              <span className="meta">{duration((attempt.endMs ?? now) - attempt.startMs)}</span>
            </p>
            <Bar axis={axis} startMs={attempt.startMs} endMs={attempt.endMs ?? now} />
            <Calls subtaskId={subtask.id} axis={axis} calls={calls.filter((call) => call.attempt === attempt.number)} until={attempt.endMs ?? now} />
          </li>
        ))}
      </ol>
      {calls.length > CALLS_SHOWN && <p className="empty">Of each attempt, the first {CALLS_SHOWN} calls are drawn. The transcript has all of them.</p>}
    </Panel>
  )
}

interface Axis {
  /** In milliseconds since the epoch. */
  from: number
  /** In milliseconds. */
  length: number
}

function Bar({ axis, startMs, endMs }: { axis: Axis; startMs: number; endMs: number }) {
  const left = Math.max(0, ((startMs - axis.from) / axis.length) * 100)
  const width = Math.min(100 - left, Math.max(BAR_MIN, ((endMs - startMs) / axis.length) * 100))
  return (
    <span className="axis" aria-hidden="true">
      <span style={{ left: `${Math.min(left, 100 - BAR_MIN)}%`, width: `${Math.max(width, BAR_MIN)}%` }} />
    </span>
  )
}

function Calls({ subtaskId, axis, calls, until }: { subtaskId: string; axis: Axis; calls: ToolCall[]; until: number }) {
  if (calls.length === 0) return null
  return (
    <ul className="calls" aria-label="Tool calls">
      {calls.slice(0, CALLS_SHOWN).map((call) => (
        <li key={call.seq}>
          <Link to="/subtasks/$id" params={{ id: subtaskId }} search={{ tab: 'transcript', step: call.seq }}>
            {call.name}
          </Link>
          <Bar axis={axis} startMs={call.startMs} endMs={call.endMs ?? until} />
          <span className="meta">{call.endMs === null ? 'no result' : duration(call.endMs - call.startMs)}</span>
        </li>
      ))}
    </ul>
  )
}

import { type SubagentDefinition, toStorableJson } from '@muster/domain'
import { z } from 'zod'
import type { Run, RunUpdate } from '../port.ts'

/**
 * # The protocol of a `command` runner
 *
 * A program that runs subtasks reads JSON lines from its standard input and writes JSON lines to its standard output: one
 * object a line, UTF-8, ended by a line feed (CRLF is fine too). Standard error is free for logging.
 *
 * ## What the program reads
 * - First, once: `{"type":"brief", "subtask_id", "session_id", "attempt", "agent_id", "parent_session_id", "task_id", "text",
 *   "task", "criteria":[{"id","text"}], "required_outputs":[{"name","description","schema"}], "revision", "feedback",
 *   "continuation", "model", "background", "subagent", "metadata", "workspace"}`. `text` is complete and made to be shown to an agent; `task`
 *   is the task alone. What there is none of is `null` or an empty list. `subagent` is `{"name", "version", "instructions",
 *   "tools", "disallowed_tools", "max_turns"}` in a run of one: its instructions are in `text`, its tools are for the program
 *   to keep to. Only a program whose settings have `follows_definitions` is given such runs. `continuation` is `{"state", "updates"}` in a run that goes on after
 *   a wait: the `continuation` of its `waiting` line, and the answer with what else was sent since.
 * - Then, where the runner is configured as `steerable`, at any time:
 *   `{"type":"update", "update_id", "text", "delivery"}`, `delivery` being `next_step` or `interrupt`.
 * - The end of the input: nothing more will come. A program that is not steerable sees it right after the brief, any other
 *   when it has sent its closing line. It is not a request to stop; that is SIGTERM.
 *
 * Its environment has `MUSTER_URL`, `MUSTER_TOKEN` (the subtask's own credential), `MUSTER_SUBTASK_ID`, `MUSTER_ATTEMPT`,
 * `MUSTER_SESSION_ID`, `MUSTER_WORKSPACE`, `MUSTER_GUARD` (by which the worker finds its processes), what its settings add, and of the worker's only `PATH`, `HOME`, `LANG`, `TZ` and
 * `TMPDIR`. It starts in the `cwd` of its settings, else in its workspace.
 *
 * ## What the program writes
 * | line | meaning |
 * |---|---|
 * | `{"type":"step", "kind"?, "content"}` | adds to the transcript; `kind` is `message` (default), `tool_call`, `tool_result` or `error`, `content` any JSON |
 * | `{"type":"ack", "update_id"}` | the update has been taken in |
 * | `{"type":"usage", "input_tokens"?, "cached_input_tokens"?, "output_tokens"?, "cost_usd"?, "tool_calls"?, "model"?}` | used since the last such line: amounts to add, not totals. One after each answer of a model: with tokens in it, it is a step |
 * | `{"type":"output", "name", "value"}` | one output by name; the last of a name counts |
 * | `{"type":"result", "result", "summary"?}` | closing line: done, `result` is text |
 * | `{"type":"blocked", "reason"}` | closing line: cannot go on, and another attempt would not help |
 * | `{"type":"waiting", "question_id", "continuation"?}` | closing line: cannot go on without the answer to this question, which it has asked with `POST $MUSTER_URL/subtasks/$MUSTER_SUBTASK_ID/questions`; another attempt starts when it is closed |
 * | `{"type":"error", "error", "retryable"?}` | closing line: failed; `retryable` is true unless said otherwise |
 *
 * Any other line, also one of these types in another shape, is plain text. Plain lines in a row share one message step, of up to 64 KiB, or of what
 * is printed within 250 ms. The last closing line counts. Without one the result is the plain lines, when the program exits with 0.
 *
 * ## How it ends
 * | exit | `result` line | `blocked` line | `waiting` line | `error` line | none |
 * |---|---|---|---|---|---|
 * | 0 | completed | blocked | waiting | errored as it says | completed with the other lines |
 * | another code, or a signal | errored, retryable, the result kept as partial | blocked | waiting | errored as it says | errored, retryable, with the last 4 KiB of standard error |
 *
 * A program whose `usage` lines use up the budget of its subtask (`max_steps`, `max_tokens`, `max_cost_usd`) has a second for a
 * closing line, which then counts; else it is ended like at a stop, and the outcome is `budget_exceeded`, with what it printed.
 *
 * A program gets 10 seconds from its closing line to exit, then it is ended and its closing line counts. On SIGTERM it
 * should end within a second; after 1.25 seconds SIGKILL follows. Both go to its whole process group, which is also killed
 * when the program has exited: nothing that it started is left behind. A process that leaves the group (setsid) is still
 * found by its environment on Linux, when the run is stopped, when the process keeps the program's output open, and when the
 * worker dies.
 *
 * ## Limits
 * An ordinary line is kept to 1 MiB, a JSON line to 8 MiB. The result is kept to 1 MiB of UTF-8. One attempt keeps 10,000
 * steps or 8 MiB of them, and 1,000 outputs or 8 MiB of them, 1 MiB each. The rest is dropped, and a step says so.
 */
export type ProgramLine = z.infer<typeof programLine>

/** More nesting than any sensible report has; deeper values would overflow the stack of recursive readers. */
const MAX_JSON_DEPTH = 64
const MAX_USAGE = 1_000_000_000
const amount = z.number().int().min(0).max(MAX_USAGE).nullish()

const programLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('step'),
    kind: z.enum(['message', 'tool_call', 'tool_result', 'error']).nullish(),
    content: z.unknown().refine((content) => content !== undefined && content !== null, 'is missing'),
  }),
  z.object({ type: z.literal('ack'), update_id: z.string().min(1).max(200) }),
  z.object({
    type: z.literal('usage'),
    input_tokens: amount,
    cached_input_tokens: amount,
    output_tokens: amount,
    cost_usd: z.number().min(0).max(1_000_000).nullish(),
    tool_calls: amount,
    model: z.string().min(1).max(200).nullish(),
  }),
  z.object({ type: z.literal('output'), name: z.string().min(1).max(200), value: z.unknown() }),
  z.object({ type: z.literal('result'), result: z.string(), summary: z.string().nullish() }),
  z.object({ type: z.literal('blocked'), reason: z.string().trim().min(1) }),
  z.object({ type: z.literal('waiting'), question_id: z.uuid(), continuation: z.string().nullish() }),
  z.object({ type: z.literal('error'), error: z.string().trim().min(1), retryable: z.boolean().nullish() }),
])

/** The line as one of the protocol's, or null where it is anything else. Never throws. */
export function parseProgramLine(text: string): ProgramLine | null {
  if (!text.startsWith('{')) return null
  try {
    const value: unknown = JSON.parse(text)
    if (isTooDeep(value)) return null
    // "\u0000" is valid JSON, and jsonb refuses it.
    const parsed = programLine.safeParse(toStorableJson(value))
    if (!parsed.success) return null
    // An absent `value` would otherwise pass as "any value".
    return parsed.data.type === 'output' && parsed.data.value === undefined ? null : parsed.data
  } catch {
    return null
  }
}

/** True for a value that would overflow the stack of a recursive reader. */
export function isTooDeep(value: unknown): boolean {
  return isDeeperThan(MAX_JSON_DEPTH, value)
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item))
}

/** The first line on the program's standard input. */
export function promptLine({ brief, workspace }: Pick<Run, 'brief' | 'workspace'>): string {
  return jsonLine({
    type: 'brief',
    subtask_id: brief.subtaskId,
    session_id: brief.sessionId,
    attempt: brief.attempt,
    agent_id: brief.agentId,
    parent_session_id: brief.parentSessionId,
    task_id: brief.taskId,
    text: brief.text,
    task: brief.task,
    criteria: brief.criteria.map(({ id, text }) => ({ id, text })),
    required_outputs: brief.requiredOutputs.map(({ name, description, schema }) => ({ name, description, schema })),
    revision: brief.revision,
    feedback: brief.feedback,
    continuation: brief.continuation ?? null,
    model: brief.model,
    background: brief.background ?? true,
    subagent: brief.subagent == null ? null : subagentOf(brief.subagent),
    metadata: brief.metadata,
    workspace,
  })
}

/** What a program has to know of the sub-agent that it runs, beside the text. */
function subagentOf({ name, version, instructions, tools, disallowedTools, maxTurns }: SubagentDefinition): Record<string, unknown> {
  return { name, version, instructions, tools, disallowed_tools: disallowedTools, max_turns: maxTurns }
}

/** The line that carries a change to a program under way. */
export function updateLine({ updateId, text, delivery }: RunUpdate): string {
  return jsonLine({ type: 'update', update_id: updateId, text, delivery })
}

function jsonLine(value: Record<string, unknown>): string {
  return `${JSON.stringify(value)}\n`
}

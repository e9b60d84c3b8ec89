import { agentCallOf, type HookCall } from '@muster/domain'
import { type Ctx, takeHookEvent } from '@muster/usecases'
import { endpoint } from '../http/endpoint.ts'
import { withRoom } from '../http/room.ts'
import { hookAnswerSchema, hookInputSchema, presentHookAnswer, toHookCall } from './schema.ts'

/** Longest time that Claude Code is held up by a call, in milliseconds. */
const PATIENCE_MS = 500
/** The same for a call of the Agent tool with a task, whose sub-agent would begin without its brief. */
const BRIEF_PATIENCE_MS = 1_500

/** So long, in milliseconds, the last message of a turn waits for room after its session was answered: it comes only once. */
const STORED_WITHIN_MS = 60_000

/**
 * The HTTP hook of Claude Code. An error here must not break a session: an error, or 500 ms without an answer, is logged and answered with an empty
 * 200, which Claude Code reads as `{}`. Only an invalid or insufficient credential is refused as everywhere (401, 403), before the request is read:
 * Claude Code continues anyway, and the user sees the mistyped key.
 *
 * Because the hook fails open, its denials are not a boundary: a runner enforces tool rules by not offering denied tools.
 *
 * `takeHookEvent` describes what a subtask's own credential receives here.
 */
export const claudeCodeHookEndpoint = endpoint({
  operationId: 'claudeCodeHook',
  method: 'POST',
  path: '/hooks/claude-code',
  tag: 'Sessions',
  summary: 'Receive a Claude Code hook event',
  description:
    'The HTTP hook of Claude Code. The session is `<session_id>`, or `<session_id>:<agent_id>` inside a sub-agent; the credential of a subtask or of an assigned task always means its own session. Answers with undelivered items of the session as `additionalContext`, the brief of a task that `muster-task: <task_id>` in the prompt of the Agent tool names, the session as the argument `_session` of Muster tools, a denial of tools that the definition does not permit, or one more turn. Stop and SubagentStop store `last_assistant_message`, and complete tasks that it hands in. Every other event, an error, or 500 ms without an answer returns an empty 200. An `Idempotency-Key` has no effect.',
  access: 'sessions:write',
  unaudited: 'the traffic of a session, at each of its steps',
  needsNoRoom: 'its last message does, within the time that the session waits',
  body: hookInputSchema,
  repairsText: true,
  bodyBytesMax: 8 * 1_048_576,
  yieldsAfterMs: BRIEF_PATIENCE_MS,
  answers: { 200: { description: 'Context for Claude Code, a denial, or one more turn; empty if there is none of these.', schema: hookAnswerSchema } },
  async handle({ ctx: { idempotency: _, ...ctx }, body, elapsedMs }) {
    const about = { session_id: body.session_id, event: body.hook_event_name }
    const complain = (error: unknown) => ctx.log.warn({ err: error, ...about }, 'a hook was answered with nothing')
    try {
      const call = toHookCall(body)
      const isWithTask = call.event === 'PreToolUse' && typeof agentCallOf(call)?.taskId === 'string'
      const patienceMs = isWithTask ? BRIEF_PATIENCE_MS : PATIENCE_MS
      return await answerWithin(patienceMs - elapsedMs(), (isAwaited) => takeWithRoom(ctx, call, isAwaited), complain)
    } catch (error) {
      complain(error)
      return null
    }
  },
  answer: (answer) => (answer === null ? { status: 200 } : { status: 200, body: presentHookAnswer(answer), onSent: answer.onSent ?? undefined }),
})

/** Of a hook, only the last message of a turn is stored. */
async function takeWithRoom(ctx: Ctx, call: HookCall, isAwaited: () => boolean): ReturnType<typeof takeHookEvent> {
  if (call.lastAssistantMessage === null) return await takeHookEvent(ctx, call, isAwaited)
  return await withRoom(ctx, Buffer.byteLength(call.lastAssistantMessage), () => takeHookEvent(ctx, call, isAwaited), STORED_WITHIN_MS)
}

/**
 * Waits for an answer until the caller's time limit, then answers null. The content of an answer is recorded as delivered, so both must happen or
 * neither: right before its commit, `work` asks whether the caller still waits. If so, the answer waits for that commit.
 *
 * @param late receives the error of work that fails after the caller has gone
 */
export async function answerWithin<T>(ms: number, work: (isAwaited: () => boolean) => Promise<T>, late: (error: unknown) => void): Promise<T | null> {
  let isOver = false
  let isCommitting = false
  const isAwaited = () => {
    isCommitting ||= !isOver
    return !isOver
  }
  const running = work(isAwaited)
  const { promise: timeIsUp, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(
    () => {
      if (isCommitting) return
      isOver = true
      running.then(() => late(new Error('it ended, too late')), late)
      resolve(null)
    },
    Math.max(0, ms),
  )
  try {
    return await Promise.race([running, timeIsUp])
  } finally {
    clearTimeout(timer)
  }
}

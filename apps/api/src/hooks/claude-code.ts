import { takeHookEvent } from '@muster/usecases'
import { endpoint } from '../http/endpoint.ts'
import { answerWithin } from './patience.ts'
import { hookAnswerSchema, hookInputSchema, presentHookAnswer, toHookCall } from './schema.ts'

/** Longest time that Claude Code is held up by a call, in milliseconds. */
const PATIENCE_MS = 500

/**
 * The HTTP hook of Claude Code. Nothing that goes wrong here may break a session: an error, and 500 ms without an answer, are an empty 200, which
 * Claude Code takes for `{}`, and are logged. Only a credential that is wrong, or may not, is refused as everywhere (401, 403), before anything of the
 * request is read: it reveals and changes nothing, Claude Code goes on all the same, and whoever has mistyped a key gets to see it.
 *
 * Because it fails open, it is not what keeps a tool from a sub-agent: that is its runner, which does not offer it.
 *
 * What a subtask's own credential is told here, and what it is not, is said at `takeHookEvent`.
 */
export const claudeCodeHookEndpoint = endpoint({
  operationId: 'claudeCodeHook',
  method: 'POST',
  path: '/hooks/claude-code',
  tag: 'Sessions',
  summary: 'Take in an event of Claude Code',
  description:
    'The HTTP hook of Claude Code. A session is `<session_id>`, or `<session_id>:<agent_id>` inside of a sub-agent; the credential of a subtask, or of an assigned task, always stands for its own session. SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure and SubagentStart are answered with what is new for it as `additionalContext`. PostToolUseFailure is scanned for failures that guides know. Stop and SubagentStop store `last_assistant_message`. A call of the Agent tool with a line `muster-task: <task_id>` in its prompt hands that task to the next sub-agent of that type which the session starts. PreToolUse is denied where the definition of the calling subtask forbids the tool; a subtask is not told of its task here, but by its runner. Anything else, an error, and 500 ms without an answer are answered with an empty 200; an `Idempotency-Key` is of no effect.',
  access: 'sessions:write',
  body: hookInputSchema,
  repairsText: true,
  bodyBytesMax: 8 * 1_048_576,
  yieldsAfterMs: PATIENCE_MS,
  answers: { 200: { description: 'What Claude Code is to know or not to do; empty where there is nothing.', schema: hookAnswerSchema } },
  async handle({ ctx: { idempotency: _, ...ctx }, body, elapsedMs }) {
    const about = { session_id: body.session_id, event: body.hook_event_name }
    const complain = (error: unknown) => ctx.log.warn({ err: error, ...about }, 'a hook was answered with nothing')
    try {
      return await answerWithin(PATIENCE_MS - elapsedMs(), (isAwaited) => takeHookEvent(ctx, toHookCall(body), isAwaited), complain)
    } catch (error) {
      complain(error)
      return null
    }
  },
  answer: (answer) => (answer === null ? { status: 200 } : { status: 200, body: presentHookAnswer(answer) }),
})

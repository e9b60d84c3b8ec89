import type { SessionBrief } from './brief/brief.ts'

interface Answer {
  model?: unknown
  usage?: unknown
  content?: unknown
}

/**
 * A request to a model with the SDK of Anthropic: adds to its messages what the session has not received, and stores the answer.
 * `const answer = await withBrief(brief, { model, max_tokens, messages }, (request) => anthropic.messages.create(request))`. The answer of a stream is not stored: do that
 * with `brief.store`.
 */
export async function withBrief<Params extends { messages: unknown[] }, Result>(
  brief: SessionBrief,
  request: Params,
  create: (request: Params) => PromiseLike<Result>,
): Promise<Result> {
  const answer = await brief.around(request.messages, async () => create(request))
  const { model, usage, content } = answer as Answer
  const blocks = Array.isArray(content) ? (content as { type?: unknown; text?: unknown }[]) : []
  await brief.store({
    role: 'assistant',
    content: blocks.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join('\n'),
    ...(typeof model === 'string' ? { model } : {}),
    ...(usage == null ? {} : { usage: usage as Record<string, unknown> }),
  })
  return answer
}

import type { SessionBrief } from './brief/brief.ts'

/** What a request of Chat Completions, or of Responses with a list as input, has. */
type Request = { messages: unknown[]; model?: unknown } | { input: unknown[]; model?: unknown }

/** What is read of an answer. */
interface Answer {
  model?: unknown
  usage?: unknown
  output_text?: unknown
  choices?: { message?: { content?: unknown } }[]
}

/**
 * A request to a model with the SDK of OpenAI, Chat Completions or Responses: adds to its messages what the session has not received, and stores the answer.
 * `const answer = await withBrief(brief, { model, messages }, (request) => openai.chat.completions.create(request))`. The answer of a stream is not stored: do that with
 * `brief.store`.
 */
export async function withBrief<Params extends Request, Result>(
  brief: SessionBrief,
  request: Params,
  create: (request: Params) => PromiseLike<Result>,
): Promise<Result> {
  const answer = await brief.around('messages' in request ? request.messages : request.input, async () => create(request))
  const { model, usage, output_text, choices } = answer as Answer
  const content = output_text ?? choices?.[0]?.message?.content
  if (typeof content === 'string') {
    await brief.store({
      role: 'assistant',
      content,
      ...(typeof model === 'string' ? { model } : {}),
      ...(usage == null ? {} : { usage: usage as Record<string, unknown> }),
    })
  }
  return answer
}

import type { LanguageModelMiddleware } from 'ai'
import type { SessionBrief } from './brief/brief.ts'

type Middleware = Required<Pick<LanguageModelMiddleware, 'wrapGenerate' | 'wrapStream'>>
type Params = Parameters<Middleware['wrapGenerate']>[0]['params']
type Prompt = Params['prompt']
type StreamResult = Awaited<ReturnType<Middleware['wrapStream']>>
type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never

/** What was added to a conversation, and before how many of its messages. */
interface Added {
  at: number
  text: string
}

/**
 * Middleware of the Vercel AI SDK for the model of one session: `wrapLanguageModel({ model, middleware: briefMiddleware(muster.brief('writer-1')) })`. Before each call it adds
 * what the session has not received, after each it stores the answer. The SDK does not keep what a middleware adds, so it is added again, at its place, to every later call:
 * make one middleware for each session.
 */
export function briefMiddleware(brief: SessionBrief): LanguageModelMiddleware {
  const added: Added[] = []

  /** Calls the model with everything that was ever added. What is new counts as delivered when the model has answered. */
  const call = async <Result>(params: Params, model: (params: Params) => PromiseLike<Result>): Promise<Result> => {
    const { text, acknowledge } = await brief.hold(params.prompt, { signal: params.abortSignal })
    const fresh = text === '' ? [] : [{ at: params.prompt.length, text }]
    const result = await model({ ...params, prompt: withAdded(params.prompt, [...added, ...fresh]) })
    added.push(...fresh)
    await acknowledge()
    return result
  }

  return {
    async wrapGenerate({ params, model }) {
      const result = await call(params, (changed) => model.doGenerate(changed))
      await store(brief, model.modelId, textOf(result.content))
      return result
    },
    async wrapStream({ params, model }) {
      const result = await call(params, (changed) => model.doStream(changed))
      let text = ''
      const stream = result.stream.pipeThrough(
        new TransformStream<StreamPart, StreamPart>({
          transform(part, controller) {
            if (part.type === 'text-delta') text += part.delta
            controller.enqueue(part)
          },
          flush: () => store(brief, model.modelId, text),
        }),
      )
      return { ...result, stream }
    },
  }
}

function withAdded(prompt: Prompt, added: readonly Added[]): Prompt {
  const result = [...prompt]
  // From the back, so that places stay what they were.
  for (const { at, text } of added.toReversed()) {
    let place = Math.min(at, prompt.length)
    // Between a call of a tool and its result nothing may stand.
    while (prompt[place]?.role === 'tool') place += 1
    result.splice(place, 0, { role: 'user', content: [{ type: 'text', text }] })
  }
  return result
}

function textOf(content: readonly { type: string; text?: unknown }[]): string {
  return content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join('')
}

function store(brief: SessionBrief, model: string, content: string): Promise<void> {
  return brief.store({ role: 'assistant', content, model })
}

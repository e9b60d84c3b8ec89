import type { Injection, NewMessage } from '../generated/openapi.ts'
import type { CallOptions } from '../http/transport.ts'
import type { Sessions } from '../nouns/sessions.ts'
import { textOfMessage } from './text.ts'

export interface BriefOptions {
  /** Called with what failed after the model has answered: an acknowledgement, or a message that was not stored. The answer must not be lost for it. */
  onError?: ((error: unknown) => void) | undefined
}

/** A message as most harnesses write one. */
export interface UserMessage {
  role: 'user'
  content: string
}

/** Guides are matched against so many of the latest messages. */
const SCANNED = 3

/** What a session of an agent receives: its brief first, then each change, guides, and the results of its subtasks. */
export class SessionBrief {
  readonly session: string
  readonly #sessions: Sessions
  readonly #onError: ((error: unknown) => void) | undefined

  constructor(session: string, sessions: Sessions, { onError }: BriefOptions = {}) {
    this.session = session
    this.#sessions = sessions
    this.#onError = onError
  }

  /**
   * Call it before each request to a model: adds what the session has not received to the end of `messages`, as a message of the user. Each item is delivered
   * once, so keep the message in the history.
   */
  async inject(messages: unknown[], options?: CallOptions): Promise<Injection> {
    const injection = await this.#sessions.inject(this.session, latestTexts(messages), 'auto', options)
    if (injection.text !== '') messages.push({ role: 'user', content: injection.text } satisfies UserMessage)
    return injection
  }

  /**
   * The same around a request to a model: what was added counts as delivered only if the request succeeds. Otherwise it is removed from `messages`, and delivered again
   * after a minute.
   */
  async around<Answer>(messages: unknown[], request: () => Promise<Answer>, options?: CallOptions): Promise<Answer> {
    const held = await this.hold(messages, options)
    const message = held.text === '' ? undefined : ({ role: 'user', content: held.text } satisfies UserMessage)
    if (message !== undefined) messages.push(message)
    let answer: Answer
    try {
      answer = await request()
    } catch (error) {
      if (message !== undefined) messages.splice(messages.lastIndexOf(message), 1)
      throw error
    }
    await held.acknowledge()
    return answer
  }

  /** What the session has not received, for a caller that says itself when it has arrived. */
  async hold(messages: readonly unknown[], options?: CallOptions): Promise<{ text: string; acknowledge: () => Promise<void> }> {
    const { text, claim_id } = await this.#sessions.inject(this.session, latestTexts(messages), 'manual', options)
    const acknowledge = async () => {
      if (claim_id !== null) await this.#report(this.#sessions.acknowledge(this.session, claim_id, options))
    }
    return { text, acknowledge }
  }

  /** Stores a message of the session, such as the answer of a model. */
  async store(message: NewMessage, options?: CallOptions): Promise<void> {
    if (message.content !== '') await this.#report(this.#sessions.post(this.session, message, options))
  }

  async #report(call: Promise<unknown>): Promise<void> {
    await call.catch((error: unknown) => this.#onError?.(error))
  }
}

function latestTexts(messages: readonly unknown[]): string[] {
  return messages
    .slice(-SCANNED)
    .map(textOfMessage)
    .filter((text) => text !== '')
}

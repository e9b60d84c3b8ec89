import type { Question } from '../generated/openapi.ts'
import { pollUntil, WAIT_SECONDS } from '../http/poll.ts'
import { type BodyOf, type CallOptions, Noun, type QueryOf } from './noun.ts'

/** Questions and approvals that runs and assignees ask, and wait for. */
export class Questions extends Noun {
  get = (id: string, options?: CallOptions) => this.call('getQuestion', { path: { id } }, options)
  list = (query?: QueryOf<'listQuestions'>, options?: CallOptions) => this.pages('listQuestions', undefined, query, options)
  answer = (id: string, answer: BodyOf<'answerQuestion'>, options?: CallOptions) => this.call('answerQuestion', { path: { id }, body: answer }, options)
  withdraw = (id: string, options?: CallOptions) => this.call('withdrawQuestion', { path: { id } }, options)
  /** Waits until the question is answered, expired or withdrawn, also over restarts of the server. */
  closed = (id: string, options: Pick<CallOptions, 'signal'> = {}): Promise<Question> =>
    pollUntil(
      () => this.call('getQuestion', { path: { id }, query: { wait_seconds: WAIT_SECONDS } }, options),
      ({ status }) => status !== 'open',
      options.signal,
    )
}

import type { Event } from '../generated/openapi.ts'
import { linesOf } from '../http/event-source.ts'
import { type FollowOptions, followEvents } from '../http/follow.ts'
import { type BodyOf, type CallOptions, Noun, type QueryOf } from './noun.ts'

/** The event log of the project. */
export class Events extends Noun {
  /** Events from now on, or after an id. Continues over lost connections without missing one; ends only by its signal. */
  follow({ signal, after, onStart, ...query }: FollowOptions & Omit<QueryOf<'streamEvents'>, 'after'> = {}): AsyncGenerator<Event> {
    return followEvents(this.transport, 'streamEvents', { query }, { signal, after, onStart })
  }
}

/** Judgements of outputs. */
export class Evaluations extends Noun {
  create = (evaluation: BodyOf<'createEvaluation'>, options?: CallOptions) => this.call('createEvaluation', { body: evaluation }, options)
  get = (id: string, options?: CallOptions) => this.call('getEvaluation', { path: { id } }, options)
  list = (query?: QueryOf<'listEvaluations'>, options?: CallOptions) => this.pages('listEvaluations', undefined, query, options)
  /** The whole text that was evaluated. */
  payload = (id: string, options?: CallOptions) => this.call('getEvaluationPayload', { path: { id } }, options)
  stats = (query?: QueryOf<'getEvaluationStats'>, options?: CallOptions) => this.call('getEvaluationStats', query === undefined ? {} : { query }, options)
  /** Training examples, one JSON value each, as they arrive. */
  async *exportTraining(query?: QueryOf<'exportTraining'>, options?: CallOptions): AsyncGenerator<unknown> {
    const response = await this.transport.open('exportTraining', query === undefined ? {} : { query }, options)
    if (response.body === null) return
    for await (const line of linesOf(response.body, () => undefined)) if (line !== '') yield JSON.parse(line)
  }
}

/** Facts that agents keep, and subtasks that have ended. */
export class Memory extends Noun {
  search = (query: QueryOf<'searchMemory'>, options?: CallOptions) => this.call('searchMemory', { query }, options)
  learn = (fact: BodyOf<'learnFact'>, options?: CallOptions) => this.call('learnFact', { body: fact }, options)
  fact = (id: string, options?: CallOptions) => this.call('getFact', { path: { id } }, options)
  deleteFact = (id: string, options?: CallOptions) => this.call('deleteFact', { path: { id } }, options)
  episode = (id: string, options?: CallOptions) => this.call('getEpisode', { path: { id } }, options)
  forgetEpisode = (id: string, options?: CallOptions) => this.call('forgetEpisode', { path: { id } }, options)
}

import { type CallOptions, Noun, type QueryOf } from './noun.ts'

/** What was sent to webhooks, callbacks and channels. */
export class Deliveries extends Noun {
  list = (query?: QueryOf<'listDeliveries'>, options?: CallOptions) => this.pages('listDeliveries', undefined, query, options)
  get = (id: string, options?: CallOptions) => this.call('getDelivery', { path: { id } }, options)
  redeliver = (id: string, options?: CallOptions) => this.call('redeliver', { path: { id } }, options)
}

import { type BodyOf, type CallOptions, Noun, type QueryOf } from './noun.ts'

/** Webhooks: addresses to which events are pushed, and each delivery. */
export class Webhooks extends Noun {
  /** Its secret is in this answer only. */
  create = (webhook: BodyOf<'createWebhook'>, options?: CallOptions) => this.call('createWebhook', { body: webhook }, options)
  get = (id: string, options?: CallOptions) => this.call('getWebhook', { path: { id } }, options)
  list = (query?: QueryOf<'listWebhooks'>, options?: CallOptions) => this.pages('listWebhooks', undefined, query, options)
  update = (id: string, patch: BodyOf<'updateWebhook'>, options?: CallOptions) => this.call('updateWebhook', { path: { id }, body: patch }, options)
  delete = (id: string, options?: CallOptions) => this.call('deleteWebhook', { path: { id } }, options)
  rotateSecret = (id: string, rotation: BodyOf<'rotateWebhookSecret'>, options?: CallOptions) =>
    this.call('rotateWebhookSecret', { path: { id }, body: rotation }, options)
  /** Sends a test event. */
  test = (id: string, options?: CallOptions) => this.call('testWebhook', { path: { id } }, options)
  deliveries = (id: string, query?: QueryOf<'listWebhookDeliveries'>, options?: CallOptions) => this.pages('listWebhookDeliveries', { id }, query, options)
  delivery = (id: string, deliveryId: string, options?: CallOptions) => this.call('getWebhookDelivery', { path: { id, delivery_id: deliveryId } }, options)
  redeliver = (id: string, deliveryId: string, options?: CallOptions) => this.call('redeliverToWebhook', { path: { id, delivery_id: deliveryId } }, options)
}

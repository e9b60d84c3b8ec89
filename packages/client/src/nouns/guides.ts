import { type BodyOf, type CallOptions, Noun, type QueryOf } from './noun.ts'

/** Troubleshooting guides: patterns of a failure, and what to do about it. */
export class Guides extends Noun {
  create = (guide: BodyOf<'createTsg'>, options?: CallOptions) => this.call('createTsg', { body: guide }, options)
  /** Stores a guide from its Markdown. */
  put = (id: string, markdown: string, options?: CallOptions) => this.call('putTsg', { path: { tsg_id: id }, body: markdown }, options)
  get = (id: string, query?: QueryOf<'getTsg'>, options?: CallOptions) =>
    this.call('getTsg', { path: { tsg_id: id }, ...(query === undefined ? {} : { query }) }, options)
  list = (query?: QueryOf<'listTsgs'>, options?: CallOptions) => this.pages('listTsgs', undefined, query, options)
  update = (id: string, patch: BodyOf<'updateTsg'>, options?: CallOptions) => this.call('updateTsg', { path: { tsg_id: id }, body: patch }, options)
  delete = (id: string, query?: QueryOf<'deleteTsg'>, options?: CallOptions) =>
    this.call('deleteTsg', { path: { tsg_id: id }, ...(query === undefined ? {} : { query }) }, options)
  /** Which guides fit a text. */
  scan = (scan: BodyOf<'scanTsgs'>, options?: CallOptions) => this.call('scanTsgs', { body: scan }, options)
  feedback = (id: string, feedback: BodyOf<'recordTsgFeedback'>, options?: CallOptions) =>
    this.call('recordTsgFeedback', { path: { tsg_id: id }, body: feedback }, options)
  usage = (id: string, options?: CallOptions) => this.call('getTsgUsage', { path: { tsg_id: id } }, options)
}

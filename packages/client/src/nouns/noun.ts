import { List, type Page } from '../http/list.ts'
import type { BodyOf, InputOf, ItemOf, ListId, OperationId, OutputOf, QueryOf } from '../http/operation.ts'
import type { CallOptions, Transport } from '../http/transport.ts'

export type { BodyOf, CallOptions, QueryOf }

/** What all nouns of the API share: calls of operations, by id. */
export class Noun {
  protected readonly transport: Transport

  constructor(transport: Transport) {
    this.transport = transport
  }

  protected call<O extends OperationId>(operation: O, input: InputOf<O>, options?: CallOptions): Promise<OutputOf<O>> {
    return this.transport.call(operation, input, options)
  }

  protected pages<O extends ListId>(operation: O, path: Record<string, string> | undefined, query?: QueryOf<O>, options?: CallOptions): List<ItemOf<O>> {
    return new List((cursor) => {
      const input = { path, query: cursor === undefined ? query : { ...query, cursor } } as unknown as InputOf<O>
      return this.transport.call(operation, input, options) as Promise<Page<ItemOf<O>>>
    })
  }
}

/** Headers of a change that is refused with `revision_stale` if something else has changed since. */
export function ifMatch(revision: number | string, options: CallOptions = {}): CallOptions {
  return { ...options, headers: { ...options.headers, 'if-match': typeof revision === 'number' ? `"${revision}"` : revision } }
}

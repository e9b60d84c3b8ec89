import type { AuditEntry } from '../generated/openapi.ts'
import { linesOf } from '../http/event-source.ts'
import { type BodyOf, type CallOptions, Noun, type QueryOf } from './noun.ts'

export class Projects extends Noun {
  get = (id: string, options?: CallOptions) => this.call('getProject', { path: { id } }, options)
  update = (id: string, patch: BodyOf<'updateProject'>, options?: CallOptions) => this.call('updateProject', { path: { id }, body: patch }, options)
}

/** API keys of the project. */
export class Keys extends Noun {
  create = (key: BodyOf<'createApiKey'>, options?: CallOptions) => this.call('createApiKey', { body: key }, options)
  list = (query?: QueryOf<'listApiKeys'>, options?: CallOptions) => this.pages('listApiKeys', undefined, query, options)
  revoke = (id: string, options?: CallOptions) => this.call('revokeApiKey', { path: { id } }, options)
}

/** The processes that run subtasks. */
export class Workers extends Noun {
  list = (query?: QueryOf<'listWorkers'>, options?: CallOptions) => this.pages('listWorkers', undefined, query, options)
  /** Has a worker take no more work. */
  drain = (id: string, drain: BodyOf<'drainWorker'>, options?: CallOptions) => this.call('drainWorker', { path: { id }, body: drain }, options)
}

/** Who changed what. */
export class Audit extends Noun {
  list = (query?: QueryOf<'listAudit'>, options?: CallOptions) => this.pages('listAudit', undefined, query, options)
  /** Entries as they arrive. */
  async *export(query?: QueryOf<'exportAudit'>, options?: CallOptions): AsyncGenerator<AuditEntry> {
    const response = await this.transport.open('exportAudit', query === undefined ? {} : { query }, options)
    if (response.body === null) return
    for await (const line of linesOf(response.body, () => undefined)) if (line !== '') yield JSON.parse(line) as AuditEntry
  }
}

/** The server itself. */
export class Server extends Noun {
  health = (options?: CallOptions) => this.call('getHealth', {}, options)
  readiness = (options?: CallOptions) => this.call('getReadiness', {}, options)
  /** In the format of Prometheus. */
  metrics = (options?: CallOptions) => this.call('getMetrics', {}, options)
  /** What can execute a subtask here. */
  runners = (options?: CallOptions) => this.call('listRunners', {}, options)
}

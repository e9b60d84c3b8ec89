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

/** The server itself. */
export class Server extends Noun {
  health = (options?: CallOptions) => this.call('getHealth', {}, options)
  readiness = (options?: CallOptions) => this.call('getReadiness', {}, options)
  /** In the format of Prometheus. */
  metrics = (options?: CallOptions) => this.call('getMetrics', {}, options)
  /** What can execute a subtask here. */
  runners = (options?: CallOptions) => this.call('listRunners', {}, options)
}

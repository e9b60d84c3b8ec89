import { type BodyOf, type CallOptions, Noun, type QueryOf } from './noun.ts'

/** Sub-agents: definitions in Markdown with role, model and tools. */
export class Subagents extends Noun {
  list = (query?: QueryOf<'listSubagents'>, options?: CallOptions) => this.pages('listSubagents', undefined, query, options)
  get = (name: string, options?: CallOptions) => this.call('getSubagent', { path: { name } }, options)
  /** Stores a definition from its Markdown. */
  put = (name: string, markdown: string, options?: CallOptions) => this.call('putSubagent', { path: { name }, body: markdown }, options)
  delete = (name: string, options?: CallOptions) => this.call('deleteSubagent', { path: { name } }, options)
  /** Imports an archive (`application/zip`, `application/x-tar`, `application/gzip`), or files in a form. */
  import = (files: Uint8Array<ArrayBuffer> | Blob | FormData, contentType: string, options?: CallOptions) =>
    // openapi.yaml describes bytes as a text.
    this.call('importSubagents', { body: files as unknown as string }, { ...options, contentType })
  /** Runs a sub-agent. In the foreground it may have ended already. */
  spawn = (name: string, spawn: BodyOf<'spawnSubagent'>, options?: CallOptions) => this.call('spawnSubagent', { path: { name }, body: spawn }, options)
  /** Whether a sub-agent may use a tool with these arguments. */
  checkTool = (name: string, check: BodyOf<'checkSubagentTool'>, options?: CallOptions) =>
    this.call('checkSubagentTool', { path: { name }, body: check }, options)
}

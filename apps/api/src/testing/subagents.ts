import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CallOptions, type Reply, startApi, type TestApi } from './api.ts'

export interface SubagentsApi {
  api: TestApi
  key: string
  /** The configured folder. */
  folder: string
  /** Writes a file of the folder. */
  write(name: string, text: string): Promise<void>
  get(path: string, headers?: Record<string, string>): Promise<Reply>
  put(name: string, text: string, options?: CallOptions): Promise<Reply>
  remove(name: string, options?: CallOptions): Promise<Reply>
  post(path: string, body: object, options?: CallOptions): Promise<Reply>
  close(): Promise<void>
}

/** An API that reads definitions from a folder of its own, with a key for everything about them. */
export async function startSubagentsApi(database: Parameters<typeof startApi>[0], settings: Record<string, string> = {}): Promise<SubagentsApi> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-subagents-'))
  const api = await startApi(database, {
    SUBAGENTS_DIRS: folder,
    DEFAULT_RUNNER: 'external',
    SUBTASK_MAX_PENDING: '1000',
    SUBTASK_MAX_CONCURRENT: '1000',
    ...settings,
  })
  const key = await api.key([
    'subagents:read',
    'subagents:write',
    'subagents:spawn',
    'subtasks:read',
    'subtasks:write',
    'subtasks:claim',
    'tasks:write',
    'schedules:write',
  ])
  return {
    api,
    key,
    folder,
    write: (name, text) => writeFile(join(folder, `${name}.md`), text),
    get: (path, headers = {}) => api.call('GET', path, { key, headers }),
    put: (name, raw, options = {}) =>
      api.call('PUT', `/subagents/${name}`, { key, raw, ...options, headers: { 'content-type': 'text/markdown', ...options.headers } }),
    remove: (name, options = {}) => api.call('DELETE', `/subagents/${name}`, { key, ...options }),
    post: (path, body, options = {}) => api.call('POST', path, { key, body, ...options }),
    async close() {
      await api.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A definition in front matter. */
export const definition = (instructions: string, fields = 'tools: Read') => `---\ndescription: A test\n${fields}\n---\n\n${instructions}\n`

/** Names that would lead elsewhere if they became paths, as they stand in a URL. */
export const TRAVERSALS = [
  '..%2Fsecret',
  '..%2f..%2fetc%2fpasswd',
  '%2Fetc%2Fpasswd',
  '%2e%2e%2fsecret',
  'a%2F..%2Fb',
  '..%5Csecret',
  'memory.md',
  'x%00y',
  'UPPER',
  '.hidden',
]

import { createTsg } from '@muster/usecases'
import { type Reply, startApi, type TestApi } from './api.ts'

/** The id of nothing. */
export const UNKNOWN = '01990000-0000-7000-8000-000000000000'

export const BRIEF = {
  title: 'Write the guide',
  instructions: 'Write it. Keep it short.',
  acceptance_criteria: ['All steps work'],
  required_outputs: ['guide'],
}

export interface TasksApi {
  api: TestApi
  key: string
  send(method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** Creates a task like `BRIEF`, and answers its path. */
  make(body?: Record<string, unknown>): Promise<string>
  patch(path: string, revision: string, body: unknown): Promise<Reply>
}

/** An API with a key that reads and writes tasks, and a guide `ports` to link. */
export async function startTasksApi(database: Parameters<typeof startApi>[0]): Promise<TasksApi> {
  const api = await startApi(database)
  const key = await api.key(['tasks:read', 'tasks:write'])
  await createTsg(api.ctx, { tsgId: 'ports', title: 'Port in use', content: 'x', patterns: ['EADDRINUSE'] })
  const send: TasksApi['send'] = (method, path, body, headers = {}) => api.call(method, path, { key, headers, ...(body === undefined ? {} : { body }) })
  return {
    api,
    key,
    send,
    make: async (body = {}) => `/tasks/${(await send('POST', '/tasks', { ...BRIEF, ...body })).body.id}`,
    patch: (path, revision, body) => send('PATCH', path, body, { 'if-match': revision }),
  }
}

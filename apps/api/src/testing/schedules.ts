import { type Reply, startApi, type TestApi } from './api.ts'

export interface SchedulesApi {
  api: TestApi
  key: string
  send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** Creates a schedule, and answers its path. */
  make(body?: Record<string, unknown>): Promise<string>
}

/** An API with a key that reads and writes schedules, and reads what comes of them. */
export async function startSchedulesApi(database: Parameters<typeof startApi>[0], settings: Record<string, string> = {}): Promise<SchedulesApi> {
  const api = await startApi(database, settings)
  const key = await api.key(['schedules:read', 'schedules:write', 'subtasks:read'])
  const send: SchedulesApi['send'] = (method, path, body, headers = {}) => api.call(method, path, { key, headers, ...(body === undefined ? {} : { body }) })
  return {
    api,
    key,
    send,
    make: async (body = {}) => {
      const { when, cron } = body as { when?: string; cron?: string }
      const phrase = when === undefined && cron === undefined ? { every: 'daily at 9am UTC' } : {}
      return `/schedules/${(await send('POST', '/schedules', { task: 'Count the files.', ...phrase, ...body })).body.id}`
    },
  }
}

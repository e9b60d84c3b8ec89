import { type Reply, startApi, type TestApi } from './api.ts'

/** The lines of [D2]'s own check-in: their score is 0.6125. */
export const LINES = [
  '- ✅ Implements JWT authentication',
  '- ✅ Includes unit tests',
  '- 🐛 Rate limiting has race condition',
  '- ❓ OAuth scope needs clarification',
]

export const checkIn = (lines: readonly string[], attributes = '') => `Done.\n<npl-block type="check-in"${attributes}>\n${lines.join('\n')}\n</npl-block>`

/** A text with a reflection of these emojis. */
export const reflection = (emojis: string) => `Done.\n<npl-block type="reflection">\n${[...emojis].map((emoji) => `${emoji} x`).join('\n')}\n</npl-block>`

/** ✅ and 🐛 make 0.55. */
export const POOR = reflection('✅🐛')

export interface EvaluationsApi {
  api: TestApi
  key: string
  send(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  evaluate(body: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply>
  /** Creates a task, and answers its id. */
  task(body?: Record<string, unknown>): Promise<string>
  /** Runs a subtask to its end as an outside worker, and answers its id. */
  complete(result: string, subtask?: Record<string, unknown>): Promise<string>
}

/** An API with a key that evaluates, and makes what there is to evaluate. */
export async function startEvaluationsApi(database: Parameters<typeof startApi>[0]): Promise<EvaluationsApi> {
  const api = await startApi(database, {
    SUBTASK_MAX_PENDING: '1000',
    SUBTASK_MAX_CONCURRENT: '1000',
    // No worker runs, so no judge is called.
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    JUDGE_MODEL: 'm',
  })
  const key = await api.key([
    'evaluations:read',
    'evaluations:write',
    'tasks:read',
    'tasks:write',
    'sessions:write',
    'subtasks:read',
    'subtasks:write',
    'subtasks:claim',
    'subagents:read',
    'subagents:spawn',
  ])
  const send: EvaluationsApi['send'] = (method, path, body, headers = {}) => api.call(method, path, { key, headers, ...(body === undefined ? {} : { body }) })
  return {
    api,
    key,
    send,
    evaluate: (body, headers) => send('POST', '/evaluations', body, headers),
    task: async (body = {}) => (await send('POST', '/tasks', { title: 'Write the guide', instructions: 'Write it. Keep it short.', ...body })).body.id,
    async complete(result, subtask = {}) {
      const { id } = (await send('POST', '/subtasks', { task: 'Count the files.', runner: 'external', ...subtask })).body
      const claimed = (await send('POST', '/subtasks/claim', { worker_id: 'w' })).body
      if (claimed.subtask.id !== id) throw new Error('another subtask was waiting')
      await send('POST', `/subtasks/${id}/complete`, { lease_token: claimed.lease.token, result })
      return id
    },
  }
}

import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { forgetDrafts } from '../design/use-draft.ts'
import { callServer, setCsrfToken } from '../muster.ts'

/** How this browser is signed in. On an open server it needs no key. */
export interface Session {
  mode: 'open' | 'keys'
  signed_in: boolean
  /** Why a sign-in has ended. */
  reason?: string
  csrf_token?: string
  expires_at?: string
  project_id?: string
  scopes?: string[]
}

/** The cookie is renewed by reading the session. */
const RENEW_MS = 10 * 60 * 1000

async function send(method: string, body?: unknown): Promise<Session | undefined> {
  const response = await callServer('/ui/session', {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  if (response.status === 204) return undefined
  const answer = (await response.json()) as Session & { detail?: string }
  if (!response.ok) throw new Error(answer.detail ?? `The server answered with ${response.status}.`)
  setCsrfToken(answer.csrf_token)
  return answer
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async () => (await send('GET')) as Session,
  staleTime: RENEW_MS,
  refetchInterval: RENEW_MS,
})

/** All tabs have one cookie: what one tab does with it counts for the others. */
const channel = new BroadcastChannel('muster-session')

/** @throws Error with what to tell the person */
export async function signIn(key: string): Promise<Session> {
  const session = (await send('POST', { key: key.trim() })) as Session
  channel.postMessage('in')
  return session
}

export async function signOut(): Promise<void> {
  await send('DELETE')
  setCsrfToken(undefined)
  forgetDrafts()
  channel.postMessage('out')
}

/** When another tab signs in or out, nothing that this one has read may stay: it may be of another project. */
export function followSession(client: QueryClient): void {
  channel.onmessage = ({ data }: MessageEvent<'in' | 'out'>) => {
    if (data === 'out') forgetDrafts()
    void client.resetQueries()
  }
}

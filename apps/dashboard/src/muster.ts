import { Muster } from '@muster/client'
import { reportAnswer, reportOutage } from './live/connection.ts'

let csrfToken: string | undefined

/** The token that writes have to send beside the cookie. It lives in this page only. */
export function setCsrfToken(token: string | undefined): void {
  csrfToken = token
}

/** Adds the CSRF token, and notes whether the server answers. */
export async function callServer(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  if (csrfToken !== undefined) headers.set('x-csrf-token', csrfToken)
  try {
    const response = await fetch(input, { ...init, headers, credentials: 'same-origin' })
    if (response.status === 503) reportOutage()
    else reportAnswer()
    return response
  } catch (error) {
    if (init.signal?.aborted !== true) reportOutage()
    throw error
  }
}

/** The public API, as every client sees it. Queries repeat what fails, so the client does not. */
export const muster = new Muster({ url: window.location.origin, fetch: callServer as typeof fetch, retries: 0 })

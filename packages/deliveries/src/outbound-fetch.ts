import { type AddressRules, OutboundRefused, type OutboundRequest, openRequest, readOutboundUrl } from '@muster/outbound'
import { readRetryAfter } from './retry-after.ts'

/** Longer than any answer of a service for messages, of which the longest is a page of updates. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024

/** The last answer that a library has read, or why there was none. */
export interface Seen {
  status: number | null
  retryAfterSeconds: number | null
  response: string | null
  refusal: string | null
}

type FetchOptions = Pick<OutboundRequest, 'resolve' | 'dial'> & {
  rules: AddressRules
  signal: AbortSignal
  /** A part of the URL that answers and errors are shown without: many servers repeat the URL of what they refuse. */
  secret?: string
}

/** `fetch` for the libraries of message services: their requests go by the same address rules as webhooks, and the channel sees what came back. */
export function outboundFetch({ secret = '', ...options }: FetchOptions): {
  seen: Seen
  fetch: typeof fetch
} {
  const seen: Seen = { status: null, retryAfterSeconds: null, response: null, refusal: null }
  const withoutSecret = (text: string) => (secret === '' ? text : text.replaceAll(secret, '[secret]'))
  const send: typeof fetch = async (input, init = {}) => {
    if (init.body !== undefined && init.body !== null && typeof init.body !== 'string') throw new Error('only bodies of text are sent')
    try {
      const url = readOutboundUrl(String(input instanceof Request ? input.url : input))
      const headers = Object.fromEntries(new Headers(init.headers))
      const answer = await openRequest(url, { ...options, method: init.method === 'GET' ? 'GET' : 'POST', headers, body: init.body ?? undefined })
      seen.status = answer.statusCode ?? 0
      seen.retryAfterSeconds = readRetryAfter(answer.headers)
      const chunks: Buffer[] = []
      let length = 0
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        length += chunk.length
        if (length > ANSWER_BYTES_MAX) break
      }
      answer.destroy()
      seen.response = withoutSecret(Buffer.concat(chunks).toString('utf8'))
      return new Response(seen.status === 204 ? null : seen.response, {
        status: seen.status,
        headers: { 'content-type': answer.headers['content-type'] ?? 'text/plain' },
      })
    } catch (error) {
      if (!(error instanceof OutboundRefused)) throw error
      seen.refusal = withoutSecret(error.message)
      throw new OutboundRefused(seen.refusal)
    }
  }
  return { seen, fetch: send }
}

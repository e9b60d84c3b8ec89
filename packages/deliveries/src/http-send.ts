import type { IncomingMessage } from 'node:http'
import { cutToBytes, RESPONSE_EXCERPT_BYTES, type SendOutcome, type SendResult, toStorableText } from '@muster/domain'
import { type AddressRules, allowing, OutboundRefused, type OutboundRequest, openRequest, readOutboundUrl } from '@muster/outbound'
import { readRetryAfter } from './retry-after.ts'

export interface SendOptions extends Pick<OutboundRequest, 'resolve' | 'dial'> {
  /** OUTBOUND_ALLOW. */
  operatorAllow: readonly string[]
}

interface Post {
  url: string
  headers: Record<string, string>
  body: string
  projectAllow: readonly string[]
}

/** Posts once. An answer of any status is a result; only 2xx delivers, so a redirect does not. */
export async function post(
  { operatorAllow, resolve, dial }: SendOptions,
  { url, headers, body, projectAllow }: Post,
  signal: AbortSignal,
): Promise<SendResult> {
  const startedMs = performance.now()
  const ended = (outcome: SendOutcome, more: Partial<SendResult>): SendResult => ({
    outcome,
    status: null,
    error: null,
    response: null,
    retryAfterSeconds: null,
    ...more,
    latencyMs: Math.round(performance.now() - startedMs),
  })
  const rules: AddressRules = allowing({ operator: operatorAllow, project: projectAllow })
  try {
    const answer = await openRequest(readOutboundUrl(url), { method: 'POST', headers, body, rules, signal, resolve, dial })
    const status = answer.statusCode ?? 0
    const response = await readExcerpt(answer)
    if (status >= 200 && status <= 299) return ended('delivered', { status, response })
    const error = status >= 300 && status <= 399 ? `answered ${status}; redirects are not followed` : `answered ${status}`
    return ended(status === 410 ? 'gone' : 'failed', {
      status,
      response,
      error,
      retryAfterSeconds: status === 429 || status === 503 ? readRetryAfter(answer.headers) : null,
    })
  } catch (error) {
    return ended('failed', { error: describe(error, signal) })
  }
}

/** The beginning of an answer. The rest is not read, however long it is; a body that breaks off or never comes is no reason to send again. */
async function readExcerpt(answer: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= RESPONSE_EXCERPT_BYTES) break
    }
  } catch {
    // The status has arrived, which is what counts.
  } finally {
    answer.destroy()
  }
  if (length === 0) return null
  return cutToBytes(toStorableText(Buffer.concat(chunks).subarray(0, RESPONSE_EXCERPT_BYTES).toString('utf8')), RESPONSE_EXCERPT_BYTES).text
}

function describe(error: unknown, signal: AbortSignal): string {
  if (error instanceof OutboundRefused) return error.message
  if (signal.aborted) return 'did not answer in time'
  const { code, message } = error as NodeJS.ErrnoException
  return `the connection failed (${code ?? message})`
}

import { cutToBytes, cutToUnits, type OutboundDelivery, type PersonMessage, RESPONSE_EXCERPT_BYTES, type SendResult, toStorableText } from '@muster/domain'
import type { Seen } from './outbound-fetch.ts'

const REASON_UNITS_MAX = 500

/** @throws Error for a delivery to a program */
export function readMessage({ message }: Pick<OutboundDelivery, 'message'>): PersonMessage {
  if (message === null) throw new Error('a delivery to people has no message')
  return message
}

/**
 * Sends through the library of a service once, and says how it ended. A limit of the service says nothing about the message: it counts as no failure of it.
 *
 * @param send throws where the service did not take the message; the reason is in its error
 */
export async function attempt(seen: Seen, signal: AbortSignal, send: () => Promise<unknown>): Promise<SendResult> {
  const startedMs = performance.now()
  let error: string | null = null
  try {
    await Promise.race([send(), aborted(signal)])
  } catch (thrown) {
    error = seen.refusal ?? (signal.aborted ? 'did not answer in time' : reasonOf(thrown))
  }
  const retryAfterSeconds = error === null ? null : seen.retryAfterSeconds
  const isLimited = seen.status === 429 && retryAfterSeconds !== null && retryAfterSeconds > 0
  const excerpt = seen.response === null ? null : cutToBytes(toStorableText(seen.response), RESPONSE_EXCERPT_BYTES).text
  return {
    outcome: error === null ? 'delivered' : isLimited ? 'limited' : 'failed',
    status: seen.status,
    latencyMs: Math.round(performance.now() - startedMs),
    error,
    response: excerpt,
    retryAfterSeconds,
  }
}

/** A library may wait for its service for longer than it was given. */
async function aborted(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted()
  return await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}

/** Messages of libraries may contain the URL, in which the token is: only what is known to be free of it is kept. */
function reasonOf(thrown: unknown): string {
  const { description, response, responseCode, code } = thrown as Record<'description' | 'response' | 'responseCode' | 'code', unknown>
  // What Telegram describes, and what an SMTP server answers.
  const said = typeof description === 'string' ? description : response
  if (typeof said === 'string') return `was refused: ${cutToUnits(toStorableText(said), REASON_UNITS_MAX).text}`
  return `was not taken (${String(responseCode ?? code ?? 'the connection failed')})`
}

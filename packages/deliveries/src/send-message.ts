import { cutToBytes, cutToUnits, type OutboundDelivery, type PersonMessage, RESPONSE_EXCERPT_BYTES, type SendResult, toStorableText } from '@muster/domain'
import type { Seen } from './outbound-fetch.ts'

const REASON_UNITS_MAX = 500

/** @throws Error for a delivery to a program */
export function readMessage({ message }: Pick<OutboundDelivery, 'message'>): PersonMessage {
  if (message === null) throw new Error('a delivery to people has no message')
  return message
}

/**
 * Sends through the library of a service once, and says how it ended.
 *
 * @param send throws where the service did not take the message; the reason is in its error
 */
export async function attempt(seen: Seen, signal: AbortSignal, send: () => Promise<unknown>): Promise<SendResult> {
  const startedMs = performance.now()
  let error: string | null = null
  try {
    await send()
  } catch (thrown) {
    error = seen.refusal ?? (signal.aborted ? 'did not answer in time' : reasonOf(thrown))
  }
  const excerpt = seen.response === null ? null : cutToBytes(toStorableText(seen.response), RESPONSE_EXCERPT_BYTES).text
  return {
    outcome: error === null ? 'delivered' : 'failed',
    status: seen.status,
    latencyMs: Math.round(performance.now() - startedMs),
    error,
    response: excerpt,
    retryAfterSeconds: error === null ? null : seen.retryAfterSeconds,
  }
}

/** Messages of libraries may contain the URL, in which the token is: only what is known to be free of it is kept. */
function reasonOf(thrown: unknown): string {
  const { description, responseCode, code } = thrown as { description?: unknown; responseCode?: unknown; code?: unknown }
  if (typeof description === 'string') return `was refused: ${cutToUnits(toStorableText(description), REASON_UNITS_MAX).text}`
  return `was not taken (${String(responseCode ?? code ?? 'the connection failed')})`
}

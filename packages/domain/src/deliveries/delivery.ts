import type { PersonMessage } from './message.ts'

/** failed: it is not tried again by itself; a person or a program may send it again. */
export const DELIVERY_STATUSES = ['pending', 'sending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** Attempts that a delivery keeps in its log; older ones are dropped. */
export const ATTEMPTS_KEPT = 20
/** Of an answer, in bytes. */
export const RESPONSE_EXCERPT_BYTES = 1_024
/** A delivery is given up when its next attempt would come later than this, in seconds. */
export const GIVE_UP_SECONDS = 72 * 3_600
/** Longest wait that a receiver can ask for with `Retry-After`, in seconds. */
const RETRY_AFTER_MAX = 24 * 3_600
/** Attempts of one time of day must not stay together: each wait is shortened by up to this share. */
const JITTER = 0.2

/** One attempt, as the log of a delivery shows it. */
export interface DeliveryAttempt {
  at: string
  /** The status of the answer; null if there was none. */
  status: number | null
  latency_ms: number
  /** Why there was no answer, or none that counts; null for a success. */
  error: string | null
  /** The beginning of the answer. */
  response: string | null
}

/**
 * How an attempt ended. `gone`: the receiver wants nothing more. `refused`: trying again would change nothing. `limited`: the receiver takes nothing for
 * `retryAfterSeconds`, whatever it is.
 */
export type SendOutcome = 'delivered' | 'failed' | 'gone' | 'refused' | 'limited'

export interface SendResult {
  outcome: SendOutcome
  status: number | null
  latencyMs: number
  error: string | null
  response: string | null
  /** What the receiver asked for, in seconds. */
  retryAfterSeconds: number | null
  /** Of a failure that says nothing about other receivers of its destination. */
  isOfReceiverAlone?: boolean
}

/** What a channel sends. */
export interface OutboundDelivery {
  /** Stays the same in all attempts: `webhook-id` of Standard Webhooks. */
  id: string
  type: string
  body: string
  /** For people; null for programs, which get the body. */
  message: PersonMessage | null
  receiver: OpenReceiver
  /** The span of the attempt, for receivers that take part in traces. */
  traceparent?: string
}

/** A receiver with its secrets in plain text. */
export interface OpenReceiver {
  id: string
  url: string | null
  /** The current one first. */
  secrets: readonly string[]
  /** Of a channel for people: `chat_id`, or `to`. */
  options: Record<string, unknown>
  /** `outbound_allow` of the project. */
  outboundAllow: readonly string[]
}

/** Sends deliveries of one kind of receiver. Failures are results; it throws only for defects. */
export interface Channel {
  send(delivery: OutboundDelivery, signal: AbortSignal): Promise<SendResult>
}

/**
 * Seconds until the next attempt; null if the delivery is given up.
 *
 * @param waits seconds after each attempt, from the first
 * @param made attempts so far, from 1
 * @param random from 0 to 1
 */
export function secondsToNextAttempt(waits: readonly number[], made: number, retryAfterSeconds: number | null, random: number): number | null {
  const wait = waits[made - 1]
  if (wait === undefined) return null
  return Math.max(wait * (1 - JITTER * random), Math.min(retryAfterSeconds ?? 0, RETRY_AFTER_MAX))
}

/**
 * Circuit breaker of a destination: from so many failures in a row, it is left alone for these seconds in turn, and then tried with one delivery. The last
 * pause is the longest.
 */
export const BREAKER = { failures: 5, seconds: [10, 20, 40, 80, 160, 320, 600] } as const
/** Longest pause of a destination that a `Retry-After` asks for, in seconds. */
export const PAUSE_SECONDS_MAX = 3_600

/** Seconds until a delivery is sent that met a limit of its receiver. Null if it keeps its place: its destination is paused for long enough. */
export function secondsOfLimit(retryAfterSeconds: number): number | null {
  return retryAfterSeconds > PAUSE_SECONDS_MAX ? Math.min(retryAfterSeconds, RETRY_AFTER_MAX) : null
}

import { type DeliveryEnd, type DestinationResult, outbox, receivers, sending, transaction } from '@muster/db'
import {
  ATTEMPTS_KEPT,
  BREAKER,
  type Channel,
  DomainError,
  type NewEvent,
  PAUSE_SECONDS_MAX,
  type PersonMessage,
  type ReceiverKind,
  type SendResult,
  secondsOfLimit,
  secondsToNextAttempt,
} from '@muster/domain'
import { BatchExecutor } from '../core/batch-executor.ts'
import type { Deps } from '../core/ctx.ts'
import { idOf } from '../core/secrets.ts'
import { startSpanAfter, THREW } from '../core/spans.ts'
import { storeUntil } from '../core/store-until.ts'
import { isAtItsBot, moveHeld } from './bot-destination.ts'
import { openSecrets } from './change-webhooks.ts'
import { composeMessage, isForPeople, secondsToWait, takeCompanions } from './compose-message.ts'

/** Deliveries of one destination that are sent at the same time, by all workers: a slow one takes no more of them. */
const PER_DESTINATION = 20
/** A lease lasts this much longer than an attempt may take, in seconds, so that its result can be stored. */
const LEASE_SPARE_SECONDS = 10
const SYSTEM = { kind: 'system', id: 'deliveries' }

/** A delivery that a worker sends. */
export type HeldDelivery = sending.ClaimedDelivery

export type Channels = ReadonlyMap<ReceiverKind, Channel>

/**
 * Takes up to `limit` deliveries that are due, of all projects.
 *
 * @returns null while another process takes some; `isAnyOpen`: whether any waits or is being sent, so that looking again soon makes sense
 */
export async function claimDeliveries(deps: Deps, limit: number): Promise<{ held: HeldDelivery[]; isAnyOpen: boolean } | null> {
  if (!(await sending.isAnyOpen(deps.dispatchDb))) return { held: [], isAnyOpen: false }
  const leaseSeconds = deps.settings.DELIVERY_TIMEOUT_SECONDS + LEASE_SPARE_SECONDS
  const limits = { limit, leaseSeconds, perDestination: PER_DESTINATION, breakerFailures: BREAKER.failures }
  const held = await transaction(deps.dispatchDb, null, (tx) => sending.claimDeliveries(tx, limits))
  return held === null ? null : { held, isAnyOpen: true }
}

/**
 * Sends one delivery outside of every transaction, and stores how that ended. If this process dies in between, another worker sends it again with the
 * same id when the lease has expired.
 *
 * @param stopping ends the attempt, and gives the delivery back
 * @returns how it is now; null if another worker has taken it meanwhile
 */
export async function sendDelivery(deps: Deps, channels: Channels, held: HeldDelivery, stopping: AbortSignal): Promise<string | null> {
  const giveBack = async (waitSeconds: number | null) => {
    const { id, tries, rung } = held
    const end: DeliveryEnd = { id, tries, rung, status: 'pending', waitSeconds, attempt: null }
    return await storeUntil(stopping, () => storesOf(deps).add({ ends: [end], destinations: [] }))
  }
  if (!isAtItsBot(deps, held)) {
    await storeUntil(stopping, () => moveHeld(deps, held))
    return await giveBack(null)
  }
  const waitSeconds = secondsToWait(held)
  if (waitSeconds > 0) return await giveBack(waitSeconds)
  const companions = await takeCompanions(deps, held, deps.settings.DELIVERY_TIMEOUT_SECONDS + LEASE_SPARE_SECONDS)
  const message = isForPeople(held.kind) ? await composeMessage(deps, held, companions) : null
  const result = await tracedAttempt(deps, channels, { held, id: messageId(held, companions), message }, stopping)
  if (result?.outcome === 'gone' && held.kind === 'webhook') await storeUntil(stopping, () => disableGone(deps, held))
  return await storeUntil(stopping, () => storesOf(deps).add(toStore(deps, held, companions, result)))
}

/** A delivery with its message, if it is for people. */
interface Whole {
  held: HeldDelivery
  /** A repetition has the same. Of a message for several deliveries it is made of theirs: with another one among them it is another message. */
  id: string
  message: PersonMessage | null
}

function messageId({ id }: Pick<HeldDelivery, 'id'>, companions: readonly sending.Companion[]): string {
  if (companions.length === 0) return id
  return idOf([id, ...companions.map((companion) => companion.id)].sort().join())
}

/** An attempt in the trace of the subtask that the event is about, if it is about one. */
async function tracedAttempt(deps: Deps, channels: Channels, whole: Whole, stopping: AbortSignal): Promise<SendResult | null> {
  if (deps.tracing === undefined) return await attempt(deps, channels, whole, stopping)
  const { held } = whole
  const { projectId, id, kind, receiverId, type, body, rung } = held
  const span = await startSpanAfter(deps, { projectId, subtaskId: subtaskOf(body) }, `deliver ${kind}`, {
    kind: 'client',
    attributes: { 'muster.delivery.id': id, 'muster.receiver.id': receiverId, 'muster.event.type': type, 'muster.attempt': rung + 1 },
  })
  let error: string | undefined = THREW
  try {
    const result = await attempt(deps, channels, whole, stopping, span?.traceparent)
    span?.set({ 'muster.end': result?.outcome ?? 'given_back', ...(result?.status == null ? {} : { 'http.response.status_code': result.status }) })
    error = result !== null && result.outcome !== 'delivered' ? result.outcome : undefined
    return result
  } finally {
    span?.end(error)
  }
}

/** The subtask that the event in a body is about. */
function subtaskOf(body: string): string | null {
  const { subject, data } = JSON.parse(body) as { subject?: { kind: string; id: string }; data?: { subtask_id?: unknown } }
  if (subject?.kind === 'subtask') return subject.id
  return typeof data?.subtask_id === 'string' ? data.subtask_id : null
}

/** Null if the process stops. */
async function attempt(deps: Deps, channels: Channels, { held, id, message }: Whole, stopping: AbortSignal, traceparent?: string): Promise<SendResult | null> {
  const channel = channels.get(held.kind)
  if (channel === undefined) return failure('This worker cannot send to this kind of receiver.')
  let secrets: string[]
  try {
    secrets = openSecrets(deps, { ...held, id: held.receiverId })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    deps.log.error({ err: error, receiver_id: held.receiverId }, 'cannot sign a delivery; it is tried again')
    return failure(error.message)
  }
  const { type, body, receiverId, url } = held
  const timeout = AbortSignal.timeout(deps.settings.DELIVERY_TIMEOUT_SECONDS * 1_000)
  const receiver = { id: receiverId, url, secrets, options: held.options, outboundAllow: held.outboundAllow }
  const delivery = { id, type, body, message, receiver, ...(traceparent !== undefined && { traceparent }) }
  const result = await channel.send(delivery, AbortSignal.any([stopping, timeout]))
  return stopping.aborted && result.outcome === 'failed' ? null : result
}

function failure(error: string): SendResult {
  return { outcome: 'failed', status: null, latencyMs: 0, error, response: null, retryAfterSeconds: null, isOfReceiverAlone: true }
}

interface Stored {
  /** Of the delivery, and of those that went with it. */
  ends: DeliveryEnd[]
  destinations: DestinationResult[]
}

function toStore(deps: Deps, held: HeldDelivery, companions: readonly sending.Companion[], result: SendResult | null): Stored {
  const members = [held, ...companions]
  if (result === null) {
    return { ends: members.map(({ id, tries, rung }) => ({ id, tries, rung, status: 'pending', waitSeconds: null, attempt: null })), destinations: [] }
  }
  const { outcome, status, latencyMs, error, response, retryAfterSeconds } = result
  const random = Math.random()
  const endOf = ({ id, tries, rung }: sending.Companion): DeliveryEnd => {
    const attempt = { at: held.claimedAt, status, latency_ms: latencyMs, error, response }
    if (outcome === 'limited') return { id, tries, rung, status: 'pending', waitSeconds: secondsOfLimit(retryAfterSeconds ?? 0), attempt }
    const made = rung + 1
    const wait = outcome === 'failed' ? secondsToNextAttempt(deps.settings.DELIVERY_RETRY_SECONDS, made, retryAfterSeconds, random) : null
    const end = outcome === 'delivered' ? 'delivered' : wait === null ? 'failed' : 'pending'
    return { id, tries, rung: made, status: end, waitSeconds: wait ?? 0, attempt }
  }
  return { ends: members.map(endOf), destinations: destinationResults(held, result) }
}

/**
 * What a result says about the destination. That of a chat is its bot, whose other chats go on where one refuses messages: such a failure counts for the
 * chat alone, and shows that the bot works if Telegram has answered.
 */
function destinationResults(
  { kind, projectId, receiverId, destinationId }: HeldDelivery,
  { outcome, status, retryAfterSeconds, isOfReceiverAlone = false }: SendResult,
): DestinationResult[] {
  const pauseSeconds = Math.min(retryAfterSeconds ?? 0, PAUSE_SECONDS_MAX)
  const failed = (id: string) => ({ projectId, id, failures: 1, pauseSeconds })
  const works = (id: string) => ({ projectId, id, failures: 0, pauseSeconds: 0 })
  if (outcome === 'limited') return [{ projectId, id: destinationId, failures: 0, pauseSeconds }]
  const isChat = kind === 'telegram' && destinationId !== receiverId
  if (outcome !== 'failed') return [works(destinationId), ...(isChat ? [works(receiverId)] : [])]
  if (!isChat || !isOfReceiverAlone) return [failed(destinationId)]
  return [failed(receiverId), ...(status === null ? [] : [works(destinationId)])]
}

/** Disables a webhook that answered 410, with its event. Repeating it changes nothing. */
async function disableGone(deps: Deps, { projectId, receiverId, url }: HeldDelivery): Promise<void> {
  await transaction(deps.db, projectId, async (tx) => {
    const disabled = await receivers.disableReceiver(tx, projectId, receiverId, 'It answered 410 Gone.')
    if (disabled === null) return
    const event: NewEvent = {
      type: 'webhook.disabled',
      subject: { kind: 'webhook', id: receiverId },
      data: { webhook_id: receiverId, url, reason: disabled.disabledReason },
      actor: SYSTEM,
    }
    await outbox.publish(tx, projectId, [event])
    tx.afterCommit(() => deps.notifier.notify('outbox'))
  })
}

const stores = new WeakMap<Deps['dispatchDb'], BatchExecutor<Stored, string | null>>()

/** Results of deliveries that end at about the same time share a commit. */
function storesOf(deps: Deps): BatchExecutor<Stored, string | null> {
  const known = stores.get(deps.dispatchDb)
  if (known !== undefined) return known
  const store = async (batch: readonly Stored[]) => {
    const ended = await transaction(deps.dispatchDb, null, async (tx) => {
      const rows = await sending.storeEnds(
        tx,
        batch.flatMap(({ ends }) => ends),
        ATTEMPTS_KEPT,
      )
      await sending.recordDestinations(tx, summarise(batch), BREAKER)
      return rows
    })
    const statuses = new Map(ended.map(({ id, status }) => [id, status]))
    return batch.map(({ ends }) => ({ answer: statuses.get(ends[0]?.id ?? '') ?? null }))
  }
  const executor = new BatchExecutor(store, { batchesAtOnce: 2, batchSizeMax: 200 })
  stores.set(deps.dispatchDb, executor)
  return executor
}

/** One result for each destination: one success in a batch means that it works. */
function summarise(batch: readonly Stored[]): DestinationResult[] {
  const byId = new Map<string, DestinationResult>()
  const working = new Set<string>()
  for (const destination of batch.flatMap(({ destinations }) => destinations)) {
    if (destination.failures === 0) working.add(destination.id)
    const before = byId.get(destination.id)
    byId.set(destination.id, {
      ...destination,
      failures: working.has(destination.id) ? 0 : destination.failures + (before?.failures ?? 0),
      pauseSeconds: Math.max(destination.pauseSeconds, before?.pauseSeconds ?? 0),
    })
  }
  // Rows of destinations are locked in the order of their ids by each process.
  return [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
}

const ENDED_AT_ONCE = 1_000

/** Gives up deliveries that can never be sent: of receivers that are gone or disabled, and of those that were away for too long. */
export async function endUnsendableDeliveries(deps: Deps): Promise<void> {
  let ended = ENDED_AT_ONCE
  while (ended === ENDED_AT_ONCE) ended = await sending.endUnsendable(deps.dispatchDb, ENDED_AT_ONCE)
}

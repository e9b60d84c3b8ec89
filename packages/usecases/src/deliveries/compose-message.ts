import { questions, sending, transaction } from '@muster/db'
import {
  CHANNEL_KINDS,
  DIGEST_MESSAGES_MAX,
  digestMessage,
  messageOf,
  type PersonMessage,
  type QuietHours,
  type ReceiverKind,
  secondsOfQuiet,
} from '@muster/domain'
import type { Deps } from '../core/ctx.ts'

/** When a channel for people wants its messages. */
interface Rules {
  quiet_hours?: QuietHours & { timezone: string }
  digest_seconds?: number
}

export const isForPeople = (kind: ReceiverKind): boolean => (CHANNEL_KINDS as readonly string[]).includes(kind)

/** A question is a message of its own, because it is answered, and does not wait for others. */
const isQuestion = ({ type }: Pick<sending.ClaimedDelivery, 'type'>) => type === 'question.asked'

/** Seconds for which a delivery has to wait: until quiet hours are over, and until others have had their time to go with it. */
export function secondsToWait(held: sending.ClaimedDelivery): number {
  const { quiet_hours: quiet, digest_seconds: digest } = held.options as Rules
  const quietSeconds = quiet === undefined ? 0 : secondsOfQuiet(new Date(held.claimedAt), quiet, quiet.timezone)
  const isCollecting = digest !== undefined && held.rung === 0 && !isQuestion(held)
  return Math.max(quietSeconds, isCollecting ? digest - held.waitedSeconds : 0)
}

/** Takes the deliveries that go to the same people in the message of this one. They end with it, in one commit. */
export async function takeCompanions(deps: Deps, held: sending.ClaimedDelivery, leaseSeconds: number): Promise<sending.Companion[]> {
  const { quiet_hours: quiet, digest_seconds: digest } = held.options as Rules
  if (!isForPeople(held.kind) || isQuestion(held) || (quiet === undefined && digest === undefined)) return []
  return await sending.takeCompanions(deps.dispatchDb, held, { limit: DIGEST_MESSAGES_MAX - 1, leaseSeconds })
}

/** The message of a delivery, and of those that go with it. It is as things are now: a question that was answered meanwhile has no buttons any more. */
export async function composeMessage({ db }: Deps, held: sending.ClaimedDelivery, companions: readonly sending.Companion[]): Promise<PersonMessage> {
  const event = JSON.parse(held.body) as Parameters<typeof messageOf>[0]
  if (companions.length > 0) return digestMessage([held, ...companions].sort(byAge).map(({ body }) => messageOf(JSON.parse(body))))
  const questionId = isQuestion(held) ? event.data.question_id : undefined
  if (typeof questionId !== 'string') return messageOf(event)
  return messageOf(event, await transaction(db, held.projectId, (tx) => questions.findQuestion(tx, questionId)))
}

const byAge = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Text {
  type: string
  text: string
}

interface Block {
  type: string
  text?: Text
  elements?: { type: string; text: Text; value?: string }[]
}

/** A message as Slack has taken it. */
export interface SlackMessage {
  text: string
  blocks: (Block & { text: Text })[]
}

export interface SlackServer {
  /** The address of an incoming webhook. */
  url: string
  sent: SlackMessage[]
  /** How many requests were refused because they came too fast. */
  readonly refused: number
  /** How many came before the time that a refusal had named. */
  readonly early: number
  /** Answers the next requests with a refusal, such as 404 `no_service` or 410 `channel_is_archived`. */
  refuseNext(status: number, text: string, times?: number): void
  /** Leaves the next request without an answer, before its message is taken or after. Kept when that request has come. */
  hangNext(when: 'before' | 'after'): Promise<void>
  close(): Promise<void>
}

const PATH = '/services/T00/B00/a-secret-of-slack'
/** In UTF-16 units. */
const TEXT_UNITS_MAX = 40_000
const UNITS_MAX: Record<string, number> = { header: 150, section: 3_000 }
const BUTTON_UNITS_MAX = { text: 75, value: 2_000 }
const BLOCKS_MAX = 50
const BUTTONS_MAX = 25
/** Requests that may come at once; after them one a second. */
const BURST = 3

const isText = ({ text }: Text, unitsMax: number) => text.length > 0 && text.length <= unitsMax && text.isWellFormed()

function isBlock({ type, text, elements = [] }: Block): boolean {
  if (type !== 'actions') return text !== undefined && isText(text, UNITS_MAX[type] ?? 0)
  const isButton = ({ text: label, value = '' }: NonNullable<Block['elements']>[number]) =>
    isText(label, BUTTON_UNITS_MAX.text) && value.length <= BUTTON_UNITS_MAX.value
  return elements.length > 0 && elements.length <= BUTTONS_MAX && elements.every(isButton)
}

/**
 * An incoming webhook that refuses what Slack refuses: another address, blocks that are empty, too many or too long, text with half a surrogate, and more than a
 * message a second after a short burst.
 *
 * @param readMs the time in milliseconds, for a test whose clock moves
 */
export async function startSlack(readMs: () => number | Promise<number> = () => performance.now()): Promise<SlackServer> {
  const sent: SlackMessage[] = []
  let [refused, early, room, filledAtMs, closedUntilMs] = [0, 0, BURST, await readMs(), 0]
  let refusals: { status: number; text: string }[] = []
  let hang: { when: 'before' | 'after'; reached: () => void } | null = null

  /** Seconds until a message would be taken; 0 takes it. */
  const secondsToWait = (nowMs: number): number => {
    if (nowMs < closedUntilMs) early += 1
    room = Math.min(BURST, room + (nowMs - filledAtMs) / 1_000)
    filledAtMs = nowMs
    if (nowMs >= closedUntilMs && room >= 1) {
      room -= 1
      return 0
    }
    refused += 1
    closedUntilMs = Math.max(closedUntilMs, nowMs + 1_000)
    return Math.max(1, Math.ceil((closedUntilMs - nowMs) / 1_000))
  }

  const server = createServer(async (request, response) => {
    const answer = (status: number, text: string, headers = {}) => void response.writeHead(status, headers).end(text)
    let body = ''
    for await (const chunk of request) body += chunk
    if (request.url !== PATH) return answer(404, 'no_service')
    const seconds = secondsToWait(await readMs())
    if (seconds > 0) return answer(429, 'rate_limited', { 'retry-after': String(seconds) })
    const refusal = refusals.shift()
    if (refusal !== undefined) return answer(refusal.status, refusal.text)
    const message = JSON.parse(body) as SlackMessage
    const isValid = message.text.length > 0 && message.text.length <= TEXT_UNITS_MAX && message.blocks.length <= BLOCKS_MAX && message.blocks.every(isBlock)
    if (!isValid) return answer(400, 'invalid_blocks')
    const held = hang
    hang = null
    if (held?.when === 'before') return held.reached()
    sent.push(message)
    if (held !== null) return held.reached()
    answer(200, 'ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    sent,
    get refused() {
      return refused
    },
    get early() {
      return early
    },
    refuseNext(status, text, times = 1) {
      refusals = Array.from({ length: times }, () => ({ status, text }))
    },
    hangNext: (when) =>
      new Promise((reached) => {
        hang = { when, reached }
      }),
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

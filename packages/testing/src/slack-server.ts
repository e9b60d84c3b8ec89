import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A message as Slack has taken it. */
export interface SlackMessage {
  text: string
  blocks: { type: string; text: { type: string; text: string } }[]
}

export interface SlackServer {
  /** The address of an incoming webhook. */
  url: string
  sent: SlackMessage[]
  /** How many requests were refused because they came too fast. */
  readonly refused: number
  /** How many came before the time that a refusal had named. */
  readonly early: number
  /** Leaves the next request without an answer, before its message is taken or after. Kept when that request has come. */
  hangNext(when: 'before' | 'after'): Promise<void>
  close(): Promise<void>
}

const PATH = '/services/T00/B00/a-secret-of-slack'
const UNITS_MAX: Record<string, number> = { header: 150, section: 3_000 }
const BLOCKS_MAX = 50
/** Requests that may come at once; after them one a second. */
const BURST = 3

/**
 * An incoming webhook that refuses what Slack refuses: another address, blocks that are empty, too many or too long, text with half a surrogate, and more than a
 * message a second after a short burst.
 */
export async function startSlack(): Promise<SlackServer> {
  const sent: SlackMessage[] = []
  let [refused, early, room, filledAtMs, closedUntilMs] = [0, 0, BURST, performance.now(), 0]
  let hang: { when: 'before' | 'after'; reached: () => void } | null = null

  /** Seconds until a message would be taken; 0 takes it. */
  const secondsToWait = (): number => {
    const nowMs = performance.now()
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
  const isValid = ({ text, blocks }: SlackMessage) =>
    text.length > 0 &&
    text.length <= 40_000 &&
    blocks.length <= BLOCKS_MAX &&
    blocks.every((block) => block.text.text.length > 0 && block.text.text.length <= (UNITS_MAX[block.type] ?? 0) && block.text.text.isWellFormed())

  const server = createServer(async (request, response) => {
    const answer = (status: number, text: string, headers = {}) => void response.writeHead(status, headers).end(text)
    let body = ''
    for await (const chunk of request) body += chunk
    if (request.url !== PATH) return answer(404, 'no_service')
    const seconds = secondsToWait()
    if (seconds > 0) return answer(429, 'rate_limited', { 'retry-after': String(seconds) })
    const message = JSON.parse(body) as SlackMessage
    if (!isValid(message)) return answer(400, 'invalid_blocks')
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

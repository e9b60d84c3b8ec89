import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What arrived under one id. */
export interface Receipt {
  webhook: string
  body: string
  times: number
  /** How it was answered the first time; null if well. */
  misbehaviour: Misbehaviour | null
  /** Its place among all that were answered 2xx first; null before. */
  acknowledged: number | null
  /** What was wrong with it, try by try. */
  problems: string[]
}

/** Receives what webhooks are sent, and judges it with nothing of ours: HMAC of Node. */
export interface WebhookReceiver {
  url(webhook: string): string
  /** The secret of a webhook, once the API has told it. */
  expect(webhook: string, secret: string): void
  readonly receipts: ReadonlyMap<string, Receipt>
  close(): void
}

const TEN_MEGABYTES = Buffer.alloc(10 * 1024 * 1024, 'x')

function breakOff({ socket }: ServerResponse, sent: string): void {
  socket?.write(sent)
  socket?.destroy()
}

/** Answers that are no success. None says that the destination is to be left alone for long. */
const FAILING = {
  hangs: () => undefined,
  'answers 500': (response) => void response.writeHead(500).end('no'),
  'redirects to another webhook': (response) => void response.writeHead(301, { location: '/elsewhere' }).end(),
  'answers 429': (response) => void response.writeHead(429, { 'retry-after': '1' }).end(),
  'answers 500 with ten megabytes': (response) => void response.writeHead(500).end(TEN_MEGABYTES),
  'breaks off in its status': (response) => breakOff(response, 'HTTP/1.1 20'),
} as const satisfies Record<string, (response: ServerResponse) => void>

/** The status has arrived, and counts. */
const SUCCEEDING = {
  'answers 200 with ten megabytes': (response) => void response.writeHead(200).end(TEN_MEGABYTES),
  'breaks off in its body': (response) => breakOff(response, 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'),
} as const satisfies Record<string, (response: ServerResponse) => void>

export type Misbehaviour = keyof typeof FAILING | keyof typeof SUCCEEDING
export const MISBEHAVIOURS = [...Object.keys(FAILING), ...Object.keys(SUCCEEDING)] as readonly Misbehaviour[]

/** A signature of an earlier time could have been recorded. */
const AGE_SECONDS_MAX = 300

/**
 * @param shares how many of 128 deliveries are answered like that the first time
 * @param gone a webhook that is answered 410, and receives nothing
 */
export async function startWebhookReceiver(
  shares: Partial<Record<Misbehaviour, number>>,
  { gone, host = '127.0.0.1' }: { gone?: string; host?: string | undefined } = {},
): Promise<WebhookReceiver> {
  const receipts = new Map<string, Receipt>()
  const secrets = new Map<string, string>()
  let acknowledged = 0
  const server = createServer(async (request, response) => {
    response.on('error', () => undefined)
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    } catch {
      return // Its worker was killed.
    }
    if (request.url === `/${gone}`) return void response.writeHead(410).end()
    const receipt = take(request, Buffer.concat(chunks).toString('utf8'))
    const { misbehaviour } = receipt
    if (receipt.times === 1 && misbehaviour !== null && misbehaviour in FAILING) return FAILING[misbehaviour as keyof typeof FAILING](response)
    receipt.acknowledged ??= acknowledged++
    if (receipt.times === 1 && misbehaviour !== null) return SUCCEEDING[misbehaviour as keyof typeof SUCCEEDING](response)
    response.writeHead(204).end()
  })

  function take({ url = '', headers }: IncomingMessage, body: string): Receipt {
    const webhook = url.slice(1)
    const [id, sentAt] = [String(headers['webhook-id']), Number(headers['webhook-timestamp'])]
    const receipt = receipts.get(id) ?? { webhook, body, times: 0, misbehaviour: misbehaviourFor(id, shares), acknowledged: null, problems: [] }
    receipts.set(id, receipt)
    receipt.times += 1
    const key = Buffer.from((secrets.get(webhook) ?? '').slice('whsec_'.length), 'base64')
    const signature = createHmac('sha256', key).update(`${id}.${sentAt}.${body}`).digest('base64')
    const problem = (text: string) => receipt.problems.push(`try ${receipt.times}: ${text}`)
    if (headers['webhook-signature'] !== `v1,${signature}`) problem('the signature is not that of its body')
    if (!(Math.abs(Date.now() / 1_000 - sentAt) < AGE_SECONDS_MAX)) problem('its time is minutes away')
    if (receipt.body !== body) problem('another body than before')
    if (receipt.webhook !== webhook) problem(`to ${webhook} instead of ${receipt.webhook}`)
    return receipt
  }

  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: (webhook) => `http://${host}:${port}/${webhook}`,
    expect: (webhook, secret) => void secrets.set(webhook, secret),
    receipts,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** By the id alone, so that it does not depend on the order in which deliveries arrive. */
function misbehaviourFor(id: string, shares: Partial<Record<Misbehaviour, number>>): Misbehaviour | null {
  let place = (createHash('sha256').update(id).digest()[0] ?? 0) % 128
  for (const each of MISBEHAVIOURS) {
    const share = shares[each] ?? 0
    if (place < share) return each
    place -= share
  }
  return null
}

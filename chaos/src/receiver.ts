import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What arrived under one id. */
export interface Receipt {
  webhook: string
  body: string
  times: number
  /** Its place among all that were answered 2xx first; null before. */
  acknowledged: number | null
  /** What was wrong with it, try by try. */
  problems: string[]
}

/** Receives what the webhooks of this run are sent, and judges it with nothing of ours: HMAC of Node. */
export interface Receiver {
  url(webhook: string): string
  /** The secret of a webhook, once the API has told it. */
  expect(webhook: string, secret: string): void
  readonly receipts: ReadonlyMap<string, Receipt>
  close(): void
}

/** So many times out of 128, the first time that an id arrives, it is answered like this. None says that the destination is to be left alone for long. */
const MISBEHAVIOURS: [share: number, misbehave: (response: ServerResponse) => void][] = [
  [4, () => undefined],
  [6, (response) => void response.writeHead(500).end('no')],
  [2, (response) => void response.writeHead(301, { location: '/elsewhere' }).end()],
  [1, (response) => void response.writeHead(429, { 'retry-after': '1' }).end()],
  [
    6,
    (response) => {
      response.socket?.write('HTTP/1.1 20')
      response.socket?.destroy()
    },
  ],
]

export async function startReceiver(): Promise<Receiver> {
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
    const id = String(request.headers['webhook-id'])
    const receipt = take(request, id, Buffer.concat(chunks).toString('utf8'))
    const misbehave = receipt.times === 1 ? misbehaviourFor(id) : undefined
    if (misbehave !== undefined) return misbehave(response)
    receipt.acknowledged ??= acknowledged++
    response.writeHead(204).end()
  })

  function take({ url = '', headers }: IncomingMessage, id: string, body: string): Receipt {
    const webhook = url.slice(1)
    const receipt = receipts.get(id) ?? { webhook, body, times: 0, acknowledged: null, problems: [] }
    receipts.set(id, receipt)
    receipt.times += 1
    const key = Buffer.from((secrets.get(webhook) ?? '').slice('whsec_'.length), 'base64')
    const signature = createHmac('sha256', key).update(`${id}.${headers['webhook-timestamp']}.${body}`).digest('base64')
    if (headers['webhook-signature'] !== `v1,${signature}`) receipt.problems.push(`try ${receipt.times}: the signature is not that of its body`)
    if (receipt.body !== body) receipt.problems.push(`try ${receipt.times}: another body than before`)
    if (receipt.webhook !== webhook) receipt.problems.push(`try ${receipt.times}: to ${webhook} instead of ${receipt.webhook}`)
    return receipt
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: (webhook) => `http://127.0.0.1:${port}/${webhook}`,
    expect: (webhook, secret) => void secrets.set(webhook, secret),
    receipts,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** By the id alone, so that it does not depend on the order in which deliveries arrive. */
function misbehaviourFor(id: string): ((response: ServerResponse) => void) | undefined {
  let place = (createHash('sha256').update(id).digest()[0] ?? 0) % 128
  for (const [share, misbehave] of MISBEHAVIOURS) {
    if (place < share) return misbehave
    place -= share
  }
  return undefined
}

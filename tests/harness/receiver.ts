import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The far side of webhooks, on loopback: answers each request as `answer` says at that moment. Its system needs OUTBOUND_ALLOW=127.0.0.1. */
export async function startReceiver(answer: { status: number; body: string }) {
  const receiver = { answer, url: '', close: () => new Promise((resolve) => server.close(resolve)) }
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(receiver.answer.status, { connection: 'close' }).end(receiver.answer.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/muster`
  return receiver
}

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from './client.ts'

const PROJECT = '00000000-0000-7000-8000-000000000001'

/** The far side of webhooks, on loopback: notes the id of each request, and answers as `answer` says at that moment. Its system needs OUTBOUND_ALLOW=127.0.0.1; its project is changed to allow it. */
export async function startReceiver(client: Client, answer: { status: number; body: string }) {
  await client.ok('PATCH', `/projects/${PROJECT}`, { body: { settings: { outbound_allow: ['127.0.0.1'] } } })
  const receiver = { answer, url: '', ids: [] as string[], close: () => new Promise((resolve) => server.close(resolve)) }
  const server = createServer((request, response) => {
    receiver.ids.push(String(request.headers['webhook-id']))
    request.resume().on('end', () => response.writeHead(receiver.answer.status, { connection: 'close' }).end(receiver.answer.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/muster`
  return receiver
}

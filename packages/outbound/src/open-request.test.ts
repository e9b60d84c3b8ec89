import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OutboundRefused, openRequest } from './open-request.ts'

let server: Server
let origin: string
const received: string[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    received.push(request.url ?? '')
    response.end('answered')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://hook.example:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

const ANY = { permits: () => true, refusal: 'is refused' }
const open = (path: string, dialled: string) =>
  openRequest(new URL(`${origin}${path}`), {
    method: 'POST',
    headers: {},
    body: 'secret',
    rules: ANY,
    signal: AbortSignal.timeout(5_000),
    resolve: async () => [dialled],
  })

it('sends to the address that was permitted', async () => {
  const answer = await open('/permitted', '127.0.0.1')
  answer.resume()
  expect([answer.statusCode, received]).toEqual([200, ['/permitted']])
})

it('sends nothing where the connection has reached another address than the one that was permitted', async () => {
  // The system connects this address to loopback.
  await expect(open('/elsewhere', '0.0.0.0')).rejects.toThrow(new OutboundRefused('The connection to hook.example reached another address than was permitted.'))
  expect(received).not.toContain('/elsewhere')
})

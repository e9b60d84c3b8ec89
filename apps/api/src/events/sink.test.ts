import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { createEventSink } from './sink.ts'

/** The response to a reader that has connected, and the reader's side of it. */
async function connect() {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const reader = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }).on('error', () => {})
  reader.end()
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  return { reader, response, close: () => server.close() }
}

it.each([
  { what: 'while it is open', isEarly: false },
  { what: 'before it begins', isEarly: true },
])('a stream of events is closed when its reader goes away $what', async ({ isEarly }) => {
  const { reader, response, close } = await connect()
  const stopping = new AbortController()
  const leave = async () => {
    const gone = once(response, 'close')
    reader.destroy()
    await gone
  }
  if (isEarly) await leave()
  const sink = createEventSink(response, stopping.signal)
  expect(sink.closed.aborted).toBe(isEarly)
  if (!isEarly) await leave()
  expect(sink.closed.aborted).toBe(true)
  close()
})

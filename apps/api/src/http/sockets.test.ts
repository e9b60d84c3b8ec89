import { connect, type Socket } from 'node:net'
import { testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../testing/api.ts'

const PATIENCE = { timeout: 15_000 }

describe('the sockets of the server', () => {
  let api: TestApi
  let port: number

  beforeAll(async () => {
    api = await startApi(await testDatabase(), { AUTH: 'open' })
    port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port)
  })
  afterAll(() => api.close())

  const openSockets = () =>
    new Promise<number>((resolve, reject) => api.app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))))

  /** A client that sends a few bytes, reads what comes, and never closes its side. */
  async function half(request: string): Promise<{ socket: Socket; answer: () => string }> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    // The server resets it in the end: that is what the test waits for.
    socket.on('error', () => {})
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
    socket.write(request)
    return { socket, answer: () => answer }
  }

  it.each([
    ['something that is not HTTP', 'this is not http\r\n\r\n', 'HTTP/1.1 400'],
    [
      'a body that never arrives',
      'POST /subtasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
      'HTTP/1.1 503',
    ],
  ])('closes the socket of a client that sends %s and never hangs up', async (_, request, status) => {
    const client = await half(request)
    await expect.poll(client.answer, PATIENCE).toContain(status)
    await expect.poll(openSockets, PATIENCE).toBe(0)
    client.socket.destroy()
  })

  it('waits for no request longer than a minute, and keeps no idle connection for ever', () => {
    expect(api.app.server.headersTimeout).toBeLessThanOrEqual(60_000)
    expect(api.app.server.requestTimeout).toBe(60_000)
    expect(api.app.server.timeout).toBe(120_000)
  })
})

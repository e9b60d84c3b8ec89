import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { startHop } from '../../chaos/src/database-hop.ts'
import { createRandom } from '../../chaos/src/random.ts'

test('a hop with delay and loss passes on all bytes in order, also those that it held in a partition', async () => {
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
  await once(echo, 'listening')
  const { port } = echo.address() as { port: number }
  // The first chunk is lost once.
  const losses = [true]
  const random = { ...createRandom(1, 'link'), chance: () => losses.pop() ?? false }
  const hop = await startHop(port, { delayMs: 1, jitterMs: 5, loss: 0.2, random })
  const socket = connect(hop.port, '127.0.0.1')
  const sent = Buffer.concat(Array.from({ length: 40 }, () => randomBytes(5_000)))
  const received: Buffer[] = []
  socket.on('data', (chunk) => received.push(chunk))
  const whole = new Promise<void>((resolve) => {
    socket.on('data', () => {
      if (received.reduce((sum, { length }) => sum + length, 0) >= sent.length) resolve()
    })
  })
  const sentAtMs = performance.now()
  socket.write(sent.subarray(0, 100_000))
  await once(socket, 'data')
  hop.stall()
  socket.write(sent.subarray(100_000))
  await new Promise((resolve) => setImmediate(resolve))
  hop.flow()
  await whole
  const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  expect(hash(Buffer.concat(received))).toBe(hash(sent))
  expect(performance.now() - sentAtMs).toBeGreaterThan(195)
  expect(hop.counts.lost).toBe(1)
  expect(hop.counts.frames).toBeGreaterThan(1)
  socket.destroy()
  await hop.close()
  echo.close()
})

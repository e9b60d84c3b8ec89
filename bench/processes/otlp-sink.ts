/**
 * A collector of OpenTelemetry that reads what it is sent and keeps how much that was.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '../instrument/serve.ts'

let bytes = 0
const server = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end())
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

serve({ port: () => (server.address() as AddressInfo).port, bytes: () => bytes }, async () => {
  server.closeAllConnections()
  server.close()
})

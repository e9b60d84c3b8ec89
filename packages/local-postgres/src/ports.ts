import { createServer } from 'node:net'
import { listenerOf } from './processes.ts'

/** The only address of local servers. */
export const LOOPBACK = '127.0.0.1'

/** A port of 127.0.0.1 without a listener. It is free at this moment only: its user must handle losing it again. */
export function freePort(): Promise<number> {
  return listenOnce(0, LOOPBACK)
}

/** True when a server could listen on this port now. */
export async function isPortFree(port: number, host: string = LOOPBACK): Promise<boolean> {
  return listenOnce(port, host).then(
    () => true,
    () => false,
  )
}

/** The process that listens on a port, as a clause for an error message: ` by process 4711 (node server.js)`, or nothing when it cannot be known. */
export function takenBy(port: number): string {
  const listener = listenerOf(port)
  return listener === undefined ? '' : ` by process ${listener.pid} (${listener.command})`
}

function listenOnce(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, host, () => {
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(bound))
    })
  })
}

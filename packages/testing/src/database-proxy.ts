import { createServer, connect as dial, type Socket } from 'node:net'

/** A proxy before PostgreSQL that can lose the answer to a COMMIT. */
export interface DatabaseProxy {
  /** The address that was given, by way of the proxy. */
  url: string
  /**
   * Waits for a transaction that sends `text`, passes its COMMIT on, and ends the connection instead of passing the answer back. Resolves once the
   * server has answered.
   */
  loseCommitOf(text: string): Promise<void>
  close(): Promise<void>
}

/** Listens on loopback and passes everything on, both ways, to the server of `databaseUrl`. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let wanted: { text: string; onLost: () => void } | null = null
  const server = createServer((client) => {
    const upstream = dial(Number(target.port || 5432), target.hostname)
    let isMeant = false
    let isLosing = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes) => {
      const sent = bytes.toString('latin1')
      isMeant ||= wanted !== null && sent.includes(wanted.text)
      // The driver sends it as text of its own, also behind other statements.
      isLosing ||= isMeant && sent.toLowerCase().includes('commit\0')
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (!isLosing) return void client.write(bytes)
      wanted?.onLost()
      wanted = null
      client.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    loseCommitOf(text) {
      return new Promise((resolve) => {
        wanted = { text, onLost: resolve }
      })
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

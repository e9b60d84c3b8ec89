import { createServer, connect as dial, type Socket } from 'node:net'

/** A proxy before PostgreSQL that ends connections at bad moments. */
export interface DatabaseProxy {
  /** The address that was given, by way of the proxy. */
  url: string
  /**
   * Waits for a transaction that sends `text`, passes its COMMIT on, and ends the connection instead of passing the answer back. Resolves once the
   * server has answered.
   */
  loseCommitOf(text: string): Promise<void>
  /** How often a client has sent something after an answer, or first. */
  roundTrips(): number
  /** Ends all connections. */
  cut(): void
  /** Ends the next connection over which \`text\` is sent, instead of passing it on. */
  cutAt(text: string): void
  close(): Promise<void>
}

/** Listens on loopback and passes everything on, both ways, to the server of `databaseUrl`. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let cuttingAt: string | null = null
  let roundTrips = 0
  let wanted: { text: string; onLost: () => void } | null = null
  const server = createServer((client) => {
    const upstream = dial(Number(target.port || 5432), target.hostname)
    let isMeant = false
    let isLosing = false
    let isAnswered = true
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
      if (isAnswered) roundTrips += 1
      isAnswered = false
      if (cuttingAt !== null && sent.includes(cuttingAt)) {
        cuttingAt = null
        client.destroy()
        return
      }
      isMeant ||= wanted !== null && sent.includes(wanted.text)
      // It is sent as a text of its own, also behind other statements.
      isLosing ||= isMeant && sent.toLowerCase().includes('commit\0')
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      isAnswered = true
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
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    loseCommitOf(text) {
      return new Promise((resolve) => {
        wanted = { text, onLost: resolve }
      })
    },
    roundTrips: () => roundTrips,
    cut,
    cutAt(text) {
      cuttingAt = text
    },
    async close() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

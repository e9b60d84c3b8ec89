import { connect, createServer, type Server, type Socket } from 'node:net'

/** A hop between one process and PostgreSQL, which can lose connections or hold everything back. */
export interface DatabaseHop {
  readonly port: number
  readonly connections: number
  /** Breaks this share of the connections, at least one if there is any. Answers how many. */
  cut(share: number): number
  /** Nothing gets through in either direction until `flow`, without an error. */
  stall(): void
  flow(): void
  close(): Promise<void>
}

interface Pair {
  near: Socket
  far: Socket
}

export async function startHop(targetPort: number): Promise<DatabaseHop> {
  const pairs = new Set<Pair>()
  let isStalled = false
  const server: Server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: targetPort, host: '127.0.0.1', noDelay: true })
    const pair: Pair = { near, far }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (chunk) => {
        // A stalled hop still takes in what the kernel had received; it is passed on, since bytes may be late but never missing.
        if (!to.write(chunk)) {
          from.pause()
          to.once('drain', () => {
            if (!isStalled) from.resume()
          })
        }
      })
      // Half-closed connections have no use in PostgreSQL's protocol.
      from.on('end', end)
      from.on('close', end)
      from.on('error', end)
    }
    if (isStalled) hold(pair)
  })
  const hold = (pair: Pair) => {
    pair.near.pause()
    pair.far.pause()
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the hop has no port')

  return {
    port: address.port,
    get connections() {
      return pairs.size
    },
    cut(share) {
      const all = [...pairs]
      const count = Math.min(all.length, Math.max(1, Math.round(all.length * share)))
      for (const { near, far } of all.slice(0, count)) {
        near.resetAndDestroy()
        far.resetAndDestroy()
      }
      return count
    },
    stall() {
      isStalled = true
      for (const pair of pairs) hold(pair)
    },
    flow() {
      isStalled = false
      for (const { near, far } of pairs) {
        near.resume()
        far.resume()
      }
    },
    async close() {
      for (const { near, far } of pairs) {
        near.destroy()
        far.destroy()
      }
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

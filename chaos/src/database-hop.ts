import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Link, LinkCounts } from './link.ts'
import { passOn } from './link.ts'

/** A hop between one process and PostgreSQL, which can lose connections or hold everything back. */
export interface DatabaseHop {
  readonly port: number
  readonly connections: number
  /** What has passed, and how much of it was lost and sent again; counted only where the hop has a link. */
  readonly counts: Readonly<LinkCounts>
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
  /** The ways from near to far and back. */
  ways: { hold(): void; flow(): void }[]
}

/** With a link, bytes take the time that they would take over it; without one, they are passed on at once. */
export async function startHop(targetPort: number, link: Link | null = null, host = '127.0.0.1'): Promise<DatabaseHop> {
  const pairs = new Set<Pair>()
  const counts: LinkCounts = { frames: 0, lost: 0 }
  let isStalled = false
  const server: Server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: targetPort, host: '127.0.0.1', noDelay: true })
    const pair: Pair = { near, far, ways: [] }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    // Half-closed connections have no use in PostgreSQL's protocol.
    pair.ways = [passOn(near, far, { link, counts, end }), passOn(far, near, { link, counts, end })]
    if (isStalled) for (const way of pair.ways) way.hold()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the hop has no port')

  return {
    port: address.port,
    counts,
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
      for (const { ways } of pairs) for (const way of ways) way.hold()
    },
    flow() {
      isStalled = false
      for (const { ways } of pairs) for (const way of ways) way.flow()
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

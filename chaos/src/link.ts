import type { Socket } from 'node:net'
import type { Random } from './random.ts'

/** The first retransmission of TCP comes after so long, and each further one after twice as long. */
const RETRANSMISSION_MS = 200
const RETRANSMISSION_MAX_MS = 1_600
/** What is under way in one direction; more waits in the sender, as with a full window. */
const WINDOW_BYTES = 1_048_576

/** The way between a machine and the database, in one direction. */
export interface Link {
  delayMs: number
  /** Up to so much is added to the delay of each chunk. */
  jitterMs: number
  /** The share of chunks that are lost and sent again. */
  loss: number
  random: Random
}

export interface LinkCounts {
  frames: number
  lost: number
}

interface Way {
  /** Lets nothing more through until `flow`. */
  hold(): void
  flow(): void
}

interface WayOptions {
  link: Link | null
  counts: LinkCounts
  /** Called when the connection is over in this direction. */
  end: () => void
}

/**
 * Passes on what one socket receives to another: late as the link says, but in order and whole, as TCP does. A lost chunk therefore holds back
 * everything behind it.
 */
export function passOn(from: Socket, to: Socket, { link, counts, end }: WayOptions): Way {
  /** null is the end of the stream, which must not overtake the bytes before it. */
  const queue: { chunk: Buffer | null; dueMs: number }[] = []
  let queuedBytes = 0
  let lastDueMs = 0
  let isHeld = false
  let timer: NodeJS.Timeout | undefined

  const write = (chunk: Buffer) => {
    if (to.destroyed || !to.writable) return
    if (to.write(chunk)) return
    from.pause()
    to.once('drain', () => {
      if (!isHeld) from.resume()
    })
  }
  const deliver = () => {
    clearTimeout(timer)
    timer = undefined
    while (!isHeld) {
      const first = queue[0]
      if (first === undefined) return
      const waitMs = first.dueMs - performance.now()
      if (waitMs > 0.5) {
        timer = setTimeout(deliver, waitMs)
        return
      }
      queue.shift()
      if (first.chunk === null) return end()
      queuedBytes -= first.chunk.length
      if (queuedBytes < WINDOW_BYTES && from.isPaused() && !to.writableNeedDrain) from.resume()
      write(first.chunk)
    }
  }
  const enqueue = (chunk: Buffer | null) => {
    lastDueMs = Math.max(lastDueMs, performance.now() + (link === null ? 0 : travelMs(link, counts)))
    queue.push({ chunk, dueMs: lastDueMs })
    queuedBytes += chunk?.length ?? 0
    if (queuedBytes >= WINDOW_BYTES) from.pause()
    if (queue.length === 1) deliver()
  }

  // A held way still takes in what the kernel had received; it is passed on, since bytes may be late but never missing.
  from.on('data', (chunk) => (link === null ? write(chunk) : enqueue(chunk)))
  from.on('end', () => (link === null ? end() : enqueue(null)))
  from.on('close', () => {
    if (queue.at(-1)?.chunk !== null) end()
  })
  from.on('error', end)
  to.on('close', () => {
    clearTimeout(timer)
    queue.length = 0
  })
  return {
    hold() {
      isHeld = true
      from.pause()
    },
    flow() {
      isHeld = false
      from.resume()
      deliver()
    },
  }
}

function travelMs({ delayMs, jitterMs, loss, random }: Link, counts: LinkCounts): number {
  counts.frames += 1
  let heldMs = 0
  for (let wait = RETRANSMISSION_MS; random.chance(loss) && wait <= RETRANSMISSION_MAX_MS; wait *= 2) heldMs += wait
  if (heldMs > 0) counts.lost += 1
  return delayMs + random.next() * jitterMs + heldMs
}

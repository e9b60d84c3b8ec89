import type { Writable } from 'node:stream'
import type { Run } from '../port.ts'
import { briefLine, updateLine } from './protocol.ts'

/** What a program is told on its standard input while it runs. */
export interface Feed {
  /** Nothing more will come. */
  end(): void
}

/**
 * Writes the brief, then the updates as they come. The next update is taken only when the program's pipe has room for it, so
 * a program that never reads costs no memory, and what it was not told stays undelivered. Every failure means the same,
 * that the program is not listening any more, and ends the feed.
 */
export function startFeed(stdin: Writable, run: Pick<Run, 'brief' | 'workspace' | 'updates'>, isSteerable: boolean): Feed {
  let isOver = false
  const { promise: over, resolve: end } = Promise.withResolvers<null>()
  void over.then(() => {
    isOver = true
  })
  stdin.once('close', () => end(null))

  /** Resolves to true when the pipe has taken the line, to false when it never will. */
  async function write(line: string): Promise<boolean> {
    if (isOver || !stdin.writable) return false
    const isTaken = new Promise<boolean>((resolve) => stdin.write(line, (error) => resolve(error == null)))
    return (await Promise.race([isTaken, over])) ?? false
  }

  async function writeUpdates() {
    const iterator = run.updates[Symbol.asyncIterator]()
    try {
      while (!isOver) {
        const next = await Promise.race([iterator.next(), over])
        if (next === null || next.done || !(await write(updateLine(next.value)))) return
      }
    } finally {
      // Not awaited: a generator that waits for its next update answers only after it.
      void iterator.return?.()?.catch(() => {})
    }
  }

  async function feed() {
    const isTaken = write(briefLine(run))
    // A plain filter waits for the end of its input, and one that is not steerable need not wait for it.
    if (isSteerable && (await isTaken)) await writeUpdates()
  }

  feed()
    .catch(() => {})
    .finally(() => stdin.end())
  return { end: () => end(null) }
}

import type { Writable } from 'node:stream'
import { eachUpdate } from '../each-update.ts'
import type { Run } from '../port.ts'
import { promptLine, updateLine } from './protocol.ts'

/** The input of a program on its standard input while it runs. */
export interface Feed {
  /** Nothing more will come. */
  end(): void
}

/**
 * Writes the brief, then the updates as they come. The next update is taken only when the program's pipe has room for it, so
 * a program that never reads costs no memory, and what it did not read stays undelivered. Every failure means the same,
 * that the program is not listening any more, and ends the feed.
 */
export function startFeed(stdin: Writable, run: Pick<Run, 'brief' | 'workspace' | 'updates' | 'delivered' | 'prompt'>, isSteerable: boolean): Feed {
  const over = new AbortController()
  const isOver = new Promise<false>((resolve) => over.signal.addEventListener('abort', () => resolve(false), { once: true }))
  stdin.once('close', () => over.abort())

  /** Resolves to true when the pipe has taken the line, to false when it never will. */
  async function write(line: string): Promise<boolean> {
    if (over.signal.aborted || !stdin.writable) return false
    const isTaken = new Promise<boolean>((resolve) => stdin.write(line, (error) => resolve(error == null)))
    return await Promise.race([isTaken, isOver])
  }

  async function feed() {
    const isTaken = write(promptLine(run))
    run.prompt({ system: null, message: run.brief.text, isContinued: run.brief.continuation != null })
    // A plain filter waits for the end of its input, and one that is not steerable need not wait for it.
    if (!isSteerable || !(await isTaken)) return
    await eachUpdate(run.updates, over.signal, async (update) => {
      const isWritten = await write(updateLine(update))
      if (isWritten) run.delivered(update.updateId)
      return isWritten
    })
  }

  feed()
    .catch(() => {})
    .finally(() => stdin.end())
  return { end: () => over.abort() }
}

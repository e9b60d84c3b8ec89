import { createContext, Script } from 'node:vm'

/** What `limited` answers for work that was ended. */
export const OUT_OF_TIME = Symbol('out of time')

/** Tries of work that had no processor. More would say that nothing can be done here at all. */
const TRIES_MAX = 5

const sandbox = { work: (): unknown => undefined }
const call = new Script('work()')
let context: ReturnType<typeof createContext> | undefined

/** Time of a processor that this thread has had, in milliseconds. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/**
 * Ends work that runs longer than it may, wherever it is: in a loop, a recursion or a regular expression. For what users have written
 * and its duration cannot be known in advance. Its data may be left half changed and must be discarded.
 *
 * Only what has had the processor for at least half of that time is out of time. A process that was stopped, or a machine that has no
 * time for it, says nothing about the work, which is begun anew then: it has to begin from nothing.
 */
export function limited<T>(milliseconds: number, work: () => T): T | typeof OUT_OF_TIME {
  for (let tries = 1; ; tries += 1) {
    const beforeMs = processorMs()
    const result = limitedOnce(milliseconds, work)
    if (result !== OUT_OF_TIME || processorMs() - beforeMs >= milliseconds / 2 || tries === TRIES_MAX) return result
  }
}

function limitedOnce<T>(milliseconds: number, work: () => T): T | typeof OUT_OF_TIME {
  context ??= createContext(sandbox)
  sandbox.work = work
  try {
    return call.runInContext(context, { timeout: milliseconds }) as T
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return OUT_OF_TIME
    throw error
  } finally {
    sandbox.work = () => undefined
  }
}

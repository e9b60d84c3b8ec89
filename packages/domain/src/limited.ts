import { createContext, Script } from 'node:vm'

/** What `limited` answers for work that was ended. */
export const OUT_OF_TIME = Symbol('out of time')

const sandbox = { work: (): unknown => undefined }
const call = new Script('work()')
let context: ReturnType<typeof createContext> | undefined

/**
 * Ends work that runs longer than it may, wherever it is: in a loop, a recursion or a regular expression. For what users have written
 * and nobody can tell beforehand how long it takes; what it was working with may be left half changed, and must be thrown away.
 */
export function limited<T>(milliseconds: number, work: () => T): T | typeof OUT_OF_TIME {
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

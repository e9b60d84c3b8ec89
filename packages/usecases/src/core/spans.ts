import { subtasks, type Tx, transaction } from '@muster/db'
import type { Span, SpanOptions } from '@muster/domain'
import type { Deps } from './ctx.ts'

/** The class of what failed in a span, where no result says it. */
export const THREW = 'threw'

/**
 * Begins the span of something that follows a subtask, in its trace; undefined where nothing is traced. Without a subtask it begins a trace, and so it does
 * where the trace cannot be read: what is traced must not fail for its span.
 */
export async function startSpanAfter(
  deps: Deps,
  { projectId, subtaskId }: { projectId: string; subtaskId: string | null | ((tx: Tx) => Promise<string | null>) },
  name: string,
  options: Omit<SpanOptions, 'parent'>,
): Promise<Span | undefined> {
  if (deps.tracing === undefined) return undefined
  const find = async (tx: Tx): Promise<string | null> => {
    const id = typeof subtaskId === 'function' ? await subtaskId(tx) : subtaskId
    return id === null ? null : await subtasks.findTraceparent(tx, id)
  }
  const parent =
    subtaskId === null
      ? null
      : await transaction(deps.db, projectId, find).catch((error) => {
          deps.log.debug({ err: error, span: name }, 'could not find the trace of a subtask')
          return null
        })
  return deps.tracing.start(name, { ...options, parent })
}

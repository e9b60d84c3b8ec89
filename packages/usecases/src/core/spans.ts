import { subtasks, type Tx, transaction } from '@muster/db'
import type { Span, SpanOptions } from '@muster/domain'
import type { Deps } from './ctx.ts'

/** Begins the span of something that follows a subtask, in its trace; undefined where nothing is traced. Without a subtask it begins a trace. */
export async function startSpanAfter(
  deps: Deps,
  { projectId, subtaskId }: { projectId: string; subtaskId: string | null | ((tx: Tx) => Promise<string | null>) },
  name: string,
  options: Omit<SpanOptions, 'parent'>,
): Promise<Span | undefined> {
  if (deps.tracing === undefined) return undefined
  const parent =
    subtaskId === null
      ? null
      : await transaction(deps.db, projectId, async (tx) => {
          const id = typeof subtaskId === 'string' ? subtaskId : await subtaskId(tx)
          return id === null ? null : await subtasks.findTraceparent(tx, id)
        })
  return deps.tracing.start(name, { ...options, parent })
}

import { retention } from '@muster/db'
import type { Deps } from '../core/ctx.ts'

/** The id of the database of this process. */
export function databaseId(deps: Pick<Deps, 'dispatchDb'>): Promise<string> {
  return retention.databaseId(deps.dispatchDb)
}

/** Which of some tasks and subtasks the database does not know: they were erased, or their time was over. */
export async function findUnknown(deps: Pick<Deps, 'dispatchDb'>, ids: readonly string[]): Promise<Set<string>> {
  const known = await retention.findExisting(deps.dispatchDb, ids)
  return new Set(ids.filter((id) => !known.has(id)))
}

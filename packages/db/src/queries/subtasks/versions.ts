// SQL: every read of a subtask that ended asks for its version, with one look at an index and at a page.

import type { Tx } from '../../client.ts'

/**
 * The versions of several subtasks by their ids. A version changes with everything that `SubtaskHead` shows: every update of a row gives it another
 * `xmin`, and evaluations are never updated.
 */
export async function listSubtaskVersions(tx: Tx, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.sql<{ id: string; version: string }[]>`
    select s.id, s.xmin::text || ':' || coalesce((
      select e.id::text from evaluations e
      where e.project_id = s.project_id and e.subtask_id = s.id and s.status = 'completed' order by e.is_judged desc limit 1
    ), '') as version
    from subtasks s where s.id = any(${[...ids]}::uuid[])`
  return new Map(rows.map(({ id, version }) => [id, version]))
}

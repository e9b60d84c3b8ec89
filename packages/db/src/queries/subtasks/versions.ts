// SQL: every read of a subtask is one of these statements. Each sets its project itself, for `readOnce`: the rows are looked for by the answer of that
// setting, so row-level security is never asked before it. And each id is looked for alone: for a list of ids, or a join with one, a plan that expects few rows of
// each project reads all that the project has.
import type { Subtask } from '@muster/domain'
import type { Tx } from '../../client.ts'
import { type AsText, fromText, read, SHOWN, type ShownRow, toSubtask } from './row.ts'

/** A subtask without the part of its result that lives in `bodies`. */
export interface SubtaskHead {
  subtask: Subtask
  resultBodyId: string | null
  /** See `listSubtaskVersions`. */
  version: string
}

const SHOWN_COLUMNS = read(SHOWN, 's')

/** Subtasks of a project by their ids. What is not found is missing. */
export async function listSubtaskHeads({ sql }: Pick<Tx, 'sql'>, projectId: string, ids: readonly string[]): Promise<Map<string, SubtaskHead>> {
  const rows = await sql<AsText<ShownRow>[]>`
    select ${sql.unsafe(SHOWN_COLUMNS)}, s.xmin::text as "rowVersion", (
      select jsonb_build_object('id', e.id, 'score', e.score, 'recommendation', e.recommendation) from evaluations e
      where e.project_id = s.project_id and e.subtask_id = s.id and s.status = 'completed' order by e.is_judged desc limit 1
    ) as evaluation
    from (select set_config('muster.project_id', ${projectId}, true)::uuid as id offset 0) as scope
    cross join unnest(${ids as string[]}::uuid[]) as wanted (id)
    cross join lateral (select t.*, t.xmin from subtasks t where t.id = wanted.id and t.project_id = scope.id offset 0) as s`
  return new Map(
    rows.map((found) => {
      const row = fromText<ShownRow>(found)
      return [row.id, { subtask: toSubtask(row), resultBodyId: row.resultBodyId, version: `${row.rowVersion}:${row.evaluation?.id ?? ''}` }]
    }),
  )
}

/**
 * The versions of several subtasks by their ids, which cost one look at an index and at a page. A version changes with everything that `SubtaskHead` shows:
 * every update of a row gives it another `xmin`, and evaluations are never updated.
 */
export async function listSubtaskVersions({ sql }: Pick<Tx, 'sql'>, projectId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; version: string }[]>`
    select s.id, s.xmin::text || ':' || coalesce((
      select e.id::text from evaluations e
      where e.project_id = s.project_id and e.subtask_id = s.id and s.status = 'completed' order by e.is_judged desc limit 1
    ), '') as version
    from (select set_config('muster.project_id', ${projectId}, true)::uuid as id offset 0) as scope
    cross join unnest(${ids as string[]}::uuid[]) as wanted (id)
    cross join lateral (select t.project_id, t.id, t.status, t.xmin from subtasks t where t.id = wanted.id and t.project_id = scope.id offset 0) as s`
  return new Map(rows.map(({ id, version }) => [id, version]))
}

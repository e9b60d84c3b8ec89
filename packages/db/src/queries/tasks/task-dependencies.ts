// SQL: locks, and walks along a graph.
import type { TaskStatus } from '@muster/domain'
import type { Tx } from '../../client.ts'

/** Locks on the dependencies of a project's tasks. */
const GRAPH_LOCK_CLASS = 7303
const RELEASE_LOCK_CLASS = 7304

/**
 * Locks the dependencies of a project until the end of the transaction, before any task. `edit` is exclusive, so that two changes cannot close a
 * circle together. `complete` is shared: many may complete tasks at once, but not while an edit checks whether its dependencies are complete.
 * Always a statement of its own.
 */
export async function lockDependencies(tx: Tx, projectId: string, purpose: 'edit' | 'complete'): Promise<void> {
  if (purpose === 'edit') await tx.sql`select pg_advisory_xact_lock(${GRAPH_LOCK_CLASS}, hashtext(${projectId}))`
  else await tx.sql`select pg_advisory_xact_lock_shared(${GRAPH_LOCK_CLASS}, hashtext(${projectId}))`
}

/** The dependencies of a task, completed or not, in the order of creation. */
export async function listDependencies(tx: Tx, taskId: string): Promise<{ taskId: string; status: TaskStatus }[]> {
  const rows = await tx.sql<{ id: string; status: TaskStatus }[]>`
    select t.id, t.status from task_dependencies d join tasks t on t.id = d.depends_on_id where d.task_id = ${taskId} order by t.id`
  return rows.map((row) => ({ taskId: row.id, status: row.status }))
}

/** The status of these tasks. Ignores unknown ids. */
export async function findStatuses(tx: Tx, taskIds: readonly string[]): Promise<{ taskId: string; status: TaskStatus }[]> {
  const rows = await tx.sql<{ id: string; status: TaskStatus }[]>`select id, status from tasks where id = any(${taskIds as string[]}::uuid[]) order by id`
  return rows.map((row) => ({ taskId: row.id, status: row.status }))
}

/** Every edge that can be reached from these tasks along their dependencies. */
export async function listReachableEdges(tx: Tx, taskIds: readonly string[]): Promise<{ taskId: string; dependsOnId: string }[]> {
  const rows = await tx.sql<{ task_id: string; depends_on_id: string }[]>`
    with recursive reached(id) as (
      select unnest(${taskIds as string[]}::uuid[])
      union
      select d.depends_on_id from reached r join task_dependencies d on d.task_id = r.id
    )
    select d.task_id, d.depends_on_id from reached r join task_dependencies d on d.task_id = r.id`
  return rows.map((row) => ({ taskId: row.task_id, dependsOnId: row.depends_on_id }))
}

/** Replaces the dependencies of a task. The dependencies of the project must be locked, then the task. */
export async function replaceDependencies(tx: Tx, projectId: string, taskId: string, dependsOn: readonly string[]): Promise<void> {
  await tx.sql`delete from task_dependencies where task_id = ${taskId} and depends_on_id <> all(${dependsOn as string[]}::uuid[])`
  await tx.sql`
    insert into task_dependencies (project_id, task_id, depends_on_id)
    select ${projectId}, ${taskId}, unnest(${dependsOn as string[]}::uuid[])
    on conflict do nothing`
}

/** Whether any task depends on this one. */
export async function hasDependents(tx: Tx, projectId: string, taskId: string): Promise<boolean> {
  const rows = await tx.sql`select from task_dependencies where project_id = ${projectId} and depends_on_id = ${taskId} limit 1`
  return rows.length > 0
}

/**
 * Locks the release of dependents in a project, so that two transactions that complete several tasks each cannot wait for each other.
 * Comes after the locks of the completed tasks, and before those of the released ones.
 */
export async function lockReleasing(tx: Tx, projectId: string): Promise<void> {
  await tx.sql`select pg_advisory_xact_lock(${RELEASE_LOCK_CLASS}, hashtext(${projectId}))`
}

/** Turns blocked tasks to pending whose last open dependency was this task. An earlier statement must have locked the release. */
export async function releaseDependents(
  tx: Tx,
  projectId: string,
  taskId: string,
): Promise<{ id: string; title: string; revision: number; parentSessionId: string | null }[]> {
  const rows = await tx.sql<{ id: string; title: string; revision: number; parent_session_id: string | null }[]>`
    with ready as (
      select t.id from tasks t
      where t.id = any(array(select d.task_id from task_dependencies d where d.project_id = ${projectId} and d.depends_on_id = ${taskId}))
        and t.status = 'blocked'
        and not exists (
          select from task_dependencies o join tasks b on b.id = o.depends_on_id where o.task_id = t.id and b.id <> ${taskId} and b.status <> 'completed')
      order by t.id for update of t
    )
    update tasks t set status = 'pending', updated_at = muster_now() from ready where t.id = ready.id
    returning t.id, t.title, t.revision, t.parent_session_id`
  return rows.map((row) => ({ id: row.id, title: row.title, revision: row.revision, parentSessionId: row.parent_session_id }))
}

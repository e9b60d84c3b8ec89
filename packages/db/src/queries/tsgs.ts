import type { Tx } from '../client.ts'

/** Keeps guides from being deleted until the end of the transaction. Unknown ids are left out. */
export async function lockTsgs(tx: Tx, projectId: string, tsgIds: readonly string[]): Promise<{ tsgId: string; title: string }[]> {
  if (tsgIds.length === 0) return []
  const rows = await tx.sql<{ tsg_id: string; title: string }[]>`
    select tsg_id, title from tsgs where project_id = ${projectId} and tsg_id = any(${tsgIds as string[]}) order by tsg_id for share`
  return rows.map((row) => ({ tsgId: row.tsg_id, title: row.title }))
}

/** Links a guide to a task; false when it was linked already. Both must be locked. */
export async function linkTsg(tx: Tx, projectId: string, taskId: string, tsgId: string): Promise<boolean> {
  const rows = await tx.sql`
    insert into task_tsgs (project_id, task_id, tsg_id) values (${projectId}, ${taskId}, ${tsgId}) on conflict do nothing returning tsg_id`
  return rows.length > 0
}

/** Unlinks a guide from a task; false when it was not linked. The task must be locked. */
export async function unlinkTsg(tx: Tx, projectId: string, taskId: string, tsgId: string): Promise<boolean> {
  const rows = await tx.sql`delete from task_tsgs where project_id = ${projectId} and task_id = ${taskId} and tsg_id = ${tsgId} returning tsg_id`
  return rows.length > 0
}

import { dataFolders, type FolderNote } from '@muster/db'
import { recordCommand } from '../audit/audit-log.ts'
import { type Ctx, type Deps, reading } from '../core/ctx.ts'

export type { FolderNote } from '@muster/db'

/**
 * Compares the database with what a data folder keeps of their common count, and counts one further. A database that was restored to an earlier time has not come
 * as far as the folder.
 *
 * @returns what the folder has to keep now
 */
export async function beatDataFolder({ dispatchDb }: Pick<Deps, 'dispatchDb'>, place: string, noted: FolderNote | null): Promise<FolderNote> {
  return await dataFolders.beat(dispatchDb, place, noted)
}

/** Whether the database has come as far as a data folder. If not, it was restored, and `beatDataFolder` will note that. */
export async function hasComeAsFar({ dispatchDb }: Pick<Deps, 'dispatchDb'>, place: string, noted: FolderNote): Promise<boolean> {
  return await dataFolders.isAsFar(dispatchDb, { place, ...noted })
}

/** A sentence about a restore that no operator has looked at, or null. */
export async function describeRestore({ dispatchDb }: Pick<Deps, 'dispatchDb'>): Promise<string | null> {
  const restore = await dataFolders.findNoticedRestore(dispatchDb)
  if (restore === null) return null
  const { noticedAt, lostSince } = restore
  return `The database was restored to an earlier time, as workers noticed at ${noticedAt.toISOString()}. What happened after ${lostSince.toISOString()} is lost. Workers start no run, check or judgement and send no delivery, outside workers are given nothing, and no schedule fires until an operator decides: run npm run restored, and see docs/backup.md.`
}

/** What of the actor's project goes on after either decision: checks, judgements and deliveries that had not ended. */
export async function countPendingFollowUps(ctx: Ctx): Promise<dataFolders.PendingFollowUps> {
  return await reading(ctx, (tx) => dataFolders.countPendingFollowUps(tx, ctx.actor.projectId))
}

/** An operator has looked at what the restore means. Workers go on. */
export async function acknowledgeRestores(ctx: Ctx): Promise<void> {
  if ((await dataFolders.acknowledgeRestores(ctx.dispatchDb)) > 0) await recordCommand(ctx)
}

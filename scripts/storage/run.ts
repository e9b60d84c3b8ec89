import { openArchive } from '@muster/archive'
import { importArchive } from '@muster/db'
import { parseDatabaseAddress, type Settings, withDatabaseName } from '@muster/domain'
import { applyRetention, type Ctx, eraseData, exportData, previewRetention, recordCommand } from '@muster/usecases'
import type { DatabaseUrls } from '../system/database.ts'
import { asOperator } from '../system/operator.ts'
import type { StorageCommand } from './options.ts'

/** A call of `npm run storage -- retention` does all there is to do, a minute at a time. */
const RETENTION_MS = 60_000

/** Runs a command on the database of API and worker, through the same use-cases. Returns what it prints. */
export async function runStorageCommand(
  command: Exclude<StorageCommand, { verb: 'help' }>,
  settings: Settings,
  { appUrl, adminUrl }: DatabaseUrls,
  log: (line: string) => void,
): Promise<object> {
  const fields = Object.keys(command).filter((name) => name !== 'verb')
  return await asOperator(settings, appUrl, { operation: `storage ${command.verb}`, fields }, async (operator) => {
    const { log: quiet, actor } = operator
    const ctx: Ctx = {
      ...operator,
      archive: settings.ARCHIVE_URL === undefined ? null : openArchive(settings.ARCHIVE_URL, settings),
      log: { ...quiet, warn: (_, message) => log(message), error: (_, message) => log(message) },
      actor: { ...actor, projectId: 'project' in command ? command.project : actor.projectId },
    }
    switch (command.verb) {
      case 'import': {
        const report = await importArchive(withDatabaseName(adminUrl, parseDatabaseAddress(appUrl).database), openArchive(command.from, settings), log)
        for (const projectId of report.projectIds) await recordCommand({ ...ctx, actor: { ...ctx.actor, projectId } })
        return report
      }
      case 'retention':
        return command.isDryRun ? await previewRetention(ctx) : await dropAll(ctx)
      case 'export':
        return { exported: await exportData(ctx, command.scope, openArchive(command.to, settings)), to: command.to }
      case 'erase':
        return await eraseData(ctx, command.scope)
    }
  })
}

async function dropAll(ctx: Ctx): Promise<object> {
  const total = { partitions: 0, rows: {} as Record<string, number> }
  for (;;) {
    const report = await applyRetention(ctx, RETENTION_MS)
    if (report === null) return { ...total, note: 'Another process drops at this moment, or RETENTION_ENABLED is false.' }
    total.partitions += report.partitions
    for (const [table, count] of Object.entries(report.rows)) total.rows[table] = (total.rows[table] ?? 0) + count
    if (!report.isUnfinished) return total
  }
}

import { createHash } from 'node:crypto'
import { budgets, type Database, isDatabaseUnavailable, retention, storedFiles, transaction } from '@muster/db'
import { type ArchivedRow, describeRetention, type RetentionKind, retentionDays } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'

type RetentionDeps = Pick<Deps, 'db' | 'dispatchDb' | 'settings' | 'log' | 'archive'>
type Days = Record<RetentionKind, number>

/** Rows of one noun that are looked at in one statement, and dropped in one transaction. */
const LOOKED_AT = 2_000
const DROPPED_AT_ONCE = 200
/** A file of the archive ends with the row that makes it longer than this, in bytes before compression. */
const FILE_BYTES = 8 * 1_048_576
const ROWS_AT_ONCE = 500
/** A call ends after the step that takes it beyond this: the process may be about to stop. */
const CALL_MS = 10_000

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** The setting by which rows of a noun are kept. */
export const KIND_OF: Record<retention.Noun, RetentionKind> = {
  inbox: 'inbox',
  injection_claims: 'inbox',
  deliveries: 'deliveries',
  session_messages: 'messages',
  evaluations: 'subtasks',
  schedule_slots: 'subtasks',
  subtasks: 'subtasks',
}

/** What was dropped, and what would be. */
export interface RetentionReport {
  /** Partitions that were dropped or replaced by what stays of them. */
  partitions: number
  /** Rows by table, of those that are dropped one by one. */
  rows: Record<string, number>
  /** Whether there is more to do. */
  isUnfinished: boolean
}

/**
 * Drops what is older than it is kept, a step at a time, archived first if there is an archive. One process does so at a time; the others return null at
 * once. A process that dies leaves a state from which the next one goes on: what is in the archive and not dropped is archived again under the same
 * name.
 *
 * @throws the failure of the archive; then nothing of that step is dropped
 */
export async function applyRetention(deps: RetentionDeps, limitMs = CALL_MS): Promise<RetentionReport | null> {
  if (!deps.settings.RETENTION_ENABLED) return null
  return await retention.alone(deps.dispatchDb, async () => {
    const untilMs = performance.now() + limitMs
    const run = {
      deps,
      days: retentionDays(deps.settings.RETENTION_DAYS),
      report: { partitions: 0, rows: {}, isUnfinished: false },
      isLate: () => performance.now() > untilMs,
    }
    for (const part of [dropPartitions, dropEarlyRows, dropRows]) {
      await part(run)
      if (run.isLate()) run.report.isUnfinished = true
    }
    const { partitions, rows } = run.report
    if (partitions > 0 || Object.keys(rows).length > 0) deps.log.info({ partitions, rows }, 'dropped what is older than it is kept')
    return run.report
  })
}

/** Says at the start of a process what it will drop: for those who have not read it elsewhere. */
export function announceRetention({ settings, archive, log }: Pick<RetentionDeps, 'settings' | 'archive' | 'log'>): void {
  const { RETENTION_ENABLED: isEnabled, RETENTION_DAYS: set, AUDIT_DAYS: auditDays } = settings
  if (!isEnabled) {
    log.info(
      {},
      `this process drops nothing by RETENTION_DAYS, however old: RETENTION_ENABLED=false; entries of the audit log go after AUDIT_DAYS, ${auditDays} days`,
    )
    return
  }
  const days = retentionDays(set)
  const where = archive === null ? 'for good, because ARCHIVE_URL is not set' : `after it was written to ${archive.place}, but folders without a copy`
  log.info(
    { retention_days: days },
    `what is older than this is dropped ${where}: ${describeRetention(days)}; projects may set other days, see docs/storage.md`,
  )
}

interface Run {
  deps: RetentionDeps
  days: Days
  report: RetentionReport
  isLate(): boolean
}

function count(report: RetentionReport, rows: readonly { table: string }[]): void {
  for (const { table } of rows) report.rows[table] = (report.rows[table] ?? 0) + 1
}

async function dropPartitions({ deps, days, report, isLate }: Run): Promise<void> {
  for (const part of await retention.duePartitions(deps.dispatchDb, days)) {
    if (isLate() || !(await archivePartition(deps, part, isLate))) return
    try {
      const dropped = await transaction(deps.dispatchDb, null, (tx) => retention.dropPartition(tx, part.name, days[part.parent]))
      if (dropped?.isChanged) report.partitions += 1
    } catch (error) {
      // Beside a dump, or behind a transaction that takes long.
      if (!isDatabaseUnavailable(error)) throw error
      deps.log.info({ err: error, partition: part.name }, 'could not drop a partition now; the next call tries again')
      return
    }
  }
}

/** Writes what of a partition is not archived yet, also the rows that stay: they may be flagged or unflagged until it is dropped. False if it is late. */
async function archivePartition({ dispatchDb, archive }: RetentionDeps, part: retention.DuePartition, isLate: () => boolean): Promise<boolean> {
  if (archive === null || part.isArchived) return true
  for (let place = part.archivedPlace ?? '(0,0)'; ; ) {
    const rows: ArchivedRow[] = []
    const from = place
    for (let bytes = 0; bytes < FILE_BYTES; ) {
      const next = await retention.partitionRows(dispatchDb, part.name, place, ROWS_AT_ONCE)
      if (next.length === 0) break
      for (const { line } of next) {
        rows.push({ table: part.parent, line })
        bytes += line.length
      }
      place = next.at(-1)?.place ?? place
    }
    if (rows.length === 0) {
      await retention.noteArchived(dispatchDb, part.name, null, true)
      return true
    }
    await archive.write(`${part.parent}/${part.name}/${nameOfPlace(from)}`, rows)
    await retention.noteArchived(dispatchDb, part.name, place, false)
    if (isLate()) return false
  }
}

/** `(12,3)` as a name, in the order of places. */
function nameOfPlace(place: string): string {
  return place
    .slice(1, -1)
    .split(',')
    .map((part) => part.padStart(10, '0'))
    .join('-')
}

async function dropEarlyRows({ deps, days, report, isLate }: Run): Promise<void> {
  const { dispatchDb, archive } = deps
  for (const parent of ['events', 'steps'] as const) {
    for (const project of await retention.earlyProjects(dispatchDb, parent, days[parent])) {
      for (let deleted = LOOKED_AT; deleted === LOOKED_AT; ) {
        if (isLate()) return
        if (archive !== null) {
          const lines = await retention.earlyRows(dispatchDb, parent, project, LOOKED_AT)
          if (lines.length === 0) break
          await archive.write(
            `${parent}/${project.projectId}/${digest(lines)}`,
            lines.map((line) => ({ table: parent, line })),
          )
        }
        // No row becomes younger, and none is written into the past: these are the rows that were archived.
        deleted = await retention.deleteEarlyRows(dispatchDb, parent, project, LOOKED_AT)
        if (deleted > 0) report.rows[parent] = (report.rows[parent] ?? 0) + deleted
      }
    }
  }
}

/** Where the next search for expired rows goes on, so that rows that stay are not looked at in each call. After the last row it begins again. */
const positions = new WeakMap<Database, Map<retention.Noun, string>>()

async function dropRows(run: Run): Promise<void> {
  const { dispatchDb } = run.deps
  const position = positions.get(dispatchDb) ?? new Map<retention.Noun, string>()
  positions.set(dispatchDb, position)
  for (const noun of retention.NOUNS) {
    for (let isMore = true; isMore; ) {
      if (run.isLate()) return
      const found = await retention.findExpired(dispatchDb, noun, run.days[KIND_OF[noun]], position.get(noun) ?? FIRST_ID, LOOKED_AT)
      for (const [projectId, rows] of Map.groupBy(
        found.filter(({ isExpired }) => isExpired),
        (row) => row.projectId,
      )) {
        for (let at = 0; at < rows.length; at += DROPPED_AT_ONCE) {
          const ids = rows.slice(at, at + DROPPED_AT_ONCE).map(({ id }) => id)
          await dropSome(run, noun, projectId, ids)
        }
      }
      isMore = found.length === LOOKED_AT
      const last = found.at(-1)
      if (isMore && last !== undefined) position.set(noun, last.id)
      else position.delete(noun)
    }
  }
}

async function dropSome({ deps, days, report }: Run, noun: retention.Noun, projectId: string, ids: readonly string[]): Promise<void> {
  const { db, archive } = deps
  if (archive !== null) {
    const rows = await transaction(db, projectId, (tx) => retention.rowsOf(tx, noun, ids))
    await archive.write(`${noun}/${projectId}/${ids[0]}-${digest(ids)}`, rows)
  }
  const removed = await transaction(db, projectId, async (tx) => {
    // What they have used is counted from the rows until their day is added up.
    if (noun === 'subtasks') await budgets.addSpentDays(tx, projectId)
    return await retention.remove(tx, noun, ids, days[KIND_OF[noun]])
  })
  count(report, removed)
  await countBodies(deps, removed)
}

/** For metrics: how many texts that were stored beside their rows have gone with them. */
async function countBodies({ dispatchDb }: RetentionDeps, removed: readonly { bytes: number | null }[]): Promise<void> {
  const lengths = removed.flatMap(({ bytes }) => bytes ?? [])
  if (lengths.length === 0) return
  await storedFiles.addSweptBodies(dispatchDb, { files: lengths.length, bytes: lengths.reduce((sum, bytes) => sum + bytes, 0) })
}

/** Names a file by what is in it: the same rows have the same name, and others never replace them. */
function digest(parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\n')
  return hash.digest('hex').slice(0, 16)
}

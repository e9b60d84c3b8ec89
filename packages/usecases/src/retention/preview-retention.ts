import { retention } from '@muster/db'
import { type RetentionKind, retentionDays } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { KIND_OF } from './apply-retention.ts'

const LOOKED_AT = 2_000
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** What would be dropped now. */
export interface RetentionPreview {
  /** False while RETENTION_ENABLED is: then nothing is dropped, and the rest says what would be. */
  isEnabled: boolean
  days: Record<RetentionKind, number>
  /** Partitions in which everything is old. What a project keeps for longer, what lives and what is flagged would stay. */
  partitions: { name: string; rowsAbout: number; bytes: number }[]
  /** Rows of other tables, without what belongs to each of them. */
  rows: { table: string; count: number }[]
  /** Projects that have events or steps older than they keep them: these would go even where their partition stays. */
  earlyProjects: { kind: 'events' | 'steps'; projectId: string; days: number }[]
}

/** Reads what `applyRetention` would drop now, and changes nothing. */
export async function previewRetention({ dispatchDb, settings }: Pick<Deps, 'dispatchDb' | 'settings'>): Promise<RetentionPreview> {
  const days = retentionDays(settings.RETENTION_DAYS)
  const partitions = await retention.duePartitions(dispatchDb, days)
  const rows: RetentionPreview['rows'] = []
  for (const noun of retention.NOUNS) {
    let count = 0
    for (let after = FIRST_ID, isMore = true; isMore; ) {
      const found = await retention.findExpired(dispatchDb, noun, days[KIND_OF[noun]], after, LOOKED_AT)
      count += found.filter(({ isExpired }) => isExpired).length
      isMore = found.length === LOOKED_AT
      after = found.at(-1)?.id ?? after
    }
    rows.push({ table: noun, count })
  }
  const early = async (kind: 'events' | 'steps') => {
    const found: RetentionPreview['earlyProjects'] = []
    // Where the log is slow, all projects are to be looked at, also those of which everything stays.
    for (const project of await retention.earlyProjects(dispatchDb, kind, days[kind]))
      if ((await retention.earlyRows(dispatchDb, kind, project, 1)).length > 0) found.push({ kind, ...project })
    return found
  }
  return {
    isEnabled: settings.RETENTION_ENABLED,
    days,
    partitions: partitions.map(({ name, rowsAbout, bytes }) => ({ name, rowsAbout, bytes })),
    rows,
    earlyProjects: [...(await early('events')), ...(await early('steps'))],
  }
}

import { readFileSync } from 'node:fs'

/** One phrase of a table of the tests. */
export interface TableRow {
  text: string
  reading: string
  /** Of its warnings, in order. */
  codes: string
  firings: string
  at: { now: Date; timezone: string | null; projectTimezone: null; minIntervalSeconds: number }
}

/** A table beside the readers of phrases, which says of itself how it is written. */
export function readTable(file: string): TableRow[] {
  const rows: TableRow[] = []
  let at: TableRow['at'] = { now: new Date(0), timezone: null, projectTimezone: null, minIntervalSeconds: 10 }
  const lines = readFileSync(new URL(`../schedules/phrases/${file}`, import.meta.url), 'utf8').split('\n')
  for (const [index, line] of lines.entries()) {
    const [, now, timezone] = /^# .*: (\S+), (.+)$/.exec(line) ?? []
    if (now !== undefined) at = { ...at, now: new Date(now), timezone: timezone === 'no zone' ? null : String(timezone) }
    if (!lines[index + 1]?.startsWith('  ')) continue
    const [text = '', reading = '', codes = ''] = line.split(' | ')
    rows.push({ text, reading, codes, firings: (lines[index + 1] ?? '').trim(), at })
  }
  return rows
}

import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type postgres from 'postgres'

export type Field = string | number | boolean | Date | null

const ROWS_PER_CHUNK = 2_000
const SPECIAL = /[\\\t\n\r]/

/** Fills a table by COPY. */
export async function copyRows(sql: postgres.Sql, table: string, columns: readonly string[], rows: Iterable<readonly Field[]>): Promise<void> {
  const target = await sql.unsafe(`copy ${table} (${columns.join(', ')}) from stdin`).writable()
  await pipeline(Readable.from(chunks(rows)), target)
}

function* chunks(rows: Iterable<readonly Field[]>): Generator<string> {
  let lines: string[] = []
  for (const row of rows) {
    lines.push(row.map(toText).join('\t'))
    if (lines.length < ROWS_PER_CHUNK) continue
    yield `${lines.join('\n')}\n`
    lines = []
  }
  if (lines.length > 0) yield `${lines.join('\n')}\n`
}

function toText(field: Field): string {
  if (field === null) return '\\N'
  if (field instanceof Date) return field.toISOString()
  if (typeof field !== 'string' || !SPECIAL.test(field)) return String(field)
  return field.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
}

/** A UUIDv7 of a moment, so that seeded rows lie in their indexes as rows of that time would. */
export function uuidAt(ms: number): string {
  const time = Math.floor(ms).toString(16).padStart(12, '0')
  const random = randomBytes(10).toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(6, 18)}`
}

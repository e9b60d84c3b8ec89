import { createHash } from 'node:crypto'
import { INLINE_BYTES_MAX } from '@muster/domain'
import { eq, inArray } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { bodies } from '../../schema/bodies.ts'
import { anyOf } from './lists.ts'

/** Whether a text is too long for a row that lists read. */
export function needsBody(text: string): boolean {
  return text.length > INLINE_BYTES_MAX || Buffer.byteLength(text) > INLINE_BYTES_MAX
}

export async function insertBody(tx: Tx, projectId: string, id: string, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  await tx.orm.insert(bodies).values({ projectId, id, sha256: createHash('sha256').update(bytes).digest(), bytes })
}

/** Removes texts whose rows name them no more. */
export async function deleteBodies(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.orm.delete(bodies).where(anyOf(bodies.id, ids))
}

export async function readBody(tx: Tx, id: string): Promise<string | null> {
  return (await readBodies(tx, [id])).get(id) ?? null
}

export async function readBodies(tx: Tx, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.orm
    .select({ id: bodies.id, bytes: bodies.bytes })
    .from(bodies)
    .where(ids.length === 1 ? eq(bodies.id, ids[0] as string) : inArray(bodies.id, ids))
  return new Map(rows.map((row) => [row.id, row.bytes.toString('utf8')]))
}

import { createHash } from 'node:crypto'
import { isUuid } from '@muster/domain'

/**
 * What the log's index knows a subject by: its id, or, where it has a name instead, as a guide has, an id made from that name. Names are
 * kept beside it: this one cannot be read back.
 */
export function subjectKey(idOrName: string): string {
  if (isUuid(idOrName)) return idOrName
  const hex = createHash('sha256').update(idOrName).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The name of a subject that has no id. */
export function subjectName(idOrName: string): string | null {
  return isUuid(idOrName) ? null : idOrName
}

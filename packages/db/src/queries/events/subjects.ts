import { createHash } from 'node:crypto'
import { isUuid } from '@muster/domain'

/**
 * The key of a subject in the index of the log: its id, or an id made from its name if it has no id, as guides do. The name cannot be read back
 * from it, so it is stored as well.
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

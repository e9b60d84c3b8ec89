export const AUDIT_FILTERS = ['actor', 'operation', 'subject'] as const

/** The filters of the log, as the address of the page has them. */
export type AuditFilters = Partial<Record<(typeof AUDIT_FILTERS)[number], string>>

/** Reads an address; what it does not understand is left out. */
export function readAuditFilters(search: Record<string, unknown>): AuditFilters {
  const filters: AuditFilters = {}
  for (const name of AUDIT_FILTERS) {
    const value = search[name]
    if ((typeof value === 'string' || typeof value === 'number') && value !== '') filters[name] = String(value)
  }
  return filters
}

import type { QueryOf, ReceiverKind } from '@muster/client'

export const RECEIVER_KINDS = ['webhook', 'callback', 'telegram', 'slack', 'email'] as const satisfies ReceiverKind[]
export const DELIVERY_STATUSES = ['pending', 'sending', 'delivered', 'failed'] as const

/** The filters of the log, as the address of the page has them. */
export type DeliveryFilters = Pick<NonNullable<QueryOf<'listDeliveries'>>, 'receiver_kind' | 'receiver_id' | 'status' | 'subject' | 'since'>

/** Reads an address; what it does not understand is left out. */
export function readDeliveryFilters(search: Record<string, unknown>): DeliveryFilters {
  const filters: DeliveryFilters = {}
  const kind = RECEIVER_KINDS.find((each) => each === search.receiver_kind)
  if (kind !== undefined) filters.receiver_kind = kind
  const status = DELIVERY_STATUSES.find((each) => each === search.status)
  if (status !== undefined) filters.status = status
  for (const name of ['receiver_id', 'subject', 'since'] as const) {
    const value = search[name]
    if ((typeof value === 'string' || typeof value === 'number') && value !== '') filters[name] = String(value)
  }
  return filters
}

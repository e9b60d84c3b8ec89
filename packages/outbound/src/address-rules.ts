import { isPermittedAddress, isPublicAddress, NOT_PERMITTED, type OutboundLists } from '@muster/domain'

/** Decides which addresses requests may reach. */
export interface AddressRules {
  /** Whether this address, which the host has now, may be reached. A URL with an address instead of a name has that as its host. */
  permits(host: string, address: string): boolean
  /** What a refusal says after the name of the host. */
  readonly refusal: string
}

/** The public internet. */
export const ONLY_PUBLIC: AddressRules = {
  permits: (_host, address) => isPublicAddress(address),
  refusal: 'is not a public address. Only addresses of the public internet can be reached.',
}

/** The public internet, and what the operator and the project both name. */
export function allowing(lists: OutboundLists): AddressRules {
  return { permits: (host, address) => isPermittedAddress(lists, host, address), refusal: NOT_PERMITTED }
}

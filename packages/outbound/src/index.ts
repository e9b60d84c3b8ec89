/**
 * HTTP requests to addresses that callers name. Every such request of Muster goes through `openRequest`, whose rules decide which addresses it may
 * reach. It follows no redirect and stores nothing.
 */
export { type AddressRules, allowing, ONLY_PUBLIC } from './address-rules.ts'
export { OutboundRefused, type OutboundRequest, openRequest, readOutboundUrl } from './open-request.ts'

import { BlockList, isIP } from 'node:net'
import { isPublicAddress } from './public-address.ts'

/** Longest list of one project. */
export const OUTBOUND_ALLOW_MAX = 100

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/** Whether a text can be an entry of an allow-list: an IP address, a range such as `10.0.0.0/8`, or the exact name of a host in lower case. */
export function isOutboundEntry(entry: string): boolean {
  const [network = '', prefix, more] = entry.split('/')
  if (more !== undefined) return false
  const family = isIP(network)
  if (prefix !== undefined) return family !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128)
  // A host that ends with a number is an address to URL parsers, however it is written.
  return family !== 0 || (HOST_NAME.test(entry) && !/(^|\.)(\d+|0x[0-9a-f]*)$/.test(entry))
}

/** Whether a list of valid entries names this host, or this address that it has. */
function isNamedByEntries(entries: readonly string[], host: string, address: string): boolean {
  if (entries.includes(host.toLowerCase().replace(/\.$/, ''))) return true
  const ranges = new BlockList()
  for (const entry of entries) {
    const [network = '', prefix] = entry.split('/')
    const family = isIP(network)
    if (family === 0) continue
    if (prefix === undefined) ranges.addAddress(network, family === 4 ? 'ipv4' : 'ipv6')
    else ranges.addSubnet(network, Number(prefix), family === 4 ? 'ipv4' : 'ipv6')
  }
  return isIP(address) !== 0 && !address.includes('%') && ranges.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
}

/** The allow-lists that decide about an address together. */
export interface OutboundLists {
  /** OUTBOUND_ALLOW. */
  operator: readonly string[]
  /** The setting `outbound_allow` of the project. */
  project: readonly string[]
}

/** Whether requests may reach this address, which a host has: the public internet, and what the operator and the project both name. */
export function isPermittedAddress({ operator, project }: OutboundLists, host: string, address: string): boolean {
  return isPublicAddress(address) || (isNamedByEntries(operator, host, address) && isNamedByEntries(project, host, address))
}

export const NOT_PERMITTED =
  'is not a public address. The operator can allow it with OUTBOUND_ALLOW, and the project with its setting outbound_allow: both have to name it.'

/** The host of a URL as resolvers and sockets take it. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

/** Why a text is no URL that requests are sent to; null if it is. The addresses of a name are checked when it is resolved. */
export function outboundUrlProblem(url: URL | null, text: string): string | null {
  if (url === null) return `${text} is no URL.`
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Only http and https can be requested.'
  if (url.username !== '' || url.password !== '') return 'A URL with a user name or password is not requested.'
  return null
}

/** The same for a URL that is stored to be used later, also where its host is an address that is not permitted. */
export function storedUrlProblem(text: string, lists: OutboundLists): string | null {
  const url = URL.parse(text)
  const problem = outboundUrlProblem(url, text)
  if (problem !== null || url === null) return problem
  const host = hostOf(url)
  return isIP(host) === 0 || isPermittedAddress(lists, host, host) ? null : `${host} ${NOT_PERMITTED}`
}

import { BlockList, isIP, isIPv4 } from 'node:net'

/**
 * Ranges that no request may reach on behalf of a caller: they lead to this machine, to its network, to the cloud that it runs in, or
 * nowhere. IANA's special-purpose registry, and the one public address that clouds use for themselves.
 */
const REFUSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
]

/** What is public of IPv6 is 2000::/3, without these: protocol assignments with Teredo, documentation, and 6to4, which wraps any IPv4. */
const REFUSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const refused = new BlockList()
for (const range of REFUSED_IPV4) addRange(refused, range, 'ipv4')
for (const range of REFUSED_IPV6) addRange(refused, range, 'ipv6')
const globalUnicast = new BlockList()
addRange(globalUnicast, '2000::/3', 'ipv6')

function addRange(list: BlockList, range: string, family: 'ipv4' | 'ipv6') {
  const [network = '', prefix = ''] = range.split('/')
  list.addSubnet(network, Number(prefix), family)
}

/**
 * Whether an IP address is one of the public internet. An IPv6 address that wraps an IPv4 one (mapped, or of the well-known NAT64
 * prefix) is what it wraps. A host name, an address with a zone and anything else is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !refused.check(address, 'ipv4')
  if (isIP(address) !== 6 || address.includes('%')) return false
  const wrapped = wrappedIpv4(address)
  if (wrapped !== null) return !refused.check(wrapped, 'ipv4')
  return globalUnicast.check(address, 'ipv6') && !refused.check(address, 'ipv6')
}

/** The IPv4 address inside `::ffff:0:0/96` or `64:ff9b::/96`, however it is written. */
function wrappedIpv4(address: string): string | null {
  const groups = ipv6Groups(address)
  const prefix = groups.slice(0, 6).join(':')
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return null
  const [high, low] = groups.slice(6).map((group) => Number.parseInt(group, 16)) as [number, number]
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** The eight groups of a valid IPv6 address, without leading zeros. */
function ipv6Groups(address: string): string[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  const [, head = '', a, b, c, d] = dotted ?? []
  const hex = dotted === null ? address : `${head}${pair(a, b)}:${pair(c, d)}`
  const [before = '', after] = hex.split('::')
  const front = before === '' ? [] : before.split(':')
  const back = after === undefined || after === '' ? [] : after.split(':')
  const zeros = after === undefined ? [] : Array.from({ length: 8 - front.length - back.length }, () => '0')
  return [...front, ...zeros, ...back].map((group) => Number.parseInt(group, 16).toString(16))
}

function pair(high: string | undefined, low: string | undefined): string {
  return (Number(high) * 256 + Number(low)).toString(16)
}

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPublicAddress } from '../index.ts'

const mapped = (ipv4: string) => `::ffff:${ipv4}`

describe('a public address', () => {
  it.each(['93.184.216.34', '1.1.1.1', '8.8.8.8', '172.32.0.1', '192.169.0.1', '100.128.0.1', '223.255.255.255', '2606:4700:4700::1111', '2a00:1450:4001::5'])(
    'is %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )

  it.each([
    ['this host', '0.0.0.0'],
    ['loopback', '127.0.0.1'],
    ['all of loopback', '127.255.255.254'],
    ['private', '10.1.2.3'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['shared, and the metadata of a cloud', '100.100.100.200'],
    ['link-local, and the metadata of most clouds', '169.254.169.254'],
    ['metadata of a cloud on a public address', '168.63.129.16'],
    ['metadata of a cloud', '192.0.0.192'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['documentation', '203.0.113.9'],
    ['benchmarks', '198.19.0.1'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['loopback in full', '0000:0000:0000:0000:0000:0000:0000:0001'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['public with a zone', '2606:4700::1%eth0'],
    ['unique local, and the metadata of a cloud', 'fd00:ec2::254'],
    ['multicast', 'ff02::1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped loopback in hex', '::ffff:7f00:1'],
    ['mapped loopback in full', '0:0:0:0:0:FFFF:7F00:0001'],
    ['mapped metadata', '::ffff:a9fe:a9fe'],
    ['compatible loopback', '::127.0.0.1'],
    ['loopback behind NAT64', '64:ff9b::7f00:1'],
    ['private behind local NAT64', '64:ff9b:1::a00:1'],
    ['6to4 of a private address', '2002:a00:1::'],
    ['Teredo', '2001::1'],
    ['documentation', '2001:db8::1'],
    ['a name', 'localhost'],
    ['a number', '2130706433'],
    ['octal', '0177.0.0.1'],
    ['nothing', ''],
  ])('is not %s: %s', (_, address) => expect(isPublicAddress(address)).toBe(false))

  it('is judged alike whether it is mapped into IPv6 or not, in any of the ways to write it', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ipv4) => {
        const [a, b, c, d] = ipv4.split('.').map(Number) as [number, number, number, number]
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
        const expected = isPublicAddress(ipv4)
        for (const written of [mapped(ipv4), `::ffff:${hex}`, `0:0:0:0:0:ffff:${hex}`, `64:ff9b::${hex}`]) expect(isPublicAddress(written)).toBe(expected)
      }),
    )
  })
})

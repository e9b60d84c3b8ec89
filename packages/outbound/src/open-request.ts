import { lookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { isIP, type LookupFunction, SocketAddress } from 'node:net'
import { hostOf, outboundUrlProblem } from '@muster/domain'
import type { AddressRules } from './address-rules.ts'

const HEADER_BYTES_MAX = 64 * 1024

/** The request was not sent, because of its URL or its address. The message is a sentence for the caller. */
export class OutboundRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'OutboundRefused'
  }
}

export interface OutboundRequest {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | undefined
  rules: AddressRules
  signal: AbortSignal
  /** All addresses of a host name; default: the system's resolver. */
  resolve?: ((hostname: string) => Promise<string[]>) | undefined
  /** Where a connection to a permitted address really goes, for tests: a server of theirs is on loopback. */
  dial?: ((address: string) => string) | undefined
}

/**
 * Reads the URL of a request. The parser brings each way to write an address, such as 0x7f.1 or 2130706433, into its usual form.
 *
 * @throws OutboundRefused for what is no URL of http or https, and for one with a user name or password
 */
export function readOutboundUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  const problem = outboundUrlProblem(url, text)
  if (url === null || problem !== null) throw new OutboundRefused(problem ?? '')
  return url
}

/**
 * Sends a request, and resolves with the answer once its headers have arrived. The host is resolved once and all its addresses must be permitted. The
 * connection goes to the first of them and is checked again before anything is written, so a name that changes its answer gains nothing. Redirects are
 * answers like any other.
 *
 * @throws OutboundRefused if the address is not permitted, or the host is not found
 */
export async function openRequest(url: URL, request: OutboundRequest): Promise<IncomingMessage> {
  const { dial = (address: string) => address, method, headers, body, signal } = request
  const host = hostOf(url)
  const to = dial(await permittedAddress(host, request))
  const { request: send } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  return await new Promise((resolve, reject) => {
    const sent = send({
      method,
      protocol: url.protocol,
      // An address is not looked up, so it is the permitted one that is dialled; its name stays in the header and in the certificate.
      host: isIP(host) === 0 ? host : to,
      port: url.port === '' ? undefined : Number(url.port),
      path: `${url.pathname}${url.search}`,
      headers: { host: url.host, ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
      lookup: pinnedTo(to),
      agent: false,
      maxHeaderSize: HEADER_BYTES_MAX,
      signal,
    })
    sent.on('socket', (socket) =>
      socket.on('connect', () => {
        if (!isSameAddress(socket.remoteAddress, to)) sent.destroy(new OutboundRefused(`The connection to ${host} reached another address than was permitted.`))
      }),
    )
    sent.on('error', reject)
    sent.on('response', resolve)
    sent.end(body)
  })
}

async function permittedAddress(host: string, { resolve = resolveAll, rules, signal }: OutboundRequest): Promise<string> {
  const addresses = isIP(host) !== 0 ? [host] : await withSignal(resolve(host), signal).catch(() => [])
  signal.throwIfAborted()
  const [address] = addresses
  if (address === undefined) throw new OutboundRefused(`The host ${host} was not found.`)
  if (!addresses.every((each) => rules.permits(host, each))) throw new OutboundRefused(`${host} ${rules.refusal}`)
  return address
}

async function resolveAll(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address)
}

async function withSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  return await Promise.race([promise, new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))])
}

function pinnedTo(address: string): LookupFunction {
  return (_hostname, options, callback) => {
    const family = isIP(address)
    if (options.all === true) callback(null, [{ address, family }])
    else callback(null, address, family)
  }
}

function isSameAddress(reached: string | undefined, permitted: string): boolean {
  const usual = (address: string) => new SocketAddress({ address, family: isIP(address) === 6 ? 'ipv6' : 'ipv4' }).address
  return reached !== undefined && isIP(reached) !== 0 && usual(reached) === usual(permitted)
}

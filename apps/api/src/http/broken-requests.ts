import { type IncomingMessage, maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { DomainError, ERROR_CODES } from '@muster/domain'
import { pathOf, toProblem } from './errors.ts'

/** Answers for input that never becomes a request of the app, as problem details. */

/** How long a client that sent no readable request may take to read the answer, before its socket is destroyed: it may never hang up by itself. */
const BROKEN_SOCKET_MS = 2_000
/** What goes wrong before there is a request, by the code of the parser's error. */
const BROKEN_REQUESTS: Record<string, (packet: Buffer) => DomainError> = {
  HPE_HEADER_OVERFLOW: (packet) =>
    isLongLine(packet)
      ? new DomainError('uri_too_long', `The URL of the request, with its headers, is longer than ${maxHeaderSize / 1024} KiB. Send long text in a body.`)
      : new DomainError('headers_too_large', `The headers of the request are larger than ${maxHeaderSize / 1024} KiB. Send fewer or shorter ones.`),
  HPE_INVALID_METHOD: (packet) => {
    const [, method] = REQUEST_LINE.exec(packet.subarray(0, maxHeaderSize).toString('latin1')) ?? []
    return method === undefined ? brokenRequest('it is not HTTP') : methodNotImplemented(method)
  },
  ERR_HTTP_REQUEST_TIMEOUT: () => brokenRequest('it did not arrive in time'),
}

const REQUEST_LINE = /^([A-Z][A-Z-]{0,19}) \S+ HTTP\/1\.[01]\r?\n/

/** Whether the request line alone is more than the parser reads. Known only where the line is in one piece with its beginning. */
function isLongLine(packet: Buffer): boolean {
  const end = packet.indexOf('\n')
  return (end < 0 ? packet.length : end) >= maxHeaderSize
}

function brokenRequest(reason: string): DomainError {
  return new DomainError('validation_failed', `The request cannot be read: ${reason}.`)
}

function methodNotImplemented(method: string): DomainError {
  return new DomainError('method_not_implemented', `The server does not know the method ${method}. /docs lists the methods of each path.`)
}

/**
 * Answers input that is not HTTP, or exceeds the parser's limits. There is no request object, only the socket.
 */
export function answerBrokenRequest(error: NodeJS.ErrnoException & { rawPacket?: unknown }, socket: Duplex, requestId: string): void {
  if (socket.destroyed) return
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const toError = BROKEN_REQUESTS[error.code ?? '']
  answerOnSocket(
    toError === undefined ? brokenRequest('it is not HTTP') : toError(Buffer.isBuffer(error.rawPacket) ? error.rawPacket : Buffer.alloc(0)),
    socket,
    requestId,
  )
}

/** Answers CONNECT. Without a handler, Node closes the socket without an answer. */
export function answerConnect(_request: IncomingMessage, socket: Duplex, requestId: string): void {
  answerOnSocket(methodNotImplemented('CONNECT'), socket, requestId)
}

function answerOnSocket(error: DomainError, socket: Duplex, requestId: string): void {
  const { headers, body } = bareProblem(error, { path: '', requestId })
  const { status } = ERROR_CODES[error.code]
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
  // Node removes its own error listener from this socket, and an error without a listener would end the process. The client is gone, so there is nothing to do.
  socket.on('error', () => {})
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  const timer = setTimeout(() => socket.destroy(), BROKEN_SOCKET_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}

/** Answers an `Expect` other than `100-continue`, which Node meets by itself. The body, if one is on its way, is not read. */
export function answerExpectation(request: IncomingMessage, response: ServerResponse, requestId: string): void {
  const error = new DomainError('expectation_failed', 'The server supports only Expect: 100-continue. Send the request without this header.')
  const { headers, body } = bareProblem(error, { path: pathOf({ url: request.url ?? '' }), requestId })
  response.writeHead(ERROR_CODES[error.code].status, { ...headers, connection: 'close' }).end(body)
}

/** An error outside of the app, where the caller and the URL are unknown. */
function bareProblem(error: DomainError, at: { path: string; requestId: string }): { headers: Record<string, string | number>; body: string } {
  const body = JSON.stringify(toProblem(error, { ...at, docsUrl: '/docs/errors' }))
  const headers = { 'content-type': 'application/problem+json; charset=utf-8', 'content-length': Buffer.byteLength(body), 'x-request-id': at.requestId }
  return { headers, body }
}

/** One message of a stream of server-sent events, as the HTML standard reads it. */
export interface ServerSentEvent {
  id: string | undefined
  data: string
}

/**
 * Reads server-sent events from a body. An `id` without data counts for the next reconnection: it is yielded with empty data.
 * Comments are yielded as nothing, but `onBytes` sees them, so that a connection without events can be distinguished from a dead one.
 */
export async function* readServerSentEvents(body: ReadableStream<Uint8Array>, onBytes: () => void): AsyncGenerator<ServerSentEvent> {
  let id: string | undefined
  let data: string[] = []
  for await (const line of linesOf(body, onBytes)) {
    if (line === '') {
      if (data.length > 0 || id !== undefined) yield { id, data: data.join('\n') }
      id = undefined
      data = []
      continue
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') data.push(value)
    else if (field === 'id' && !value.includes('\0')) id = value
  }
}

/** Lines that end with CR, LF or both, over the limits of chunks. */
export async function* linesOf(body: ReadableStream<Uint8Array>, onBytes: () => void): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      onBytes()
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      yield* lines
    }
    rest += decoder.decode()
    if (rest !== '') yield rest.replace(/\r$/, '')
  } finally {
    // A reader that stops early hangs up.
    await reader.cancel().catch(() => undefined)
  }
}

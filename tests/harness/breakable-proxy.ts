import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How the server behind a proxy looks to its callers. */
export type ProxyMode = 'works' | 'refuses connections' | 'hangs' | 'answers 500'

/** A proxy before an API: what is behind it is real until it is made to fail. */
export interface BreakableProxy {
  readonly address: string
  /** Events of hooks and calls of tools so far. */
  readonly calls: number
  /** From now on; the requests that are open stay as they are, or end if connections are refused. */
  become(mode: ProxyMode): Promise<void>
  close(): Promise<void>
}

/** Listens on loopback and passes every request on to `target`. */
export async function startBreakableProxy(target: string): Promise<BreakableProxy> {
  let mode: ProxyMode = 'works'
  let calls = 0
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/hooks/') || request.headers['mcp-method'] === 'tools/call') calls += 1
    if (mode === 'hangs') return
    if (mode === 'answers 500') return void response.writeHead(500).end()
    const { method, headers } = request
    const asked = ask(new URL(request.url ?? '/', target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    asked.on('error', () => response.destroy())
    response.on('close', () => asked.destroy())
    request.pipe(asked)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    if (!server.listening) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  return {
    address: `http://127.0.0.1:${port}`,
    get calls() {
      return calls
    },
    async become(next) {
      mode = next
      if (next === 'refuses connections') await close()
    },
    close,
  }
}

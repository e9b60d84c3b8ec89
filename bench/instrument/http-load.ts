import autocannon from 'autocannon'

export interface HttpLoad {
  url: string
  connections: number
  seconds: number
  /** Requests a second, however long answers take; as fast as the connections allow when absent. */
  perSecond?: number
  headers?: Record<string, string>
  /** Takes turns, by the number of the request. */
  request(index: number): { method: 'GET' | 'POST'; path: string; body?: string }
}

/**
 * Sends requests from this process, which does nothing else meanwhile.
 *
 * @throws Error when any answer was not 2xx: a rate of refusals says nothing
 */
export async function sendHttpLoad(load: HttpLoad): Promise<{ perSecond: number; p50: number; p99: number }> {
  let index = 0
  const result = await autocannon({
    url: load.url,
    connections: load.connections,
    duration: load.seconds,
    ...(load.perSecond === undefined ? {} : { overallRate: load.perSecond }),
    headers: { 'content-type': 'application/json', ...load.headers },
    requests: [
      {
        setupRequest(request) {
          const { method, path, body } = load.request(index)
          index += 1
          return { ...request, method, path, ...(body === undefined ? {} : { body }) }
        },
      },
    ],
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(
      `${result.non2xx} of ${result.requests.total} answers were not 2xx (${JSON.stringify(result.statusCodeStats)}), and ${result.errors} requests failed`,
    )
  return { perSecond: result['2xx'] / result.duration, p50: result.latency.p50, p99: result.latency.p99 }
}

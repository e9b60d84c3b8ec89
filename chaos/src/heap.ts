import type { Supervised } from './supervised.ts'

const ANSWER_WITHIN_MS = 10_000

interface Answer {
  id?: number
  result?: { result?: { value?: string } }
}

/**
 * What a process holds in memory after garbage collection, in MiB: heap, and buffers outside it. Resident memory
 * says less, since the collector leaves garbage alone for as long as the machine has room. Null where the process does not answer.
 *
 * @param process started with an inspector
 */
export async function liveMib({ host, options, pid }: Supervised): Promise<number | null> {
  if (pid === null || options.inspectPort === null) return null
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    const response = await fetch(`http://${host}:${options.inspectPort}/json`, { signal })
    const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[]
    return await collectAndMeasure(new WebSocket(target?.webSocketDebuggerUrl as string), signal)
  } catch {
    return null
  }
}

async function collectAndMeasure(socket: WebSocket, signal: AbortSignal): Promise<number> {
  const answers = new Map<number, (answer: Answer) => void>()
  try {
    return await new Promise((resolve, reject) => {
      const ask = (method: string, parameters: object = {}) =>
        new Promise<Answer>((answered) => {
          const id = answers.size + 1
          answers.set(id, answered)
          socket.send(JSON.stringify({ id, method, params: parameters }))
        })
      signal.addEventListener('abort', () => reject(signal.reason))
      for (const event of ['error', 'close']) socket.addEventListener(event, () => reject(new Error('the inspector hung up')))
      socket.addEventListener('message', ({ data }) => {
        const answer = JSON.parse(String(data)) as Answer
        answers.get(answer.id ?? 0)?.(answer)
      })
      socket.addEventListener('open', async () => {
        await ask('HeapProfiler.enable')
        await ask('HeapProfiler.collectGarbage')
        const { result } = await ask('Runtime.evaluate', { expression: 'String(process.memoryUsage().heapUsed + process.memoryUsage().external)' })
        const bytes = Number(result?.result?.value)
        if (Number.isFinite(bytes)) resolve(bytes / 1_048_576)
        else reject(new Error('the inspector did not say how much is in use'))
      })
    })
  } finally {
    socket.close()
  }
}

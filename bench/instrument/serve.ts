/** One call to a process, and its answer. Answer 0 says that the process is ready. */
export interface Call {
  id: number
  method: string
  input: unknown
}

export interface Answer {
  id: number
  result?: unknown
  error?: string
}

/** What the process was started with. */
export function startInput<Input>(): Input {
  return JSON.parse(process.argv[2] ?? 'null') as Input
}

/**
 * Answers the calls of the process that started this one, and says that it is ready. SIGTERM ends it in order.
 *
 * @param methods what may be called, by name
 * @param close gives back what the process holds, in the way its product does
 */
export function serve(methods: Record<string, (input: never) => unknown>, close: () => Promise<void>): void {
  const send = (answer: Answer) => process.send?.(answer)
  process.channel?.ref()
  process.on('message', async (message) => {
    const { id, method, input } = message as Call
    try {
      const called = methods[method]
      if (called === undefined) throw new Error(`there is no method ${method}`)
      send({ id, result: await called(input as never) })
    } catch (error) {
      send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
  process.once('SIGTERM', () => {
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
  send({ id: 0 })
}

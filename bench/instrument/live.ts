/**
 * Resources that survive an error unless they are closed: processes, databases, folders. Whatever is opened is kept here
 * until it is closed, so that Ctrl-C and a failed figure leave nothing behind.
 */
const live = new Set<AsyncDisposable>()
let isClosing = false

/** Keeps something until its `close` was called, by its opener or by `closeAll`. */
export function keep<T extends object>(thing: T, close: () => Promise<void>): T & AsyncDisposable {
  let closing: Promise<void> | undefined
  const kept = Object.assign(thing, {
    [Symbol.asyncDispose](): Promise<void> {
      closing ??= close().finally(() => live.delete(kept))
      return closing
    },
  })
  live.add(kept)
  // Whatever was being opened when all was closed comes too late to be of use.
  if (isClosing) void kept[Symbol.asyncDispose]().then(undefined, () => {})
  return kept
}

/** Closes what is still open, the latest first. What cannot be closed does not keep the rest from it. */
export async function closeAll(onError: (error: unknown) => void): Promise<void> {
  isClosing = true
  for (const thing of [...live].reverse()) {
    try {
      await thing[Symbol.asyncDispose]()
    } catch (error) {
      onError(error)
    }
  }
}

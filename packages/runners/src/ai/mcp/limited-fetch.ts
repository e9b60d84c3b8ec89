import type { FetchLike } from '@modelcontextprotocol/client'

/** Longer than any intended answer. A server that never stops must not fill the worker's memory. */
export const ANSWER_BYTES_MAX = 4 * 1024 * 1024

/** The server has said more than is taken of one answer. */
export class AnswerTooLarge extends Error {
  constructor() {
    super(`sent more than ${ANSWER_BYTES_MAX} bytes at once`)
    this.name = 'AnswerTooLarge'
  }
}

/**
 * Requests whose answers end at a limit. A stream that the server would open of its own accord is not requested: no caller waits for what it
 * would say, such as that its tools have changed.
 *
 * @param onTooLarge receives an answer that was cut off, for the caller that waits for its end
 */
export function limitedFetch(onTooLarge: (error: AnswerTooLarge) => void): FetchLike {
  return async (url, init) => {
    if ((init?.method ?? 'GET') === 'GET') return new Response(null, { status: 405 })
    const response = await fetch(url, init)
    if (response.body === null) return response
    let length = 0
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        length += chunk.byteLength
        if (length <= ANSWER_BYTES_MAX) return controller.enqueue(chunk)
        const error = new AnswerTooLarge()
        controller.error(error)
        onTooLarge(error)
      },
    })
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(limit), { status, statusText, headers })
  }
}

import type { SubtaskStatus } from '@muster/domain'

/** Length of all texts together, in characters: a few thousand subtasks of the usual size. */
const CHARACTERS_MAX = 8 * 1024 * 1024
/** A longer text is not kept: it would take the place of many. */
const TEXT_LENGTH_MAX = 256 * 1024

/** A subtask that ended, as it is sent, and the version that it was made from. */
export interface CachedDocument {
  status: SubtaskStatus
  version: string
  text: string
  tag: string
}

/** Keeps the documents that were asked for last. The caller asks the database for the version before it sends one. */
export class DocumentCache {
  readonly #documents = new Map<string, CachedDocument>()
  #characters = 0

  get(key: string): CachedDocument | undefined {
    const document = this.#documents.get(key)
    if (document === undefined) return undefined
    // A map keeps the order of insertion: the first is the one that was not asked for longest.
    this.#documents.delete(key)
    this.#documents.set(key, document)
    return document
  }

  set(key: string, document: CachedDocument): void {
    this.delete(key)
    if (document.text.length > TEXT_LENGTH_MAX) return
    this.#documents.set(key, document)
    this.#characters += document.text.length
    for (const oldest of this.#documents.keys()) {
      if (this.#characters <= CHARACTERS_MAX) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#characters -= this.#documents.get(key)?.text.length ?? 0
    this.#documents.delete(key)
  }
}

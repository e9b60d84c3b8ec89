/** Where an archive keeps its files. */
export interface ArchiveStore {
  /** For messages. */
  readonly place: string
  /** Replaces the file. Resolves when it is durable; until then a reader sees the old one or none. */
  put(name: string, content: Buffer): Promise<void>
  /** Null if there is no such file. */
  get(name: string): Promise<Buffer | null>
  /** The names that begin with `prefix`, in their order. */
  list(prefix: string): AsyncIterable<string>
}

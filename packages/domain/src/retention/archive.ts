/** A row as it was stored: its table, and its columns as PostgreSQL writes them in JSON. */
export interface ArchivedRow {
  table: string
  /** One JSON object. */
  line: string
}

/** One file of an archive, as its manifest describes it. */
export interface ArchiveEntry {
  /** Path of the file within the archive. */
  name: string
  /** Version of the format. */
  format: 1
  rows: number
  /** Rows of each table. */
  tables: Record<string, number>
  /** Size of the file in bytes. */
  bytes: number
  /** Of the file, as hexadecimal digits. */
  sha256: string
}

/** Where rows go before they are dropped, and what an export is written to. */
export interface Archive {
  /** For messages: where it is. */
  readonly place: string
  /** Stores a file and then its manifest. The same rows under the same name leave the archive as it was. Resolves when both are durable. */
  write(name: string, rows: readonly ArchivedRow[]): Promise<ArchiveEntry>
  /** The files whose manifest is complete. */
  entries(): AsyncIterable<ArchiveEntry>
  /** @throws Error if the file is missing, or is not what its manifest says */
  read(entry: ArchiveEntry): Promise<ArchivedRow[]>
}

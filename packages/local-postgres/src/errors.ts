/** What can stop the local server from starting. Each one asks for something different from the person who reads it. */
export type LocalPostgresErrorCode =
  | 'already_running'
  | 'binaries_unusable'
  | 'data_folder_not_yours'
  | 'data_folder_unusable'
  | 'disk_full'
  | 'initdb_failed'
  | 'other_major_version'
  | 'password_lost'
  | 'port_taken'
  | 'start_failed'
  | 'unsupported_platform'

/** Why the local server did not start, in one sentence that ends with what to do about it. */
export class LocalPostgresError extends Error {
  readonly code: LocalPostgresErrorCode

  constructor(code: LocalPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LocalPostgresError'
    this.code = code
  }
}

/** The `code` of an operating system error (`EACCES`, `ENOENT`, …), or undefined for anything else. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
}

/** Full, over quota, read-only, failing, or too many open files: what passes without a change of the request. */
const CODES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE'])

/** Whether a file of this machine could not be written for a reason that may pass. */
export function isDiskFailure(error: unknown): boolean {
  return error instanceof Error && CODES.has((error as NodeJS.ErrnoException).code ?? '')
}

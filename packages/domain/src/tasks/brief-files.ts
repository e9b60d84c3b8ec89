import { posix } from 'node:path'
import type { BriefWarning, FileCheck, TaskContext } from './task.ts'

/** The two fields of a brief that name files. */
export type FileField = FileCheck['field']

export interface BriefFile {
  field: FileField
  /** As the brief has it. */
  path: string
  /** Where it points, without having looked: links are not followed. Null if unknown: relative, without an absolute `client_cwd`. */
  resolved: string | null
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i

/** Whether an entry of `related_documentation` is an address rather than a file. */
export function isUrl(entry: string): boolean {
  return SCHEME.test(entry)
}

/** Where a path of a brief points by its letters alone, with `.` and `..` taken out, or null where it starts nowhere. */
export function resolveBriefPath(path: string, clientCwd: string | null): string | null {
  const joined = posix.isAbsolute(path) || clientCwd === null ? path : posix.join(clientCwd, path)
  return posix.isAbsolute(joined) ? posix.resolve(joined) : null
}

/** The same for all spellings of one file: `./a.ts`, `a.ts`, `b/../a.ts` and `<client_cwd>/a.ts`. An address is compared to the letter. */
export function fileKey(entry: string, clientCwd: string | null): string {
  if (isUrl(entry)) return entry
  return resolveBriefPath(entry, clientCwd) ?? posix.join(entry, '.')
}

/** Whether a resolved path is one of the folders or below one. By letters: the caller has followed links on both sides. */
export function isUnder(resolved: string, roots: readonly string[]): boolean {
  return roots.some((root) => {
    const folder = posix.resolve('/', root)
    return resolved === folder || resolved.startsWith(folder === '/' ? folder : `${folder}/`)
  })
}

/** Every file that a brief names, in its order. Addresses are not files, and nothing ever fetches them. */
export function briefFiles(context: TaskContext | null, clientCwd: string | null): BriefFile[] {
  const files = (context?.relevant_files ?? []).map((path) => ({ field: 'relevant_files' as const, path }))
  const documents = (context?.related_documentation ?? []).filter((entry) => !isUrl(entry)).map((path) => ({ field: 'related_documentation' as const, path }))
  return [...files, ...documents].map((file) => ({ ...file, resolved: resolveBriefPath(file.path, clientCwd) }))
}

/** The warning about a file that is not there. */
export function fileWarning(file: Pick<FileCheck, 'field' | 'path' | 'nearest'>, at: Date): BriefWarning {
  const notFound =
    file.field === 'related_documentation' ? `Documentation file not found: '${file.path}'` : `File not found: '${file.path}' - will be skipped by agents`
  const message = file.nearest === null ? notFound : `${notFound}. Did you mean '${file.nearest}'?`
  return { field: file.field, message, timestamp: at.toISOString() }
}

/** What is wrong with the form of an address, or null. [EN] 4.2 knows only http and https. */
export function urlWarning(url: string, at: Date): BriefWarning | null {
  const reason = /\s/.test(url)
    ? 'URL contains spaces'
    : !/^https?:\/\//i.test(url)
      ? 'URL is not http or https'
      : URL.canParse(url)
        ? null
        : 'URL is malformed'
  return reason === null ? null : { field: 'related_documentation', message: `${reason}: '${url}'`, timestamp: at.toISOString() }
}

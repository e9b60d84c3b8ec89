import { createHash } from 'node:crypto'
import { type BigIntStats, constants } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isSubagentName, isUnder, parseSubagentMarkdown, SUBAGENT_LIMITS, type SubagentProblem, type SubagentReading, subagentFileName } from '@muster/domain'
import type { Deps } from './ctx.ts'

/** A file of a configured folder, as it was read last. */
export interface SubagentFile {
  name: string
  reading: SubagentReading
  /** SHA-256 of what stands in it. */
  contentHash: Buffer
}

/** Instructions may have half of it; the rest is for what stands above them. */
const FILE_BYTES_MAX = 2 * SUBAGENT_LIMITS.instructionsBytes
/** Files of one folder that a list looks at. */
const FILES_MAX = 1_000
/** A file that changed so little ago may change once more without its times telling. */
const RECENT_MS = 2_000
const ENDING = '.md'

type FileDeps = Pick<Deps, 'settings' | 'log'>

/** What a process remembers of the files of its folders, by path, and which folders it has complained about. */
interface Known {
  files: Map<string, { stamp: string; file: SubagentFile }>
  missing: Set<string>
}

const knownBySettings = new WeakMap<Deps['settings'], Known>()

/**
 * What the configured folders say under a name: the file of the first folder that has one, or null. It is read anew when it has changed, and
 * else costs a look at its times. A file that cannot be used is answered with what is wrong with it.
 *
 * The name becomes a path only if it is one that leads nowhere else, and a link that leads out of its folder is not followed.
 */
export async function readSubagentFile(deps: FileDeps, name: string): Promise<SubagentFile | null> {
  if (!isSubagentName(name)) return null
  for (const folder of deps.settings.SUBAGENTS_DIRS) {
    const file = await readIn(deps, folder, name)
    if (file !== null) return file
  }
  return null
}

/** Everything that the configured folders define, by name. What has no name of a sub-agent, such as a README.md, is none of theirs. */
export async function listSubagentFiles(deps: FileDeps): Promise<SubagentFile[]> {
  const files = new Map<string, SubagentFile>()
  for (const folder of deps.settings.SUBAGENTS_DIRS) {
    for (const name of await namesIn(deps, folder)) {
      const file = files.has(name) ? null : await readIn(deps, folder, name)
      if (file !== null) files.set(name, file)
    }
  }
  return [...files.values()]
}

async function namesIn(deps: FileDeps, folder: string): Promise<string[]> {
  const { missing } = knownOf(deps)
  let entries: string[]
  try {
    entries = await readdir(folder)
    missing.delete(folder)
  } catch (error) {
    if (!missing.has(folder)) deps.log.warn({ folder, code: (error as NodeJS.ErrnoException).code }, 'a folder of SUBAGENTS_DIRS cannot be read')
    missing.add(folder)
    return []
  }
  const names = entries
    .filter((entry) => entry.endsWith(ENDING))
    .map((entry) => entry.slice(0, -ENDING.length))
    .filter(isSubagentName)
    .sort()
  if (names.length > FILES_MAX)
    deps.log.warn({ folder, count: names.length }, `a folder of SUBAGENTS_DIRS has more than ${FILES_MAX} files; lists leave some out`)
  return names.slice(0, FILES_MAX)
}

async function readIn(deps: FileDeps, folder: string, name: string): Promise<SubagentFile | null> {
  const path = join(resolve(folder), subagentFileName(name))
  const { files } = knownOf(deps)
  let file: SubagentFile | null
  let stamp = ''
  try {
    const [real, realFolder] = await Promise.all([realpath(path), realpath(folder)])
    if (!isUnder(real, [realFolder])) throw new Unusable('is a link that leads out of its folder, and is not followed')
    stamp = stampOf(real, await stat(real, { bigint: true }))
    const known = files.get(path)
    if (known !== undefined && known.stamp === stamp && stamp !== '') return known.file
    file = await readFileOnce(path, real, name)
  } catch (error) {
    file = unreadable(name, path, error)
    if (file === null) {
      files.delete(path)
      return null
    }
  }
  const before = files.get(path)?.file
  files.set(path, { stamp, file })
  if (before === undefined || !before.contentHash.equals(file.contentHash)) tell(deps, path, file)
  return file
}

/** What tells one state of a file from another; empty for what may still change unseen. */
function stampOf(path: string, { ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  // Not a time that anything is decided by: should the two clocks differ, files are read once more than needed.
  const nowMs = performance.timeOrigin + performance.now()
  return Number(ctimeNs / 1_000_000n) > nowMs - RECENT_MS ? '' : `${path} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

async function readFileOnce(path: string, real: string, name: string): Promise<SubagentFile> {
  // Neither a link that has just been put there is followed, nor is a pipe waited for.
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size } = await handle.stat().then((found) => {
      if (!found.isFile()) throw new Unusable('is no file')
      return found
    })
    if (size > FILE_BYTES_MAX) throw new Unusable(`is larger than ${FILE_BYTES_MAX} bytes`)
    const buffer = Buffer.alloc(Math.min(size, FILE_BYTES_MAX) + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < buffer.length; length += read)
      read = (await handle.read(buffer, length, buffer.length - length, length)).bytesRead
    // Somebody is writing it; what is there is not the whole.
    if (length > size) throw new Unusable('is being written')
    const bytes = buffer.subarray(0, length)
    return { name, reading: parseSubagentMarkdown(decode(bytes), { name, path, source: 'file' }), contentHash: sha256(bytes) }
  } finally {
    await handle.close()
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Unusable('is not valid UTF-8')
  }
}

/** Why a file that is there cannot be used. */
class Unusable extends Error {}

/** Null for a file that is not there. */
function unreadable(name: string, path: string, error: unknown): SubagentFile | null {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return null
  if (!(error instanceof Unusable) && code === undefined) throw error
  const reason = error instanceof Unusable ? error.message : `cannot be read (${code})`
  const problem: SubagentProblem = { pointer: '', field: 'definition', reason, line: 1, severity: 'error' }
  return { name, reading: { definition: null, problems: [problem] }, contentHash: sha256(Buffer.from(`${path} ${reason}`)) }
}

function tell(deps: FileDeps, path: string, { name, reading: { definition, problems } }: SubagentFile): void {
  if (problems.length === 0) return
  const told = problems.map(({ line, field, reason }) => `line ${line}: ${field} ${reason}`)
  const fields = { subagent: name, path, problems: told }
  if (definition === null) deps.log.warn(fields, 'a definition of a sub-agent cannot be used')
  else deps.log.info(fields, 'a definition of a sub-agent may not mean what its author meant')
}

function knownOf({ settings }: FileDeps): Known {
  const known = knownBySettings.get(settings) ?? { files: new Map(), missing: new Set() }
  knownBySettings.set(settings, known)
  return known
}

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()

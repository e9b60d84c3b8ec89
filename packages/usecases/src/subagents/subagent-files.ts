import { createHash } from 'node:crypto'
import { type BigIntStats, constants } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import {
  isSubagentName,
  isUnder,
  looksLikeSubagent,
  parseSubagentMarkdown,
  SUBAGENT_LIMITS,
  type SubagentProblem,
  type SubagentReading,
  toSubagentName,
} from '@muster/domain'

import type { Deps } from '../core/ctx.ts'

/** A file of a configured folder, as it was read last. */
export interface SubagentFile {
  name: string
  reading: SubagentReading
  /** SHA-256 of what stands in it. */
  contentHash: Buffer
}

/** Instructions may have half of it; the rest is for what stands above them. */
const FILE_BYTES_MAX = 2 * SUBAGENT_LIMITS.instructionsBytes
/** Files of one folder that are looked at. */
const FILES_MAX = 2_000
/** Folders inside of a folder, one in another. */
const DEPTH_MAX = 8
/** A file that changed this recently may change again with the same times. */
const RECENT_MS = 2_000
/** A name that a scan did not find is taken for absent this long, unless a folder changes. Only a file that is given the name in place is seen so late. */
const ABSENT_MS = 1_000
const ENDING = '.md'
/** Folders that hold something else: in a collection, commands and skills lie beside the agents. Hidden ones are left out too. */
const FOREIGN_FOLDERS = new Set(['commands', 'skills', 'node_modules'])

type FileDeps = Pick<Deps, 'settings' | 'log'>

/** What a process remembers of the files of its folders, and which folders it has complained about. */
interface Known {
  /** By path. Null for a text that is no definition. */
  files: Map<string, { stamp: string; file: SubagentFile | null }>
  /** Which file has a name, by folder of the settings. */
  folders: Map<string, FolderIndex>
  /** Looks under way, by folder of the settings. */
  scans: Map<string, Promise<Scan>>
  missing: Set<string>
}

interface FolderIndex {
  /** The folders that were scanned, with the stamp of each. */
  stamps: Map<string, string>
  byName: Map<string, string>
  /** By `performance.now()`. */
  scannedAtMs: number
}

interface Scan {
  files: Map<string, SubagentFile>
  /** Files whose name another file of the same folder has. */
  shadowed: SubagentFile[]
}

const knownBySettings = new WeakMap<Deps['settings'], Known>()

/**
 * The definition of a name in the configured folders: the file of the first folder that has one, or null. The name in the text counts, wherever in
 * the folder the file is. A file is read again when its times have changed. A file that cannot be used is returned with its problems.
 *
 * No path is made from the name, and a link that leads out of its folder is not followed.
 */
export async function readSubagentFile(deps: FileDeps, name: string): Promise<SubagentFile | null> {
  if (!isSubagentName(name)) return null
  for (const folder of deps.settings.SUBAGENTS_DIRS) {
    const file = await readInFolder(deps, folder, name)
    if (file !== null) return file
  }
  return null
}

/**
 * Everything that the configured folders define, by name. Texts that define nothing, such as a README.md, are left out.
 *
 * @returns `shadowed`: files whose name another file of the same folder has
 */
export async function listSubagentFiles(deps: FileDeps): Promise<{ files: SubagentFile[]; shadowed: SubagentFile[] }> {
  const files = new Map<string, SubagentFile>()
  const shadowed: SubagentFile[] = []
  for (const folder of deps.settings.SUBAGENTS_DIRS) {
    const scanned = await scan(deps, folder)
    for (const [name, file] of scanned.files) if (!files.has(name)) files.set(name, file)
    shadowed.push(...scanned.shadowed)
  }
  return { files: [...files.values()], shadowed }
}

/** The file of this name, or null. Every file is looked at only where the last scan does not answer, and by one caller at a time: the others wait for it. */
async function readInFolder(deps: FileDeps, folder: string, name: string): Promise<SubagentFile | null> {
  const { scans } = knownOf(deps)
  for (;;) {
    const indexed = await readIndexed(deps, folder, name)
    if (indexed !== undefined) return indexed
    const underWay = scans.get(folder)
    if (underWay === undefined) break
    // That scan began before this call and may have missed a change, so the index is read again.
    await underWay.catch(() => undefined)
  }
  const scanning = scan(deps, folder).finally(() => scans.delete(folder))
  scans.set(folder, scanning)
  return (await scanning).files.get(name) ?? null
}

/** The file that had this name at the last scan, null if none had, undefined where that scan is out of date. */
async function readIndexed(deps: FileDeps, folder: string, name: string): Promise<SubagentFile | null | undefined> {
  const index = knownOf(deps).folders.get(folder)
  if (index === undefined) return undefined
  const path = index.byName.get(name)
  if (path === undefined && performance.now() - index.scannedAtMs > ABSENT_MS) return undefined
  const areSame = await Promise.all([...index.stamps].map(async ([path, stamp]) => stamp !== '' && stamp === (await folderStamp(path))))
  if (areSame.includes(false)) return undefined
  if (path === undefined) return null
  const file = await readIn(deps, folder, path)
  return file?.name === name ? file : undefined
}

async function scan(deps: FileDeps, folder: string): Promise<Scan> {
  const known = knownOf(deps)
  const stamps = new Map<string, string>()
  const paths = await listPaths(deps, folder, stamps)
  const files = new Map<string, SubagentFile>()
  const byName = new Map<string, string>()
  const shadowed: SubagentFile[] = []
  // One after the other: at most one file of 2 MiB is in memory.
  for (const path of paths) {
    const file = await readIn(deps, folder, path)
    if (file === null) continue
    const other = byName.get(file.name)
    if (other === undefined) {
      files.set(file.name, file)
      byName.set(file.name, path)
    } else shadowed.push(toShadowed(file, path, other))
  }
  known.folders.set(folder, { stamps, byName, scannedAtMs: performance.now() })
  return { files, shadowed }
}

function toShadowed({ name, contentHash }: SubagentFile, path: string, other: string): SubagentFile {
  const reason = `of ${path} is ${name}, which ${other} has already: give one of them another name`
  return { name, reading: { definition: null, problems: [{ pointer: '/name', field: 'name', reason, line: 1, severity: 'error' }] }, contentHash }
}

/** The Markdown files below a folder, in the order of their paths. Links to folders are not followed. */
async function listPaths(deps: FileDeps, folder: string, stamps: Map<string, string>): Promise<string[]> {
  const { missing } = knownOf(deps)
  const root = resolve(folder)
  const paths: string[] = []
  // A folder that cannot be read keeps none of the others.
  const listFolder = async (path: string) => {
    try {
      const entries = await readdir(path, { withFileTypes: true })
      missing.delete(path)
      return entries
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === undefined) throw error
      if (!missing.has(path)) deps.log.warn({ folder: path, code }, 'a folder of SUBAGENTS_DIRS cannot be read')
      missing.add(path)
      return []
    }
  }
  const walk = async (path: string, depth: number): Promise<void> => {
    // Before its entries are read: what is added meanwhile shows as a change.
    stamps.set(path, await folderStamp(path))
    const entries = await listFolder(path)
    entries.sort((one, other) => (one.name < other.name ? -1 : 1))
    for (const entry of entries) {
      if (entry.isDirectory()) {
        if (depth < DEPTH_MAX && !entry.name.startsWith('.') && !FOREIGN_FOLDERS.has(entry.name)) await walk(join(path, entry.name), depth + 1)
      } else if (entry.name.endsWith(ENDING) && !entry.name.startsWith('.') && !isDocument(entry.name)) paths.push(join(path, entry.name))
    }
  }
  await walk(root, 1)
  if (paths.length > FILES_MAX)
    deps.log.warn({ folder, count: paths.length }, `a folder of SUBAGENTS_DIRS has more than ${FILES_MAX} Markdown files; the rest is left out`)
  return paths.slice(0, FILES_MAX)
}

/** README.md, CHANGELOG.md and the like. */
function isDocument(fileName: string): boolean {
  return /^[A-Z][A-Z0-9_-]+\.md$/.test(fileName)
}

/** Whether a file of a collection is, by its path, no definition. */
export function isForeign(path: string): boolean {
  const folders = path.split('/')
  return isDocument(folders.pop() ?? '') || folders.some((folder) => FOREIGN_FOLDERS.has(folder))
}

/** Empty for a folder that may still change unseen, or is gone. */
async function folderStamp(path: string): Promise<string> {
  try {
    return stampOf(path, await stat(path, { bigint: true }))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return ''
  }
}

/** Null for a file that is not there, or defines nothing. */
async function readIn(deps: FileDeps, folder: string, path: string): Promise<SubagentFile | null> {
  const { files } = knownOf(deps)
  let file: SubagentFile | null
  let stamp = ''
  try {
    const [real, realFolder] = await Promise.all([realpath(path), realpath(folder)])
    if (!isUnder(real, [realFolder])) throw new Unusable('is a link that leads out of its folder, and is not followed')
    stamp = stampOf(real, await stat(real, { bigint: true }))
    const known = files.get(path)
    if (known !== undefined && known.stamp === stamp && stamp !== '') return known.file
    file = await readFileOnce(path, real, dirname(path) === resolve(folder))
  } catch (error) {
    file = unreadable(path, error)
    if (file === null) {
      files.delete(path)
      return null
    }
  }
  const before = files.get(path)?.file
  files.set(path, { stamp, file })
  if (file !== null && (before === undefined || before === null || !before.contentHash.equals(file.contentHash))) logProblems(deps, path, file)
  return file
}

/** Identifies one state of a file; empty for a file that may still change unseen. */
function stampOf(path: string, { ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  // Not a time that anything is decided by: should the two clocks differ, files are read once more than needed.
  const nowMs = performance.timeOrigin + performance.now()
  return Number(ctimeNs / 1_000_000n) > nowMs - RECENT_MS ? '' : `${path} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

async function readFileOnce(path: string, real: string, isAtTop: boolean): Promise<SubagentFile | null> {
  // The flags keep it from following a link that was just created and from waiting for a pipe.
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
    // The file grew while it was read, so it is incomplete.
    if (length > size) throw new Unusable('is being written')
    const bytes = buffer.subarray(0, length)
    const text = decode(bytes)
    if (!isAtTop && !looksLikeSubagent(text)) return null
    const reading = parseSubagentMarkdown(text, { fileName: basename(path, ENDING), path, source: 'file' })
    return { name: reading.name ?? basename(path, ENDING), reading, contentHash: sha256(bytes) }
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
function unreadable(path: string, error: unknown): SubagentFile | null {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return null
  if (!(error instanceof Unusable) && code === undefined) throw error
  const reason = error instanceof Unusable ? error.message : `cannot be read (${code})`
  const problem: SubagentProblem = { pointer: '', field: 'definition', reason, line: 1, severity: 'error' }
  const name = toSubagentName(basename(path, ENDING)) ?? basename(path, ENDING)
  return { name, reading: { definition: null, problems: [problem] }, contentHash: sha256(Buffer.from(`${path} ${reason}`)) }
}

function logProblems(deps: FileDeps, path: string, { name, reading: { definition, problems } }: SubagentFile): void {
  if (problems.length === 0) return
  const lines = problems.map(({ line, field, reason }) => `line ${line}: ${field} ${reason}`)
  const fields = { subagent: name, path, problems: lines }
  if (definition === null) deps.log.warn(fields, 'a definition of a sub-agent cannot be used')
  else deps.log.info(fields, 'a definition of a sub-agent has warnings')
}

function knownOf({ settings }: FileDeps): Known {
  const known: Known = knownBySettings.get(settings) ?? { files: new Map(), folders: new Map(), scans: new Map(), missing: new Set() }
  knownBySettings.set(settings, known)
  return known
}

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()

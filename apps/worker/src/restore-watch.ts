import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { beatDataFolder, describeRestore, type FolderNote, hasComeAsFar } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** A restore that takes less than this back may stay unnoticed. */
export const BEAT_EVERY_MS = 5_000

/**
 * Notices that the database was restored to an earlier time: it counts in the database and in DATA_DIR, and compares. Until an operator has looked at it, what
 * may have been done since must not be done again.
 */
export class RestoreWatch {
  readonly #deps: WorkerDeps
  #problem: string | null = null
  #noted: FolderNote | null = null

  constructor(deps: WorkerDeps) {
    this.#deps = deps
  }

  /** Whether an operator has to decide before anything is started. */
  get isHeld(): boolean {
    return this.#problem !== null
  }

  /** How far the count had come when this worker last looked: a claim takes nothing from a database that has not come as far, so nothing starts before the next look. */
  get reached(): (FolderNote & { place: string }) | undefined {
    return this.#noted === null ? undefined : { place: this.#deps.place, ...this.#noted }
  }

  /** Whether nothing may be started now, also where no look has noticed a restore yet. */
  async isHeldNow(): Promise<boolean> {
    return this.isHeld || (this.#noted !== null && !(await hasComeAsFar(this.#deps, this.#deps.place, this.#noted)))
  }

  /** Compares and counts. The database first: a folder that has fallen behind says nothing, one that is ahead would be an alarm. */
  async look(): Promise<void> {
    const { place, log } = this.#deps
    const path = resolve(this.#deps.settings.DATA_DIR, 'heartbeat')
    const noted = await beatDataFolder(this.#deps, place, await readNote(path))
    await writeNote(path, noted)
    const problem = await describeRestore(this.#deps)
    if (problem !== null && problem !== this.#problem) log.error({}, problem)
    if (problem === null && this.#problem !== null) log.info({}, 'an operator has looked at the restore: the worker goes on')
    this.#problem = problem
    // Last: until it is known whether an operator has to decide, claims go by the count of before.
    this.#noted = noted
  }
}

/** Null for a folder without a note, or with one that cannot be read: it then begins again. */
async function readNote(path: string): Promise<FolderNote | null> {
  try {
    const { id, beat } = JSON.parse(await readFile(path, 'utf8')) as Partial<FolderNote>
    return typeof id === 'string' && UUID.test(id) && Number.isSafeInteger(beat) ? { id, beat: beat as number } : null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null
    throw error
  }
}

/** On a full disk the folder keeps its older note. */
async function writeNote(path: string, note: FolderNote): Promise<void> {
  const draft = `${path}.${process.pid}`
  try {
    await writeFile(draft, JSON.stringify(note))
    await rename(draft, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error
  } finally {
    await rm(draft, { force: true })
  }
}

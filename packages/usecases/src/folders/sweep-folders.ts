import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type FileSize, storedFiles } from '@muster/db'
import type { Deps } from '../core/ctx.ts'
import type { MaintenanceTask } from '../maintenance/maintenance.ts'
import type { FolderKind } from './folder-kinds.ts'
import { entriesOf, ignoreUnreadable, measureFolder } from './measure-folder.ts'

type SweepDeps = Pick<Deps, 'dispatchDb' | 'log'>

/** Names that one statement asks the database about. */
const AT_ONCE = 200
/** A call ends after the step that exceeds this, because the process may have to stop, and its disk has other work. */
const CALL_MS = 1_000
/** After this share of the interval another process may look, because timers are not exact. */
const INTERVAL_SHARE = 0.9

/** Goes through the folders of one kind in small steps, removes those that nothing needs, and measures the others. */
export class FolderSweep {
  readonly #deps: SweepDeps
  readonly #kind: FolderKind
  readonly #place: () => string
  #look: AsyncGenerator<void, void> | null = null
  #dueMs = Number.NEGATIVE_INFINITY

  /** @param place returns the id of the data folder; called only when there is something to look at */
  constructor(deps: SweepDeps, kind: FolderKind, place: () => string) {
    this.#deps = deps
    this.#kind = kind
    this.#place = place
  }

  /**
   * Continues the current look, or begins one if it is due and no other process has begun it.
   *
   * @returns whether the look is unfinished
   */
  async call(limitMs = CALL_MS): Promise<boolean> {
    const untilMs = performance.now() + limitMs
    this.#look ??= await this.#begin()
    try {
      while (this.#look !== null) {
        if ((await this.#look.next()).done === true) this.#look = null
        else if (performance.now() >= untilMs) return true
      }
      return false
    } catch (error) {
      this.#look = null
      throw error
    }
  }

  async #begin(): Promise<AsyncGenerator<void, void> | null> {
    const { everyMs, name, root } = this.#kind
    if (performance.now() < this.#dueMs) return null
    this.#dueMs = performance.now() + everyMs
    if ((await stat(root).catch(ignoreUnreadable)) === undefined) return null
    const isOurs = await storedFiles.beginSweep(this.#deps.dispatchDb, this.#place(), name, everyMs * INTERVAL_SHARE)
    return isOurs ? this.#sweep() : null
  }

  async *#sweep(): AsyncGenerator<void, void> {
    const { name: kind, root, has } = this.#kind
    const [kept, swept] = [
      { files: 0, bytes: 0 },
      { files: 0, bytes: 0 },
    ]
    let names: string[] = []
    for await (const { name } of entriesOf(root)) {
      if (has(name)) names.push(name)
      if (names.length < AT_ONCE) continue
      yield* this.#sweepSome(names, kept, swept)
      names = []
    }
    yield* this.#sweepSome(names, kept, swept)
    await storedFiles.noteSweep(this.#deps.dispatchDb, this.#place(), kind, kept, swept)
    if (swept.files > 0) this.#deps.log.info({ kind, ...swept }, 'removed folders that nothing needs')
  }

  async *#sweepSome(names: readonly string[], kept: FileSize, swept: FileSize): AsyncGenerator<void, void> {
    const over = names.length === 0 ? new Set<string>() : await this.#kind.findOver(names)
    // Measuring takes time, so what is over goes first.
    const ordered = [...names.filter((name) => over.has(name)), ...names.filter((name) => !over.has(name))]
    for (const name of ordered) {
      const path = join(this.#kind.root, name)
      // The folder itself counts as a file.
      const size = { files: 1, bytes: 0 }
      yield* measureFolder(path, size)
      const isRemoved = over.has(name) && (await this.#isOver(name)) && (await this.#remove(path))
      const sum = isRemoved ? swept : kept
      sum.files += size.files
      sum.bytes += size.bytes
    }
    yield
  }

  /** Asks again right before the removal: a subtask may have come to need the folder since the look began. */
  async #isOver(name: string): Promise<boolean> {
    return (await this.#kind.findOver([name])).has(name)
  }

  async #remove(path: string): Promise<boolean> {
    try {
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
      return true
    } catch (error) {
      this.#deps.log.warn({ err: error, path }, 'could not remove a folder')
      return false
    }
  }
}

/** Periodic work: removes the folders of one kind that nothing needs. */
export function sweepTask(deps: SweepDeps, kind: FolderKind, place: () => string): MaintenanceTask {
  const sweep = new FolderSweep(deps, kind, place)
  return { what: `sweep the folders of ${kind.name}`, everyMs: 2_000, run: () => sweep.call() }
}

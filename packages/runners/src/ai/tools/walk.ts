import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { ToolError } from './tool.ts'

const ENTRIES_MAX = 50_000
const DEPTH_MAX = 64
/** A walk may take milliseconds per file, and the worker must send heartbeats meanwhile. */
const TURN_MS = 50
/** Folders that never hold an agent's own work. */
const PASSED_OVER = new Set(['.git', 'node_modules'])

/**
 * The files below a folder, as paths relative to it with slashes, in the order of their names. Links are not followed, so it neither
 * leaves the folder or goes in circles.
 *
 * @throws ToolError when there are too many to look through
 */
export async function* walkFiles(folder: string, signal: AbortSignal): AsyncGenerator<string> {
  let entries = 0
  let turnBegan = performance.now()
  async function* below(relative: string, depth: number): AsyncGenerator<string> {
    if (depth > DEPTH_MAX) return
    const found = await readdir(join(folder, relative), { withFileTypes: true }).catch(() => [])
    for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (performance.now() - turnBegan > TURN_MS) {
        await immediate()
        turnBegan = performance.now()
      }
      signal.throwIfAborted()
      entries += 1
      if (entries > ENTRIES_MAX) throw new ToolError(`There are more than ${ENTRIES_MAX} files; look in a folder below.`)
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`
      if (entry.isFile()) yield path
      else if (entry.isDirectory() && !PASSED_OVER.has(entry.name)) yield* below(path, depth + 1)
    }
  }
  yield* below('', 0)
}

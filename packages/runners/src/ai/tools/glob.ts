import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { z } from 'zod'
import { compileGlob } from './glob-pattern.ts'
import { type AiTool, defineTool, ToolError } from './tool.ts'
import type { Workspace } from './workspace.ts'

const FOUND_MAX = 1_000

export function globTool(workspace: Workspace): AiTool {
  return defineTool({
    name: 'Glob',
    description: 'Finds files of your workspace by a pattern such as "**/*.ts". Gives their paths, relative to the workspace.',
    inputSchema: z.object({
      pattern: z.string().min(1).describe('* and ? within a name, ** across folders, [a-z], {one,other}'),
      path: z.string().optional().describe('folder to search; default: the workspace'),
    }),
    useOf: ({ path = '.' }) => workspace.whereTo(path),
    async run({ pattern, path = '.' }, { signal }) {
      const folder = await workspace.folder(path)
      const matches = compileGlob(pattern)
      const found: string[] = []
      for await (const file of walkFiles(folder, signal)) {
        if (!matches(file)) continue
        if (found.length === FOUND_MAX) return `${found.join('\n')}\n[there are more: these are the first ${FOUND_MAX}]`
        found.push(workspace.nameOf(join(folder, file)))
      }
      return found.length === 0 ? 'No file matches.' : found.join('\n')
    },
  })
}

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

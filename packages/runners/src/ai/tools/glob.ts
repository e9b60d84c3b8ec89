import { join } from 'node:path'
import { z } from 'zod'
import { compileGlob } from './glob-pattern.ts'
import { type AiTool, defineTool } from './tool.ts'
import { walkFiles } from './walk.ts'
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

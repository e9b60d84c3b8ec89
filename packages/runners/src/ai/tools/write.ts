import { z } from 'zod'
import { type AiTool, defineTool, ToolError } from './tool.ts'
import type { Workspace } from './workspace.ts'

const CONTENT_BYTES_MAX = 8 * 1024 * 1024

export function writeTool(workspace: Workspace): AiTool {
  return defineTool({
    name: 'Write',
    description: 'Writes a file of your workspace, in place of what was there, and makes the folders above it.',
    inputSchema: z.object({ file_path: z.string().describe('path, relative to the workspace'), content: z.string() }),
    useOf: ({ file_path }) => workspace.whereTo(file_path),
    async run({ file_path, content }) {
      const bytes = Buffer.from(content)
      if (bytes.length > CONTENT_BYTES_MAX) throw new ToolError(`The content has ${bytes.length} bytes, and a file may have ${CONTENT_BYTES_MAX}.`)
      await using file = await workspace.createFile(file_path)
      await file.writeFile(bytes)
      return `Wrote ${bytes.length} bytes to ${file_path}.`
    },
  })
}

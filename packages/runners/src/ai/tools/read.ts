import { cutToBytes, toStorableText } from '@muster/domain'
import { z } from 'zod'
import { type AiTool, defineTool, TOOL_TEXT_BYTES_MAX, ToolError } from './tool.ts'
import type { Workspace } from './workspace.ts'

const FILE_BYTES_MAX = 16 * 1024 * 1024
const LINES_DEFAULT = 2_000
const LINE_BYTES_MAX = 2_000

export function readTool(workspace: Workspace): AiTool {
  return defineTool({
    name: 'Read',
    description: `Reads a text file of your workspace, with line numbers. Reads ${LINES_DEFAULT} lines by default; use offset and limit for more.`,
    inputSchema: z.object({
      file_path: z.string().describe('path, relative to the workspace'),
      offset: z.int().min(1).optional().describe('first line to read, from 1'),
      limit: z.int().min(1).optional().describe('how many lines to read'),
    }),
    useOf: ({ file_path }) => workspace.whereTo(file_path),
    async run({ file_path, offset = 1, limit = LINES_DEFAULT }) {
      const text = await readText(workspace, file_path)
      const lines = text.split('\n')
      if (lines.at(-1) === '') lines.pop()
      if (lines.length === 0) return `${file_path} is empty.`
      if (offset > lines.length) throw new ToolError(`${file_path} has ${lines.length} lines.`)
      const numbered = lines.slice(offset - 1, offset - 1 + limit).map((line, index) => `${String(offset + index).padStart(6)}\t${cutLine(line)}`)
      const { text: shown, truncated } = cutToBytes(numbered.join('\n'), TOOL_TEXT_BYTES_MAX)
      const last = truncated ? offset + shown.split('\n').length - 2 : offset + numbered.length - 1
      return last < lines.length ? `${shown}\n[${file_path} goes on: it has ${lines.length} lines, read on with offset ${Math.max(last, offset) + 1}]` : shown
    },
  })
}

function cutLine(line: string): string {
  const { text, truncated } = cutToBytes(line, LINE_BYTES_MAX)
  return truncated ? `${text}…` : text
}

/** The whole of a text file of the workspace. @throws ToolError */
async function readText(workspace: Workspace, path: string): Promise<string> {
  await using file = await workspace.openFile(path)
  const { size } = await file.stat()
  if (size > FILE_BYTES_MAX) throw new ToolError(`${path} has ${size} bytes, and at most ${FILE_BYTES_MAX} can be read. Look for what you need with Grep.`)
  const bytes = await file.readFile()
  if (bytes.subarray(0, 8192).includes(0)) throw new ToolError(`${path} is no text file.`)
  return toStorableText(bytes.toString('utf8')).replaceAll('\r\n', '\n')
}

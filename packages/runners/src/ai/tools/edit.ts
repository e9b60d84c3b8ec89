import { z } from 'zod'
import { replaceText } from './replace-text.ts'
import { type AiTool, defineTool, ToolError } from './tool.ts'
import type { Workspace } from './workspace.ts'

const FILE_BYTES_MAX = 8 * 1024 * 1024

/** Replaces exact text in a file, as Claude Code's tool of this name does. */
export function editTool(workspace: Workspace): AiTool {
  return defineTool({
    name: 'Edit',
    description:
      'Replaces text in a file of your workspace. old_string must be the exact text of the file, without the line numbers of Read, and must occur once, unless replace_all is true. With an empty old_string it makes a new file of new_string.',
    inputSchema: z.object({
      file_path: z.string().describe('path, relative to the workspace'),
      old_string: z.string().describe('the text to replace'),
      new_string: z.string().describe('the text to put in its place; must differ from old_string'),
      replace_all: z.boolean().optional().describe('replace every occurrence; default: false'),
    }),
    useOf: ({ file_path }) => workspace.whereTo(file_path),
    async run({ file_path, old_string, new_string, replace_all = false }) {
      if (old_string === new_string) throw new ToolError('old_string and new_string are the same, so there is nothing to change.')
      if (old_string === '') {
        await workspace.addFile(file_path, encoded(new_string, file_path))
        return `Made ${file_path}.`
      }
      let count = 0
      await workspace.changeFile(file_path, FILE_BYTES_MAX, (content) => {
        const replaced = replaceText(decoded(content, file_path), { oldText: old_string, newText: new_string, all: replace_all })
        if (replaced.count === 0) {
          throw new ToolError(
            `old_string was not found in ${file_path}. Read the file again, and copy the text exactly, with its blanks and without line numbers.`,
          )
        }
        if (replaced.count > 1 && !replace_all) {
          throw new ToolError(
            `old_string occurs ${replaced.count} times in ${file_path}. Add lines around it until it occurs once, or set replace_all to change every one.`,
          )
        }
        count = replaced.count
        return encoded(replaced.text, file_path)
      })
      return `Replaced ${count} ${count === 1 ? 'occurrence' : 'occurrences'} in ${file_path}.`
    },
  })
}

/** The text of a file, from which `encoded` makes the same bytes again. @throws ToolError for bytes that are no text */
function decoded(content: Buffer, path: string): string {
  if (content.includes(0)) throw new ToolError(`${path} is a binary file. Edit changes text files only.`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    throw new ToolError(`${path} is not valid UTF-8. Edit would damage it, so it was left as it is.`)
  }
}

function encoded(text: string, path: string): Buffer {
  if (!text.isWellFormed()) throw new ToolError('new_string contains half of a surrogate pair, which no text file can hold.')
  if (text.includes('\0')) throw new ToolError('new_string contains the character U+0000, which would make the file a binary one.')
  const bytes = Buffer.from(text)
  if (bytes.length <= FILE_BYTES_MAX) return bytes
  throw new ToolError(`${path} would have ${bytes.length} bytes. A file may have ${FILE_BYTES_MAX}.`)
}

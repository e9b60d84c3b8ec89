import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { cutToBytes, limited, OUT_OF_TIME, toStorableText } from '@muster/domain'
import { RE2JS } from 're2js'
import { z } from 'zod'
import { walkFiles } from './glob.ts'
import { compileGlob, compileRegex } from './glob-pattern.ts'
import { type AiTool, defineTool, TOOL_TEXT_BYTES_MAX, ToolError } from './tool.ts'
import type { Workspace } from './workspace.ts'

const FILE_BYTES_MAX = 4 * 1024 * 1024
const TOTAL_BYTES_MAX = 64 * 1024 * 1024
const LINE_LENGTH_MAX = 2_000
const FOUND_MAX = 1_000
/** How much is looked at before others get their turn: the worker has heartbeats to send. */
const LINES_PER_TURN = 2_000
const LENGTH_PER_TURN = 256 * 1024
/** What is meant well takes a hundredth of it. The engine is linear in the text, but a pattern can cost a millisecond a character, and holds up every run. */
const TURN_MS_MAX = 1_000

export function grepTool(workspace: Workspace): AiTool {
  return defineTool({
    name: 'Grep',
    description: 'Searches the text files of your workspace for a regular expression (RE2: no lookaround, no backreferences), line by line.',
    inputSchema: z.object({
      pattern: z.string().min(1),
      path: z.string().optional().describe('file or folder to search; default: the workspace'),
      glob: z.string().optional().describe('only files that match, such as "*.ts"'),
      '-i': z.boolean().optional().describe('upper and lower case alike'),
      output_mode: z
        .enum(['content', 'files_with_matches', 'count'])
        .optional()
        .describe('lines with their numbers, paths (the default), or how many lines a file'),
    }),
    useOf: ({ path = '.' }) => workspace.whereTo(path),
    async run({ pattern, path = '.', glob, '-i': isCaseless = false, output_mode = 'files_with_matches' }, { signal }) {
      const expression = compileRegex(pattern, isCaseless ? RE2JS.CASE_INSENSITIVE : 0)
      const target = await workspace.folder(path)
      const isFolder = (await stat(target)).isDirectory()
      const base = isFolder ? target : dirname(target)
      const isWanted = glob === undefined ? () => true : matcher(glob)
      const found: string[] = []
      let totalBytes = 0
      for await (const relative of isFolder ? walkFiles(target, signal) : [basename(target)]) {
        if (!isWanted(relative)) continue
        const name = workspace.nameOf(join(base, relative))
        const text = await textOf(workspace, name)
        if (text === null) continue
        totalBytes += text.length
        if (totalBytes > TOTAL_BYTES_MAX) throw new ToolError(`There is more than ${TOTAL_BYTES_MAX} bytes of text; search in a folder below, or give a glob.`)
        const matches = await matchingLines(text, expression, signal)
        if (matches.length === 0) continue
        if (output_mode === 'content') found.push(...matches.map(({ number, line }) => `${name}:${number}:${line.slice(0, LINE_LENGTH_MAX)}`))
        else found.push(output_mode === 'count' ? `${name}:${matches.length}` : name)
        if (found.length > FOUND_MAX) break
      }
      return shown(found)
    },
  })
}

/** As ripgrep has it: a pattern without a slash is about names in any folder. */
function matcher(glob: string): (path: string) => boolean {
  return compileGlob(glob.includes('/') ? glob : `**/${glob}`)
}

function shown(found: string[]): string {
  if (found.length === 0) return 'Nothing matches.'
  const { text, truncated } = cutToBytes(toStorableText(found.slice(0, FOUND_MAX).join('\n')), TOOL_TEXT_BYTES_MAX)
  return truncated || found.length > FOUND_MAX ? `${text}\n[there is more; search for something narrower]` : text
}

/** Null for what is no text, is too large, or is gone by now. */
async function textOf(workspace: Workspace, name: string): Promise<string | null> {
  try {
    await using file = await workspace.openFile(name)
    if ((await file.stat()).size > FILE_BYTES_MAX) return null
    const bytes = await file.readFile()
    return bytes.subarray(0, 8192).includes(0) ? null : bytes.toString('utf8')
  } catch (error) {
    if (error instanceof ToolError) return null
    throw error
  }
}

async function matchingLines(text: string, expression: RE2JS, signal: AbortSignal): Promise<{ number: number; line: string }[]> {
  const matches: { number: number; line: string }[] = []
  const lines = text.split(/\r?\n/)
  for (let from = 0; from < lines.length; ) {
    await immediate()
    signal.throwIfAborted()
    const to = endOfTurn(lines, from)
    const before = matches.length
    const end = limited(TURN_MS_MAX, () => {
      matches.length = before
      for (let at = from; at < to && matches.length <= FOUND_MAX; at += 1) {
        const line = lines[at] as string
        if (expression.test(line)) matches.push({ number: at + 1, line })
      }
    })
    if (end === OUT_OF_TIME) throw new ToolError('The pattern takes too long on these files; search for something simpler.')
    from = to
  }
  return matches
}

/** Where a turn ends that begins with a line: one line at least. */
function endOfTurn(lines: readonly string[], from: number): number {
  let length = 0
  let to = from
  do {
    length += (lines[to] as string).length
    to += 1
  } while (to < lines.length && to - from < LINES_PER_TURN && length < LENGTH_PER_TURN)
  return to
}

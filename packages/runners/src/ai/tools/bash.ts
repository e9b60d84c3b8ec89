import { toStorableText } from '@muster/domain'
import { z } from 'zod'
import type { Guard } from '../../command/guard.ts'
import { describeMemory } from '../../command/outcome.ts'
import { confinedBy, gateFailure, type ProcessMarks, type Program, StartError, startProgram } from '../../command/process.ts'
import { killMarked } from '../../command/process-group.ts'
import type { Environment } from '../../command/program.ts'
import { createByteStore, createTail } from '../../command/text.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { type AiTool, defineTool, TOOL_TEXT_BYTES_MAX, ToolError } from './tool.ts'

const TIMEOUT_MS_DEFAULT = 120_000
const TIMEOUT_MS_MAX = 600_000
/** A cancelled run ends within a second, whatever its commands do with SIGTERM. */
const KILL_AFTER_MS = 500
/** Half of the shown text is the beginning of the output, the other half its end. */
const HALF_BYTES = TOOL_TEXT_BYTES_MAX / 2
/** What a command inherits. Not HOME: it leads to the worker's own files. */
const INHERITED = ['PATH', 'LANG', 'TZ', 'TMPDIR'] as const

export interface BashOptions {
  guard: Guard
  /** Variables of this process. */
  environment: Environment
  workspace: string
  marks: ProcessMarks
  /** What confines commands; null or absent where nothing does. */
  sandbox?: Sandbox | null
}

/**
 * Commands, without the environment of the worker: no key, no credential, nothing but where programs are. Where there is a sandbox, they run in it. Each call
 * is a process group of its own, which is gone when the call has ended, and which the guard ends with the worker.
 */
export function bashTool(options: BashOptions): AiTool & { close(): Promise<void> } {
  let wasUsed = false
  const tool = defineTool({
    name: 'Bash',
    description:
      'Runs a command with sh in your workspace and gives its output. Every call starts anew in the workspace: folders and variables of earlier calls are forgotten, and what still runs when the command ends is stopped.',
    inputSchema: z.object({
      command: z.string().min(1).max(100_000),
      timeout: z.number().min(1).max(TIMEOUT_MS_MAX).optional().describe(`milliseconds; default: ${TIMEOUT_MS_DEFAULT}`),
      description: z.string().optional(),
    }),
    useOf: ({ command }) => command,
    async run({ command, timeout = TIMEOUT_MS_DEFAULT }, { signal }) {
      if (command.includes('\0')) throw new ToolError('A command cannot contain the character U+0000.')
      wasUsed = true
      const program = await start(command, options)
      return await follow(program, timeout, signal)
    },
  })
  return {
    ...tool,
    async close() {
      // A process that left the group and closed its pipes survives the call.
      if (wasUsed) await killMarked(options.marks)
    },
  }
}

async function start(command: string, { guard, environment, workspace, marks, sandbox }: BashOptions): Promise<Program> {
  const inherited = INHERITED.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]] as const]))
  const env = { ...Object.fromEntries(inherited), HOME: workspace, MUSTER_WORKSPACE: workspace, ...marks }
  try {
    const confined = confinedBy(sandbox, {}, [workspace])
    return await startProgram({ program: '/bin/sh', args: ['-c', command], cwd: workspace, env, guard, confined, killAfterMs: KILL_AFTER_MS })
  } catch (error) {
    if (error instanceof StartError) throw new ToolError(error.message)
    throw error
  }
}

async function follow(program: Program, timeoutMs: number, signal: AbortSignal): Promise<string> {
  program.stdin.end()
  const output = createOutput()
  for (const stream of [program.stdout, program.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output.add(chunk)
      // One chunk a turn: a command that prints without pause must not keep the worker from its heartbeats.
      stream.pause()
      setImmediate(() => stream.resume())
    })
  }
  let isOverdue = false
  const timer = setTimeout(() => {
    isOverdue = true
    program.end('stop')
  }, timeoutMs)
  const stop = () => program.end('stop')
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const ending = await program.ended
    const failure = gateFailure(ending, output.text)
    if (failure !== null) throw new ToolError(failure)
    // Also of a command that went on without the process.
    const memory = describeMemory(ending)
    const text = memory === null ? output.text : `${output.text}\n[${memory}]`.trimStart()
    if (isOverdue) throw new ToolError(`${text}\n[stopped after ${timeoutMs} ms]`.trimStart())
    if (ending.endedBy !== null) throw new ToolError(`${text}\n[stopped]`.trimStart())
    if (ending.code === 0) return text === '' ? '[no output]' : text
    throw new ToolError(`${text}\n[${ending.signal === null ? `exit code ${ending.code}` : `ended by ${ending.signal}`}]`.trimStart())
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** The beginning and the end of an output, however long it is. */
function createOutput() {
  const head = createByteStore(() => HALF_BYTES)
  const tail = createTail(HALF_BYTES)
  let total = 0
  return {
    add(chunk: Buffer) {
      const toHead = Math.min(chunk.length, HALF_BYTES - head.length)
      head.add(chunk.subarray(0, toHead))
      if (toHead < chunk.length) tail.add(chunk.subarray(toHead))
      total += chunk.length
    },
    get text() {
      const left = total - 2 * HALF_BYTES
      const gap = left > 0 ? `\n[${left} bytes left out]\n` : ''
      return toStorableText(`${head.bytes.toString('utf8')}${gap}${tail.text}`).trimEnd()
    },
  }
}

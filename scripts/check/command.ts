import { spawn } from 'node:child_process'
import { delimiter } from 'node:path'
import { repositoryRoot } from './report.ts'

/** How a command ended: `output` is what it wrote to both streams, in the order it came. */
export interface CommandResult {
  ok: boolean
  output: string
}

/** Runs one of the installed tools, by default in the root of the repository, with no input and no colours, and never throws for its failure. */
export function run(
  command: string,
  args: readonly string[],
  { timeoutSeconds = 300, env: given = {}, cwd = repositoryRoot }: { timeoutSeconds?: number; env?: Record<string, string>; cwd?: string } = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const env = {
      ...process.env,
      PATH: `${repositoryRoot}/node_modules/.bin${delimiter}${process.env.PATH ?? ''}`,
      NO_COLOR: '1',
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      ...given,
    }
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutSeconds * 1000 })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('error', (error) => resolve({ ok: false, output: `${command}: ${error.message}` }))
    child.on('close', (code, signal) => {
      const ending = signal === null ? '' : `\nstopped by ${signal}, after ${timeoutSeconds} s at most`
      resolve({ ok: code === 0, output: Buffer.concat(chunks).toString('utf8').trim() + ending })
    })
  })
}

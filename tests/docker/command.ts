import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/**
 * Runs a program to its end and returns what it printed to standard output.
 *
 * @throws Error with the last lines of what it said, when it ends with anything but 0
 */
export async function run(argv: readonly string[], env: NodeJS.ProcessEnv, cwd?: string): Promise<string> {
  const [program = '', ...args] = argv
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...(cwd === undefined ? {} : { cwd }) })
  const [output, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (code !== 0) throw new Error(`${argv.join(' ').slice(0, 200)} ended with ${code}:\n${`${output}${said}`.trim().split('\n').slice(-30).join('\n')}`)
  return output
}

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { Cli } from '../cli.ts'
import { CliError } from '../exit-codes.ts'

/** What runs the commands of a checkout; the published package is without the server. */
export const RUN = fileURLToPath(new URL('../../../../scripts/run.mjs', import.meta.url))

export function addServer(program: Command): void {
  const inCheckout = (name: string, target: 'start' | 'demo', description: string) =>
    program
      .command(name)
      .description(description)
      // It has its own, with the settings.
      .helpOption(false)
      .allowUnknownOption()
      .argument('[options...]')
      .action(async (options: string[]) => {
        if (!existsSync(RUN)) {
          throw new CliError(
            `\`muster ${name}\` needs a checkout of Muster, and this is the command line alone: clone the repository and run npm start there, or use its Docker image.`,
          )
        }
        await run(process.execPath, [RUN, target, ...options])
      })
  inCheckout('up', 'start', 'start PostgreSQL, API and worker here, and stay up (npm start)')
  inCheckout('demo', 'demo', 'see everything happen once, in under a minute (npm run demo)')
  program
    .command('open [id]')
    .description('open the dashboard, or a subtask in it, in a browser')
    .option('--print', 'only print the address')
    .action(async (id: string | undefined, { print }: { print?: boolean }, command: Command) => {
      const cli = Cli.of(command)
      const address = `${cli.url}/ui/${id === undefined ? '' : `subtasks/${encodeURIComponent(id)}`}`
      if (print !== true && !cli.out.json) {
        const { default: open } = await import('open')
        await open(address)
      }
      await cli.out.result({ url: address }, () => address)
    })
  program
    .command('mcp [options...]')
    .description('serve MCP over stdio, for clients that speak no HTTP (muster-mcp)')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (options: string[], _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const bridge = createRequire(import.meta.url).resolve('muster-mcp/bin/muster-mcp.mjs')
      const { key } = cli
      await run(process.execPath, [bridge, '--url', cli.url, ...options], key === undefined ? {} : { MUSTER_KEY: key })
    })
}

/** Becomes another program, as far as that can be: its input and output, its signals, its exit code. */
async function run(program: string, options: readonly string[], env: Record<string, string> = {}): Promise<void> {
  const child = spawn(program, options, { stdio: 'inherit', env: { ...process.env, ...env } })
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  // Ctrl-C in a terminal reaches the child as well.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', forward)
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
  })
}

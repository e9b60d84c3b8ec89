import type { BodyOf, Subtask } from '@muster/client'
import type { Command } from 'commander'
import { Cli, readInput, repeated, wholeNumber } from '../cli.ts'
import { CliError, EXIT, exitCodeOfRun, usageError } from '../exit-codes.ts'
import { clean } from '../output/text.ts'
import { followRun } from './follow.ts'
import { describeResult } from './subtasks.ts'

interface SpawnOptions {
  agent?: string
  runner?: string
  subagent?: string
  model?: string
  priority?: string
  timeout?: number
  output?: string[]
  session?: string
  task?: string
  maxTokens?: number
  idempotencyKey?: string
  wait?: number | true
  follow?: boolean
}

export function addSpawn(program: Command): void {
  program
    .command('spawn <words...>')
    .description('start a subtask; - reads its text from standard input')
    .option('-f, --follow', 'show what it does until it ends')
    .option('-w, --wait [seconds]', 'wait for its result', wholeNumber('--wait', 1, 86_400, ' Without a number, write it after the task.'))
    .option('--agent <id>', 'the agent that it runs as')
    .option('--subagent <name>', 'a definition of `muster subagents`')
    .option('--runner <name>', 'what executes it')
    .option('--model <name>', 'the model of the runner')
    .option('--priority <priority>', 'low, normal, high or urgent')
    .option('--timeout <seconds>', 'the most that it may take', wholeNumber('--timeout', 1, 86_400))
    .option('--max-tokens <count>', 'the most tokens that it may use', wholeNumber('--max-tokens', 1, 1_000_000_000))
    .option('--output <name>', 'an output that the result must have; may be repeated', repeated)
    .option('--session <id>', 'the session whose inbox gets the result (default: cli)')
    .option('--idempotency-key <key>', 'the same key again starts nothing new')
    .action(async (words: string[], options: SpawnOptions, command: Command) => {
      const cli = Cli.of(command)
      if (options.follow === true && options.wait !== undefined) throw usageError('Give --follow or --wait, not both.')
      const task = words.length === 1 && words[0] === '-' ? await readInput() : words.join(' ')
      const muster = cli.muster()
      const handle = await muster.subtasks.spawn(toBody(task, options, cli.session), { idempotencyKey: options.idempotencyKey })
      const spawned = handle.subtask as Subtask
      for (const warning of spawned.warnings ?? []) cli.out.note(clean(warning), cli.out.colours.yellow)
      if (options.follow === true) return await followRun(cli, spawned.id)
      if (options.wait === undefined) {
        await cli.out.result(spawned, () => `${spawned.id}  ${cli.out.status(spawned.status)}`)
        if (cli.out.isTerminal) cli.out.note(`Runner: ${clean(spawned.runner)}. Watch it: muster follow ${spawned.id}`)
        return
      }
      cli.out.note(`${spawned.id} is ${spawned.status}; waiting for its end …`)
      const ended = await waitForEnd(cli, spawned.id, options.wait === true ? undefined : options.wait)
      await cli.out.result(ended, () => describeResult(cli.out, ended))
      process.exitCode = exitCodeOfRun(ended.status)
    })
}

/** @throws CliError when the time is over or the user has interrupted; the run goes on */
async function waitForEnd(cli: Cli, id: string, seconds: number | undefined): Promise<Subtask> {
  const limit = seconds === undefined ? [] : [AbortSignal.timeout(seconds * 1_000)]
  try {
    return await cli
      .muster()
      .subtasks.handle(id)
      .result({ signal: AbortSignal.any([cli.interrupted, ...limit]) })
  } catch (error) {
    if (cli.interrupted.aborted) throw new CliError(`${id} goes on without you. Its result comes to your inbox; muster show ${id}`, EXIT.interrupted)
    if (limit[0]?.aborted === true) throw new CliError(`${id} has not ended within ${seconds} s. It goes on: muster follow ${id}`, EXIT.waitedLong)
    throw error
  }
}

function toBody(task: string, options: SpawnOptions, session: string): BodyOf<'createSubtask'> {
  return {
    task,
    parent_session_id: options.session ?? session,
    ...(options.agent === undefined ? {} : { agent_id: options.agent }),
    ...(options.runner === undefined ? {} : { runner: options.runner }),
    ...(options.subagent === undefined ? {} : { subagent: options.subagent }),
    ...(options.model === undefined ? {} : { model: options.model }),
    // The server knows which priorities there are, and says so.
    ...(options.priority === undefined ? {} : { priority: options.priority as Subtask['priority'] }),
    ...(options.timeout === undefined ? {} : { timeout_seconds: options.timeout }),
    ...(options.output === undefined ? {} : { required_outputs: options.output }),
    ...(options.maxTokens === undefined ? {} : { budget: { max_tokens: options.maxTokens } }),
  }
}

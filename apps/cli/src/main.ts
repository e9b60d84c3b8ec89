import { MusterError } from '@muster/client'
import { Command, CommanderError } from 'commander'
import { Cli } from './cli.ts'
import { addAsk } from './commands/ask.ts'
import { addCompletion } from './commands/completion.ts'
import { addDoctor } from './commands/doctor.ts'
import { addEval } from './commands/eval.ts'
import { addEvents } from './commands/events.ts'
import { addFollow } from './commands/follow.ts'
import { addInbox } from './commands/inbox.ts'
import { addKeys } from './commands/key.ts'
import { addMemory } from './commands/memory.ts'
import { addProfiles } from './commands/profile.ts'
import { addSchedule } from './commands/schedule.ts'
import { addServer } from './commands/server.ts'
import { addSpawn } from './commands/spawn.ts'
import { addSubagents } from './commands/subagents.ts'
import { addSubtasks } from './commands/subtasks.ts'
import { addTasks } from './commands/task.ts'
import { addGuides } from './commands/tsg.ts'
import { addUsage } from './commands/usage.ts'
import { addWebhooks } from './commands/webhook.ts'
import { CliError, EXIT, exitCodeOf } from './exit-codes.ts'
import { clean, safeJson } from './output/text.ts'
import { version } from './version.ts'

const AFTER_HELP = `
Examples:
  muster spawn --follow 'Inspect packages/domain'
  muster schedule 'weekdays at 9 ET' 'Summarise the open pull requests'
  muster ls --status running --json

MUSTER_URL, MUSTER_KEY, MUSTER_PROFILE and MUSTER_SESSION stand in for options.
Exit codes: 0 done, 1 refused, 2 not understood, 3 not found, 4 not allowed, 5 conflict, 6 server not reachable, 7 the run failed, 8 it was cancelled,
9 it took too long, 130 interrupted.`

/** The whole command line. */
export function createProgram(): Command {
  const program = new Command('muster')
    .description('Start background work for agents, watch it, steer it, answer it.')
    .version(version(), '--version', 'print the version')
    .option('--url <address>', 'where Muster is (default: the profile, or http://127.0.0.1:7300)')
    .option('--profile <name>', 'a server and key of `muster profile`')
    .option('--json', 'JSON, one value a line')
    .option('--no-color', 'no colours, as NO_COLOR does')
    .option('--no-pager', 'long output as it is')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .addHelpText('after', AFTER_HELP)
    .exitOverride()
    .configureHelp({ sortOptions: false })
  program.commandsGroup('Run work:')
  addSpawn(program)
  addFollow(program)
  addSubtasks(program)
  addInbox(program)
  addAsk(program)
  program.commandsGroup('Define work:')
  addTasks(program)
  addSchedule(program)
  addSubagents(program)
  addGuides(program)
  addMemory(program)
  program.commandsGroup('Look back:')
  addEval(program)
  addUsage(program)
  addEvents(program)
  program.commandsGroup('Set up:')
  addServer(program)
  addDoctor(program)
  addProfiles(program)
  addKeys(program)
  addWebhooks(program)
  addCompletion(program)
  return program
}

/** Runs one command and says what went wrong, in words and by the exit code. */
async function main(): Promise<void> {
  const program = createProgram()
  try {
    await program.parseAsync()
  } catch (error) {
    process.exitCode = report(error, program)
  }
}

function report(error: unknown, program: Command): number {
  // Commander has printed it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof Error && error.name === 'AbortError') return EXIT.interrupted
  const options = program.opts<{ json?: boolean; color: boolean; pager: boolean }>()
  const cli = new Cli(options)
  const { red } = cli.out.colours
  const exitCode = exitCodeOf(error)
  const say = (text: string) => void process.stderr.write(`${text}\n`)
  const inWords = (text: string) => say(`${red('muster:')} ${clean(text)}`)
  if (error instanceof MusterError) {
    if (options.json === true) say(safeJson(error.problem ?? { code: error.code, detail: error.message }))
    else inWords(explain(error, cli.url))
  } else if (!(error instanceof CliError)) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  } else if (error.message !== '') {
    if (options.json === true) say(safeJson({ detail: error.message }))
    else inWords(error.message)
  }
  return exitCode
}

/** An error with what to do about it. */
function explain(error: MusterError, url: string): string {
  if (error.code === 'connection_failed')
    return `${url} could not be reached. Start Muster (muster up), or say where it is (--url). \`muster doctor\` looks closer.`
  if (error.code === 'unauthenticated') return `${error.message} Store a key: muster profile add <name> --url ${url}`
  const fields = (error.problem?.errors ?? []).map(({ field, reason }) => `\n  ${field}: ${reason}`).join('')
  const id = error.requestId === undefined || error.status < 500 ? '' : `\n  request ${error.requestId}`
  return `${error.message} (${error.code})${fields}${id}`
}

// What reads our output may end before it has all of it, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok)
  throw error
})

await main()

import { MusterError } from '@muster/client'
import { Command, CommanderError } from 'commander'
import { Cli } from './cli.ts'
import { addCompletion, commandOf } from './commands/completion.ts'
import { CliError, EXIT, exitCodeOf, usageError } from './exit-codes.ts'
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

/** The commands, in the order of the help. Each is loaded when it is typed: all together would take half of the time in which `muster` starts. */
const COMMANDS: { group: string; names: string[]; load(): Promise<(program: Command) => void> }[] = [
  { group: 'Run work:', names: ['spawn'], load: async () => (await import('./commands/spawn.ts')).addSpawn },
  { group: 'Run work:', names: ['follow'], load: async () => (await import('./commands/follow.ts')).addFollow },
  { group: 'Run work:', names: ['ls', 'show', 'steer', 'cancel'], load: async () => (await import('./commands/subtasks.ts')).addSubtasks },
  { group: 'Run work:', names: ['inbox'], load: async () => (await import('./commands/inbox.ts')).addInbox },
  { group: 'Run work:', names: ['ask'], load: async () => (await import('./commands/ask.ts')).addAsk },
  { group: 'Define work:', names: ['task'], load: async () => (await import('./commands/task.ts')).addTasks },
  { group: 'Define work:', names: ['schedule'], load: async () => (await import('./commands/schedule.ts')).addSchedule },
  { group: 'Define work:', names: ['subagents'], load: async () => (await import('./commands/subagents.ts')).addSubagents },
  { group: 'Define work:', names: ['tsg'], load: async () => (await import('./commands/tsg.ts')).addGuides },
  { group: 'Define work:', names: ['memory'], load: async () => (await import('./commands/memory.ts')).addMemory },
  { group: 'Look back:', names: ['eval'], load: async () => (await import('./commands/eval.ts')).addEval },
  { group: 'Look back:', names: ['usage'], load: async () => (await import('./commands/usage.ts')).addUsage },
  { group: 'Look back:', names: ['events'], load: async () => (await import('./commands/events.ts')).addEvents },
  { group: 'Set up:', names: ['up', 'demo', 'open', 'mcp'], load: async () => (await import('./commands/server.ts')).addServer },
  { group: 'Set up:', names: ['doctor'], load: async () => (await import('./commands/doctor.ts')).addDoctor },
  { group: 'Set up:', names: ['profile'], load: async () => (await import('./commands/profile.ts')).addProfiles },
  { group: 'Set up:', names: ['key'], load: async () => (await import('./commands/key.ts')).addKeys },
  { group: 'Set up:', names: ['webhook'], load: async () => (await import('./commands/webhook.ts')).addWebhooks },
  { group: 'Set up:', names: ['delivery'], load: async () => (await import('./commands/webhook.ts')).addDeliveries },
  { group: 'Set up:', names: [], load: async () => addCompletion },
]

/** The program without its commands. */
function emptyProgram(): Command {
  return (
    new Command('muster')
      .description('Start background work for agents, watch it, steer it, answer it.')
      .version(version(), '--version', 'print the version')
      .option('--url <address>', 'where Muster is (default: the profile, or http://127.0.0.1:7300)')
      .option('--profile <name>', 'a server and key of `muster profile`')
      .option('--json', 'JSON, one value a line')
      .option('--no-color', 'no colours, as NO_COLOR does')
      .option('--no-pager', 'long output as it is')
      .helpOption('-h, --help', 'print help')
      .addHelpCommand(new Command('help').argument('[command]').description('print help').helpGroup('Set up:'))
      .addHelpText('after', AFTER_HELP)
      .exitOverride()
      // `report` prints errors, these as all others.
      .configureOutput({ outputError: () => {} })
      .configureHelp({ sortOptions: false })
      .hook('preAction', (_program, command) => requireArguments(command))
  )
}

/** The program with the command that the words name; with all for help, completion, and what is not understood. */
async function createProgram(words: readonly string[]): Promise<Command> {
  const program = emptyProgram()
  const [name = ''] = emptyProgram().parseOptions([...words]).operands
  const named = COMMANDS.filter(({ names }) => names.includes(name))
  for (const { group, load } of named.length > 0 ? named : COMMANDS) {
    program.commandsGroup(group)
    const add = await load()
    add(program)
  }
  return program
}

/** Arguments that name one thing. A dot would be another path of the API. */
const NAMES = ['id', 'name', 'session', 'delivery']

/** A variable of a script that was empty is a mistake, and no name of anything. @throws CliError */
function requireArguments(command: Command): void {
  for (const [index, argument] of command.registeredArguments.entries()) {
    const given = argument.variadic ? command.args.slice(index) : command.args.slice(index, index + 1)
    if (given.includes('')) throw usageError(`<${argument.name()}> is empty.`)
    const dots = given.find((text) => text === '.' || text === '..')
    if (dots !== undefined && NAMES.includes(argument.name())) throw usageError(`<${argument.name()}> cannot be ${dots}`)
  }
}

/** Runs one command and says what went wrong, in words and by the exit code. */
async function main(): Promise<void> {
  let program = emptyProgram()
  try {
    program = await createProgram(process.argv.slice(2))
    await program.parseAsync()
  } catch (error) {
    process.exitCode = report(error, program)
  }
}

function report(error: unknown, program: Command): number {
  // Help and the version are printed already, also where help is what is left to say.
  if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof Error && error.name === 'AbortError') return EXIT.interrupted
  const options = program.opts<{ json?: boolean; color: boolean; pager: boolean }>()
  const cli = new Cli(options)
  const { red } = cli.out.colours
  const exitCode = error instanceof CommanderError ? EXIT.usage : exitCodeOf(error)
  const say = (text: string) => void process.stderr.write(`${text}\n`)
  const inWords = (text: string) => say(`${red('muster:')} ${clean(text)}`)
  if (error instanceof MusterError) {
    if (options.json === true) say(safeJson(error.problem ?? { code: error.code, detail: error.message }))
    else inWords(explain(error, cli.url))
  } else if (!(error instanceof Error)) {
    say(String(error))
  } else if (error.message !== '') {
    const message = error instanceof CommanderError ? explainUsage(error, program) : error.message
    // An error of the system has a code, such as EACCES. Any other one is a defect of this program, and its stack says where.
    const isExpected = error instanceof CliError || error instanceof CommanderError || 'code' in error
    if (options.json === true) say(safeJson({ detail: message }))
    else if (isExpected) inWords(message)
    else say(error.stack ?? message)
  }
  return exitCode
}

/** What commander says of a command that it did not understand, and where help is. */
function explainUsage({ message }: CommanderError, program: Command): string {
  const names = commandOf(program, process.argv.slice(2)).map((command) => command.name())
  return `${message.replace(/^error: /, '').replace(/\n\(?(.*?)\)?$/, '. $1')}${message.endsWith('?)') ? '' : '.'} See ${names.join(' ')} --help`
}

/** An error with what to do about it. */
function explain(error: MusterError, url: string): string {
  if (error.code === 'connection_failed')
    return `${url} could not be reached. Start Muster (muster up), or say where it is (--url). \`muster doctor\` looks closer.`
  if (error.code === 'unauthenticated') return `${error.message} Store a key: muster profile add <name> --url ${url}`
  // The sentence has the first of them.
  const fields = (error.problem?.errors ?? []).filter(({ reason }) => !error.message.includes(reason)).map(({ field, reason }) => `\n  ${field}: ${reason}`)
  const id = error.requestId === undefined || error.status < 500 ? '' : `\n  request ${error.requestId}`
  return `${error.message} (${error.code})${fields.join('')}${id}`
}

// What reads our output may end before it has all of it, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok)
  throw error
})

await main()

import { parseArgs } from 'node:util'
import { buildDashboard } from './system/dashboard.ts'
import { loadEnvFile, prepareEnvironment } from './system/environment.ts'
import { BrokenOffError } from './system/errors.ts'
import { formatLogLine } from './system/log-lines.ts'
import { reportFailure } from './system/report.ts'
import { shellWord } from './system/shell.ts'
import { endOnSignals } from './system/signals.ts'
import { startSystem } from './system/system.ts'

const HELP = `Usage: npm start

Starts PostgreSQL, the API and a worker, and runs until Ctrl-C. Settings are environment variables, also from a file .env;
.env.example lists all of them. The most common ones:

  PORT=7301        another port (0: any free one)
  DATA_DIR=folder  another folder for the database; with another port, a second Muster beside the first
  DATABASE_URL=…   your own PostgreSQL instead of the embedded one
  AUTH=keys        ask for API keys, also on this machine (npm run key -- create …)
`

const isColoured = process.stdout.isTTY === true && process.env.NO_COLOR === undefined

function say(line: string): void {
  console.log(formatLogLine('muster', JSON.stringify({ level: 30, time: Date.now(), msg: line }), isColoured))
}

function welcome(address: string, isOpen: boolean, dataDir: string, runner: string | undefined): string {
  const call = JSON.stringify({ task: 'Inspect packages/domain', ...(runner === undefined ? {} : { runner }) })
  const key = isOpen ? '' : ` -H "authorization: Bearer $MUSTER_KEY"`
  return `
Muster is up: ${address}

  Dashboard  ${address}
  API        the same address; reference at ${address}/docs
  Data       ${dataDir}
  Access     ${isOpen ? 'open: every program on this machine may use it, but a subtask only with its own credential (AUTH=keys asks for API keys)' : 'API keys; make one with: npm run key -- create --name me --scopes subtasks:read,subtasks:write'}

Try it${isOpen ? '' : ' (with the key in MUSTER_KEY)'}:

  curl -s ${address}/subtasks${key} -H 'content-type: application/json' -d ${shellWord(call)}

Ctrl-C ends it.
`
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help === true) return console.log(HELP)

  loadEnvFile()
  const prepared = prepareEnvironment(process.env)
  const { settings } = prepared
  const output = { log: say, onLine: (source: string, line: string) => console.log(formatLogLine(source, line, isColoured)) }
  await buildDashboard(say)
  const system = await startSystem(prepared, output, (ends) => endOnSignals(ends, say))
  const runner = 'scout' in settings.COMMAND_RUNNERS ? 'scout' : undefined
  console.log(welcome(system.address, settings.AUTH === 'open', settings.DATA_DIR, runner))
}

main().catch((error: unknown) => {
  if (error instanceof BrokenOffError) return
  reportFailure(error)
  process.exitCode = 1
})

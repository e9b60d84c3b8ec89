import { HELP, parseStorageCommand } from './storage/options.ts'
import { runStorageCommand } from './storage/run.ts'
import { withDatabase } from './system/database.ts'
import { loadEnvFile, prepareEnvironment } from './system/environment.ts'
import { reportFailure } from './system/report.ts'

async function main(): Promise<void> {
  const command = parseStorageCommand(process.argv.slice(2))
  if (command.verb === 'help') return console.log(HELP)
  loadEnvFile()
  const { settings } = prepareEnvironment(process.env)
  const log = (line: string): void => console.error(line)
  const answer = await withDatabase(settings, 'use', log, (urls) => runStorageCommand(command, settings, urls, log))
  console.log(JSON.stringify(answer, null, 2))
}

main().catch((error: unknown) => {
  reportFailure(error)
  process.exitCode = 1
})

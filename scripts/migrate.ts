import { parseArgs } from 'node:util'
import { migrateDatabase } from './migrate-database.ts'
import { withDatabase } from './system/database.ts'
import { loadEnvFile, prepareEnvironment } from './system/environment.ts'
import { reportFailure } from './system/report.ts'

const HELP = `Usage: npm run migrate

Brings the database of DATABASE_URL to this version. Creates what is missing: the database, its tables, its roles, its queues
and the login of DATABASE_URL. May run again at any time, also while Muster is running.

  DATABASE_URL          what API and worker connect with: postgres://muster:password@host:5432/muster
  MIGRATE_DATABASE_URL  the same server as a login that may create databases and roles: postgres://postgres:password@host:5432

Without either it works on the embedded PostgreSQL of DATA_DIR.
`

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help === true) return console.log(HELP)
  loadEnvFile()
  const { settings } = prepareEnvironment(process.env)
  const log = (line: string): void => console.log(line)
  await withDatabase(settings, 'migrate', log, (urls) => migrateDatabase({ ...urls, log }))
  console.log('The database is at this version.')
}

main().catch((error: unknown) => {
  reportFailure(error)
  process.exitCode = 1
})

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { DEFAULT_PROJECT_ID, isUuid } from '@muster/domain'
import { ExplainedError } from '../system/errors.ts'

export const HELP = `Usage: npm run storage -- retention [--dry-run]
       npm run storage -- export [--project <id>] [--session <id> | --agent <id>] --to <archive>
       npm run storage -- erase  [--project <id>] [--session <id> | --agent <id>] --yes
       npm run storage -- import --from <archive>

Works on the database of the running npm start, or of DATABASE_URL. Answers in JSON.

  retention   drops what is older than it is kept, as the processes do by themselves; --dry-run says what would go, and changes nothing
  export      writes everything of a project, a session or an agent to an archive; keys and other secrets are left out
  erase       deletes it for good, and says what remains and why; refused while something of it has not ended
  import      inserts the rows of an archive that are missing; needs MIGRATE_DATABASE_URL where DATABASE_URL is set

  --project <id>    default: the project that every installation has
  --to, --from      a folder, or s3://bucket/prefix with the settings ARCHIVE_…
`

/** Whose data: see `exportData`. */
export type Scope = { kind: 'project' } | { kind: 'session' | 'agent'; name: string }

/** The command line of `npm run storage`. */
export type StorageCommand =
  | { verb: 'help' }
  | { verb: 'retention'; isDryRun: boolean }
  | { verb: 'export'; project: string; scope: Scope; to: string }
  | { verb: 'erase'; project: string; scope: Scope }
  | { verb: 'import'; from: string }

/**
 * Reads the command line.
 *
 * @throws ExplainedError that names what is missing or wrong
 */
export function parseStorageCommand(argv: string[]): StorageCommand {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      'dry-run': { type: 'boolean' },
      project: { type: 'string' },
      session: { type: 'string' },
      agent: { type: 'string' },
      to: { type: 'string' },
      from: { type: 'string' },
      yes: { type: 'boolean' },
    },
  })
  const [verb, ...rest] = positionals
  if (values.help === true || verb === undefined) return { verb: 'help' }
  if (rest.length > 0) throw wrong(`${rest.join(' ')} is too much for ${verb}`)
  const project = values.project ?? DEFAULT_PROJECT_ID
  if (!isUuid(project)) throw wrong(`--project is the id of a project, and ${project} is none`)
  switch (verb) {
    case 'retention':
      return { verb, isDryRun: values['dry-run'] === true }
    case 'export':
      return { verb, project, scope: scopeOf(values), to: place('--to', values.to) }
    case 'erase':
      if (values.yes !== true) throw wrong('erase deletes for good: export first if in doubt, then say --yes')
      return { verb, project, scope: scopeOf(values) }
    case 'import':
      return { verb, from: place('--from', values.from) }
    default:
      throw wrong(`there is no ${verb}; it is retention, export, erase or import`)
  }
}

function scopeOf({ session, agent }: { session?: string | undefined; agent?: string | undefined }): Scope {
  if (session !== undefined && agent !== undefined) throw wrong('--session and --agent exclude each other')
  if (session !== undefined) return { kind: 'session', name: session }
  return agent === undefined ? { kind: 'project' } : { kind: 'agent', name: agent }
}

function place(option: string, given: string | undefined): string {
  if (given === undefined || given.trim() === '') throw wrong(`${option} is missing`)
  return given.startsWith('s3://') || given.startsWith('file://') ? given : resolve(given)
}

function wrong(problem: string): ExplainedError {
  return new ExplainedError(`${problem[0]?.toUpperCase()}${problem.slice(1)}. How it goes: npm run storage -- --help`)
}

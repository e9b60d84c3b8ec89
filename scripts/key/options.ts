import { parseArgs } from 'node:util'
import { isUuid, SCOPES } from '@muster/domain'
import { ExplainedError } from '../system/errors.ts'

export const HELP = `Usage: npm run key -- create --name <name> --scopes <scope,scope> [options]
       npm run key -- list [--project <id>]
       npm run key -- revoke <id> [--project <id>]

Creates, lists and revokes API keys, in the database of the running npm start, or of DATABASE_URL. A key is printed once, when
it is created; only its hash is stored.

  --name <name>            what the key is for
  --scopes <scope,scope>   what it may do: ${SCOPES.slice(0, 3).join(', ')}, … or admin for everything
  --project <id>           the project it opens; default: the project that every installation has
  --new-project <name>     create a project first, and the key for it
  --agent <id>             every call with the key counts as this agent's
  --expires <when>         30d, 12h, or a date such as 2027-01-31; default: never

Scopes: ${SCOPES.join(', ')}

To keep the key in a variable: KEY=$(npm run --silent key -- create --name ci --scopes subtasks:write)
`

/** The command line of `npm run key`. */
export type KeyCommand =
  | { verb: 'help' }
  | { verb: 'create'; name: string; scopes: string[]; project?: string; newProject?: string; agentId?: string; expiresAt?: Date }
  | { verb: 'list'; project?: string }
  | { verb: 'revoke'; id: string; project?: string }

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/**
 * Reads the command line.
 *
 * @throws ExplainedError that names what is missing or wrong
 */
export function parseKeyCommand(argv: string[], now: Date): KeyCommand {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      name: { type: 'string' },
      scopes: { type: 'string' },
      project: { type: 'string' },
      'new-project': { type: 'string' },
      agent: { type: 'string' },
      expires: { type: 'string' },
    },
  })
  const [verb, ...rest] = positionals
  if (values.help === true || verb === undefined) return { verb: 'help' }
  const project = values.project
  if (project !== undefined && !isUuid(project)) throw wrong(`--project is the id of a project, and ${project} is none`)
  const inProject = project === undefined ? {} : { project }
  if (rest.length > (verb === 'revoke' ? 1 : 0)) throw wrong(`${rest.join(' ')} is too much for ${verb}`)
  switch (verb) {
    case 'create': {
      const newProject = values['new-project']
      if (newProject !== undefined && project !== undefined) throw wrong('--project and --new-project exclude each other')
      return {
        verb,
        ...inProject,
        ...(newProject === undefined ? {} : { newProject: text('--new-project', newProject) }),
        name: text('--name', values.name),
        scopes: text('--scopes', values.scopes)
          .split(',')
          .map((scope) => scope.trim())
          .filter((scope) => scope !== ''),
        ...(values.agent === undefined ? {} : { agentId: text('--agent', values.agent) }),
        ...(values.expires === undefined ? {} : { expiresAt: parseExpiry(values.expires, now) }),
      }
    }
    case 'list':
      return { verb, ...inProject }
    case 'revoke': {
      const id = rest[0]
      if (id === undefined || !isUuid(id)) throw wrong('revoke needs the id of a key, as list shows it')
      return { verb, id, ...inProject }
    }
    default:
      throw wrong(`there is no ${verb}; it is create, list or revoke`)
  }
}

/** A time in the future, given as a span from now or as a date. */
function parseExpiry(given: string, now: Date): Date {
  const span = /^(\d{1,5})([mhdw])$/.exec(given)
  const at = span === null ? new Date(given) : new Date(now.getTime() + Number(span[1]) * UNIT_MS[span[2] as keyof typeof UNIT_MS])
  if (Number.isNaN(at.getTime())) throw wrong(`--expires is a span such as 30d or a date such as 2027-01-31, and ${given} is neither`)
  if (at <= now) throw wrong(`--expires ${given} is over already`)
  return at
}

function text(option: string, given: string | undefined): string {
  const trimmed = given?.trim() ?? ''
  if (trimmed === '') throw wrong(`${option} is missing`)
  return trimmed
}

function wrong(problem: string): ExplainedError {
  return new ExplainedError(`${problem[0]?.toUpperCase()}${problem.slice(1)}. How it goes: npm run key -- --help`)
}

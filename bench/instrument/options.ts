import { parseArgs } from 'node:util'
import type { Figure } from './figure.ts'

export interface Options {
  figures: Figure[]
  runs: number
  isQuick: boolean
  withPeers: boolean
  /** Fail when a goal is missed, not only when something could not be measured. */
  isStrict: boolean
  json: string | undefined
  profile: string | undefined
}

/** What `--help` prints. */
export function helpText(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map((figure) => figure.name.length))
  return `Usage: pnpm bench [<figure> …] [options]

Measures Muster and its peers in turn, on one durable PostgreSQL, and prints a table. Without figures: all of them.

${figures.map((figure) => `  ${figure.name.padEnd(width)}  ${figure.title}`).join('\n')}

  --quick           small sizes, one run, only the peers that goals name: under two minutes for all figures
  --runs <n>        repetitions, of which the table shows medians (3; with --quick 1)
  --only <figures>  the same as naming them, separated by commas
  --ours            leave the peers out: while something is being changed, not for comparing
  --json <file>     also write machine, versions and the values of all runs
  --strict          exit with 1 when a goal is missed; otherwise the exit code only says whether all could be measured
  --profile <dir>   leave CPU profiles of all processes, the statements that took longest and the plans of slow ones; slows everything down
  --help

An embedded PostgreSQL with the settings of npm start is used, in a temporary folder. Another one: MIGRATE_DATABASE_URL or DATABASE_URL,
as a superuser; databases are created there and removed at the end.`
}

/**
 * Reads the command line; null when help is asked for.
 *
 * @throws Error with what is wrong, for whoever typed it
 */
export function readOptions(argv: string[], figures: readonly Figure[]): Options | null {
  const { values, positionals } = parseArgs({
    args: argv.filter((each) => each !== '--'),
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      runs: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'string' },
      ours: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      profile: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const names = [...positionals, ...(values.only?.split(',') ?? [])].map((name) => name.trim()).filter((name) => name !== '')
  const unknown = names.filter((name) => figures.every((figure) => figure.name !== name))
  if (unknown.length > 0) throw new Error(`There is no figure ${unknown.join(', ')}. There are: ${figures.map((figure) => figure.name).join(', ')}.`)
  const runs = Number(values.runs ?? (values.quick ? 1 : 3))
  if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs takes a number from 1 on.')
  return {
    figures: names.length === 0 ? [...figures] : figures.filter((figure) => names.includes(figure.name)),
    runs,
    isQuick: values.quick,
    withPeers: !values.ours,
    isStrict: values.strict,
    json: values.json,
    profile: values.profile,
  }
}

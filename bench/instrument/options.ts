import { parseArgs } from 'node:util'
import type { Figure } from './figure.ts'

export interface Options {
  figures: Figure[]
  runs: number
  isQuick: boolean
  withPeers: boolean
  /** How long a page is watched for its memory. */
  minutes: number
  /** The part of the full sizes of `growth`: 1 is ten million stored subtasks. */
  share: number
  axes: readonly string[] | undefined
  plots: string | undefined
  /** Fail when a goal is missed, not only when something could not be measured. */
  isStrict: boolean
  /** Where machine, versions and the values of all runs are written; undefined for the default file. */
  json: string | undefined
  profile: string | undefined
}

export type Command = { kind: 'help' } | { kind: 'measure'; options: Options } | { kind: 'table'; files: string[] }

/** What `--help` prints. */
export function helpText(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map((figure) => figure.name.length))
  return `Usage: pnpm bench [<figure> …] [options]
       pnpm bench --table <file> …

Measures Muster and its peers in turn, on one durable PostgreSQL, and prints a table. Without figures: all of them.

${figures.map((figure) => `  ${figure.name.padEnd(width)}  ${figure.title}`).join('\n')}

  --quick           small sizes, one run, only the peers that goals name: under two minutes for all figures. No goal is judged, since goals are
                    promises about full sizes
  --runs <n>        repetitions, of which the table shows medians (3; with --quick 1)
  --only <figures>  the same as naming them, separated by commas
  --minutes <n>     how long \`dashboard\` watches the memory of a page (2; with --quick 0.2). Its goal is about 30
  --share <part>    how far \`growth\` goes: 1 is ten million stored subtasks (1; with --quick 0.01)
  --axes <names>    only these of \`growth\`: stored, agents, projects, waiting, notes, workers, followers
  --plots <dir>     where \`growth\` draws its curves as SVG (bench/results/growth)
  --ours            leave the peers out: while something is being changed, not for comparing
  --json <file>     write machine, versions, medians and the values of all runs there instead of to bench/results/last.json
  --table <file> …  measure nothing, and print one table of what --json has written, one figure after the other
  --strict          exit with 1 when a goal is missed; otherwise the exit code only says whether all could be measured. Not with --quick
  --profile <dir>   leave CPU profiles of all processes, the statements that took longest and the plans of slow ones; slows everything down
  --help

An embedded PostgreSQL with the settings of npm start is used, in a temporary folder. Another one: MIGRATE_DATABASE_URL or DATABASE_URL,
as a superuser; databases are created there and removed at the end.`
}

/**
 * Reads the command line.
 *
 * @throws Error that says what is wrong with the options
 */
export function readCommand(argv: string[], figures: readonly Figure[]): Command {
  const { values, positionals } = parseArgs({
    args: argv.filter((each) => each !== '--'),
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      runs: { type: 'string' },
      minutes: { type: 'string' },
      share: { type: 'string' },
      axes: { type: 'string' },
      plots: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'string' },
      table: { type: 'boolean', default: false },
      ours: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      profile: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return { kind: 'help' }
  if (values.table) {
    if (positionals.length === 0) throw new Error('--table takes the files that --json has written.')
    return { kind: 'table', files: positionals }
  }
  if (values.quick && values.strict) throw new Error('--strict judges goals, which are promises about full sizes: it cannot be had with --quick.')
  const names = [...positionals, ...(values.only?.split(',') ?? [])].map((name) => name.trim()).filter((name) => name !== '')
  const unknown = names.filter((name) => figures.every((figure) => figure.name !== name))
  if (unknown.length > 0) throw new Error(`There is no figure ${unknown.join(', ')}. There are: ${figures.map((figure) => figure.name).join(', ')}.`)
  const runs = Number(values.runs ?? (values.quick ? 1 : 3))
  if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs takes a number from 1 on.')
  const minutes = Number(values.minutes ?? (values.quick ? 0.2 : 2))
  if (!(minutes > 0)) throw new Error('--minutes takes a number above 0.')
  const share = Number(values.share ?? (values.quick ? 0.01 : 1))
  if (!(share > 0 && share <= 1)) throw new Error('--share takes a part of the full sizes, above 0 and up to 1.')
  const options: Options = {
    figures: names.length === 0 ? figures.filter(({ isApart }) => isApart !== true) : figures.filter((figure) => names.includes(figure.name)),
    runs,
    isQuick: values.quick,
    withPeers: !values.ours,
    minutes,
    share,
    axes: values.axes?.split(',').map((name) => name.trim()),
    plots: values.plots,
    isStrict: values.strict,
    json: values.json,
    profile: values.profile,
  }
  return { kind: 'measure', options }
}

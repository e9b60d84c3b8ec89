import { parseArgs } from 'node:util'

export const HELP = `Usage: pnpm chaos [options]

Starts a PostgreSQL of its own, API and worker processes, puts load on them, breaks them by a schedule that the seed decides,
and checks afterwards that every promise was kept. Ends with 1 if one was not.

  --minutes N    how long the load and the faults last (1)
  --seed N       repeats the choices of an earlier run; printed at the start of every run (random)
  --workers N    worker processes (3, or 8 with --machines)
  --apis N       API processes (2)
  --rate N       subtasks a second that are asked for, at most (8)
  --steady       no faults; fails when memory, connections or tables grow beyond what the load explains
  --machines     each process as if on a machine of its own: delay, loss and partitions on its way to the database, a clock of its own
  --only A,B     only these kinds of faults
  --report PATH  writes PATH.json and PATH.md
  --keep         keeps the folder with the logs and the database's files, also when all is well
  --help         prints this
`

export interface Options {
  minutes: number
  seed: number
  workers: number
  apis: number
  rate: number
  steady: boolean
  machines: boolean
  only: string[]
  report: string | undefined
  keep: boolean
}

/** @throws Error one sentence about what is wrong with the command line */
export function readOptions(argv: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: argv.filter((argument) => argument !== '--'),
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string' },
      workers: { type: 'string' },
      apis: { type: 'string', default: '2' },
      rate: { type: 'string', default: '8' },
      steady: { type: 'boolean', default: false },
      machines: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      report: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  return {
    minutes: positive('minutes', values.minutes),
    seed: values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : whole('seed', values.seed, 0),
    workers: whole('workers', values.workers ?? (values.machines ? '8' : '3'), 1),
    apis: whole('apis', values.apis, 1),
    rate: positive('rate', values.rate),
    steady: values.steady,
    machines: values.machines,
    only: values.only.split(',').filter((kind) => kind !== ''),
    report: values.report,
    keep: values.keep,
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not ${text}.`)
  return value
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < least) throw new Error(`--${name} must be a whole number of at least ${least}, not ${text}.`)
  return value
}

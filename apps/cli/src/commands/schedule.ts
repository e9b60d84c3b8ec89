import { type BodyOf, MusterError, type PhraseCandidate, type Schedule, type SchedulePreview, type ScheduleRun } from '@muster/client'
import type { Command } from 'commander'
import { Cli, wholeNumber } from '../cli.ts'
import { CliError, EXIT, usageError } from '../exit-codes.ts'
import type { Column, Output } from '../output/output.ts'
import { oneLine, relativeTime } from '../output/text.ts'

const COLUMNS: Column<Schedule>[] = [
  ['ID', ({ id }) => id],
  ['STATE', ({ state }) => state],
  ['NEXT', ({ next_fire_at }) => relativeTime(next_fire_at)],
  ['FIRED', ({ fire_count }) => fire_count],
  ['WHEN', ({ phrase }) => phrase],
  ['TASK', ({ task }) => task],
]

const RUN_COLUMNS: Column<ScheduleRun>[] = [
  ['SLOT', ({ slot }) => slot],
  ['OUTCOME', ({ outcome, manual }) => (manual ? `${outcome}, by hand` : outcome)],
  ['SUBTASK', ({ subtask_id }) => subtask_id],
]

interface NewScheduleOptions {
  timezone?: string
  agent?: string
  runner?: string
  subagent?: string
  times?: number
  session?: string
  dryRun?: boolean
  yes?: boolean
}

export function addSchedule(program: Command): void {
  const schedule = program
    .command('schedule [phrase] [task...]')
    .description('start a subtask at times given in words: muster schedule "weekdays at 9 ET" "Summarise the pull requests"')
    .option('--timezone <zone>', 'for times without one, such as Europe/Berlin (default: that of this machine)')
    .option('--agent <id>')
    .option('--runner <name>')
    .option('--subagent <name>')
    .option('--times <count>', 'end after so many firings', wholeNumber('--times', 1, 1_000_000))
    .option('--session <id>', 'the session whose inbox gets the results; without one they go where the project says')
    .option('--dry-run', 'only say how the phrase is read')
    .option('-y, --yes', 'create it without asking')
    .action(async (phrase: string | undefined, task: string[], options: NewScheduleOptions, command: Command) => {
      if (phrase === undefined || (task.length === 0 && options.dryRun !== true))
        throw usageError('Give the time and the task: muster schedule "every day at 8" "…". muster schedule --help lists the other commands.')
      await create(Cli.of(command), phrase, task.join(' '), options)
    })
  schedule
    .command('ls')
    .description('list schedules')
    .option('--all', 'also those that have ended')
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1, 10_000), 50)
    .action(async ({ all, limit }: { all?: boolean; limit: number }, command: Command) => {
      const cli = Cli.of(command)
      const query = { ...(all === true ? { active: 'all' as const } : {}), limit: Math.min(limit, 100) }
      await cli.out.rows(await cli.muster().schedules.list(query).all(limit), COLUMNS, 'No schedules.')
    })
  schedule
    .command('show <id>')
    .description('show a schedule and its next firings')
    .action(async (id: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const found = await cli.muster().schedules.get(id)
      await cli.out.result(found, () => describe(cli.out, found))
    })
  schedule
    .command('runs <id>')
    .description('list the slots, each with its outcome')
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1, 10_000), 50)
    .action(async (id: string, { limit }: { limit: number }, command: Command) => {
      const cli = Cli.of(command)
      await cli.out.rows(await cli.muster().schedules.runs(id).all(limit), RUN_COLUMNS, 'It has not fired yet.')
    })
  const act = (name: 'pause' | 'resume' | 'rm', description: string, method: 'pause' | 'resume' | 'deactivate') =>
    schedule
      .command(`${name} <id>`)
      .description(description)
      .action(async (id: string, _options: unknown, command: Command) => {
        const cli = Cli.of(command)
        const changed = await cli.muster().schedules[method](id)
        await cli.out.result(changed ?? { id }, () => (changed === undefined ? `${id}  deactivated` : `${id}  ${cli.out.status(changed.state)}`))
      })
  act('pause', 'fire no more until it is resumed', 'pause')
  act('resume', 'fire again', 'resume')
  act('rm', 'end a schedule for good', 'deactivate')
  schedule
    .command('trigger <id>')
    .description('start its subtask now, beside the slots')
    .action(async (id: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const subtask = await cli.muster().schedules.trigger(id)
      await cli.out.result(subtask, () => `${subtask.id}  ${cli.out.status(subtask.status)}`)
      if (cli.out.isTerminal) cli.out.note(`Watch it: muster follow ${subtask.id}`)
    })
}

/** Shows how the phrase is read, asks, and creates. */
async function create(cli: Cli, phrase: string, task: string, options: NewScheduleOptions): Promise<void> {
  const muster = cli.muster()
  const timezone = options.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  const { rule, preview: read } = await readPhrase(cli, phrase, timezone)
  // The zone of this machine is a default here: that it is not used is no warning.
  const preview = options.timezone === undefined ? { ...read, warnings: read.warnings.filter(({ code }) => code !== 'zone_conflict') } : read
  if (options.dryRun === true) return await cli.out.result(preview, () => describePreview(cli.out, preview))
  cli.out.note(describePreview(cli.out, preview), (text) => text)
  if (options.yes !== true && !(await cli.confirm('Create it?', 'give --yes.'))) throw new CliError('Nothing was created.', EXIT.interrupted)
  const body: BodyOf<'createSchedule'> = {
    task,
    ...rule,
    timezone,
    ...(options.session === undefined ? {} : { parent_session_id: options.session }),
    ...(options.agent === undefined ? {} : { agent_id: options.agent }),
    ...(options.runner === undefined ? {} : { runner: options.runner }),
    ...(options.subagent === undefined ? {} : { subagent: options.subagent }),
    ...(options.times === undefined ? {} : { max_fires: options.times }),
  }
  const created = await muster.schedules.create(body)
  await cli.out.result(created, () => `${created.id}  next ${relativeTime(created.next_fire_at)}`)
}

type Rule = { when: string } | { every: string } | { cron: string }

const CRON = /^(@\w+|(\S+\s+){4}\S+)$/

/** A phrase as a rule: five fields are cron, a single time is `when`, what comes again is `every`. On a terminal the user chooses where it could mean several things. */
async function readPhrase(cli: Cli, phrase: string, timezone: string): Promise<{ rule: Rule; preview: SchedulePreview }> {
  const preview = async (rule: Rule) => ({ rule, preview: await cli.muster().schedules.preview({ ...rule, timezone }) })
  const orChosen = async (error: unknown, toRule: (chosen: string) => Rule) => {
    const candidates = MusterError.is(error) ? error.problem?.candidates : undefined
    if (candidates === undefined || candidates.length === 0) throw error
    return await preview(toRule(await choose(cli, candidates, error as MusterError)))
  }
  if (CRON.test(phrase.trim()) && /^[@\d*]/.test(phrase.trim())) return await preview({ cron: phrase.trim() })
  try {
    return await preview({ when: phrase })
  } catch (single) {
    if (!MusterError.is(single, 'schedule_unparseable')) return await orChosen(single, (when) => ({ when }))
    try {
      return await preview({ every: phrase })
    } catch (recurring) {
      // Of a phrase that neither takes, the first error lists what can be written.
      if (MusterError.is(recurring, 'schedule_unparseable')) throw single
      return await orChosen(recurring, (every) => ({ every }))
    }
  }
}

async function choose(cli: Cli, candidates: readonly PhraseCandidate[], error: MusterError): Promise<string> {
  if (!cli.canAsk) {
    const lines = candidates.map(({ phrase, reading }) => `\n  "${phrase}": ${reading}`).join('')
    throw usageError(`${error.message} Write one of these:${lines}`)
  }
  const { isCancel, select } = await import('@clack/prompts')
  const answer = await select({
    message: oneLine(error.message),
    options: candidates.map(({ phrase, reading, next_fire_at }) => ({ value: phrase, label: oneLine(reading), hint: relativeTime(next_fire_at) })),
    output: process.stderr,
  })
  if (isCancel(answer)) throw new CliError('Nothing was created.', EXIT.interrupted)
  return answer
}

function describePreview(out: Output, { reading, timezone, upcoming, warnings }: SchedulePreview): string {
  const times = upcoming.slice(0, 5).map((at) => `  ${inZone(at, timezone)}  ${out.colours.dim(relativeTime(at))}`)
  return [out.heading(oneLine(reading)), ...times, ...warnings.map(({ message }) => out.colours.yellow(oneLine(message)))].join('\n')
}

function describe(out: Output, schedule: Schedule): string {
  return `${out.fields([
    ['Schedule', schedule.id],
    ['State', schedule.state],
    ['Task', schedule.task],
    ['Runner', schedule.runner],
    ['Sub-agent', schedule.subagent],
    ['Fired', schedule.fire_count === 0 ? 'never' : `${schedule.fire_count} times, last ${relativeTime(schedule.last_fired_at)}`],
  ])}\n\n${describePreview(out, schedule)}`
}

function inZone(at: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(new Date(at))
}

import { readFile } from 'node:fs/promises'
import type { BodyOf, TaskStatus, TaskSummary } from '@muster/client'
import type { Command } from 'commander'
import { Cli, readInput, repeated, wholeNumber } from '../cli.ts'
import { CliError, usageError } from '../exit-codes.ts'
import type { Column } from '../output/output.ts'
import { oneLine, relativeTime } from '../output/text.ts'
import { readMarkdownBrief } from './brief-file.ts'
import { editTask } from './task-edit.ts'
import { describeDiff, describeTask } from './task-text.ts'

const COLUMNS: Column<TaskSummary>[] = [
  ['ID', ({ id }) => id],
  ['STATUS', ({ status }) => status],
  ['PRIORITY', ({ priority }) => priority],
  ['ASSIGNED', ({ subagent_session_id }) => subagent_session_id],
  ['UPDATED', ({ updated_at }) => relativeTime(updated_at)],
  ['TITLE', ({ title }) => title],
]

export function addTasks(program: Command): void {
  const task = program.command('task').description('tasks: briefs with revisions, and who works on them')
  addReading(task)
  addWriting(task)
  addWork(task)
}

function addReading(task: Command): void {
  task
    .command('ls')
    .description('list tasks, newest first')
    .option('--status <status>', 'pending, in_progress, in_review, completed …')
    .option('--search <words>', 'only those with these words')
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1, 10_000), 20)
    .action(async ({ status, search, limit }: { status?: string; search?: string; limit: number }, command: Command) => {
      const cli = Cli.of(command)
      const query = {
        ...(status === undefined ? {} : { status: status as TaskStatus }),
        ...(search === undefined ? {} : { q: search }),
        limit: Math.min(limit, 100),
      }
      await cli.out.rows(await cli.muster().tasks.list(query).all(limit), COLUMNS, 'No tasks. Write one: muster task new brief.md')
    })
  task
    .command('show <id>')
    .description('show a task')
    .action(async (id: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const found = await cli.muster().tasks.get(id)
      await cli.out.result(found, () => describeTask(cli.out, found))
    })
  task
    .command('diff <id> [revision]')
    .description('what the last revision changed, or another one')
    .action(async (id: string, revision: string | undefined, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const wanted = revision === undefined ? undefined : wholeNumber('revision', 1, 1_000_000)(revision)
      const revisions = await cli.muster().tasks.revisions(id).all()
      const newest = Math.max(...revisions.map((each) => each.revision))
      const found = revisions.find((each) => each.revision === (wanted ?? newest))
      if (found === undefined) throw usageError(`The task has revisions 1 to ${newest}.`)
      await cli.out.result(found, () =>
        found.diff === null ? `Revision ${found.revision} is the first: it changed nothing.` : describeDiff(cli.out, found.diff),
      )
    })
}

interface NewOptions {
  title?: string
  instructions?: string
  criterion?: string[]
  output?: string[]
  review?: string
  dryRun?: boolean
}

function addWriting(task: Command): void {
  task
    .command('new [file]')
    .description('create a task from a brief in Markdown, a request in JSON, - for standard input, or from options')
    .option('--title <text>')
    .option('--instructions <text>')
    .option('--criterion <text>', 'what must hold; may be repeated', repeated)
    .option('--output <name>', 'what must be delivered; may be repeated', repeated)
    .option('--review <mode>', 'none, auto or manual')
    .option('--dry-run', 'say what Muster makes of it, and create nothing')
    .addHelpText(
      'after',
      '\nIn Markdown the first heading is the title; lists below the headings "Acceptance criteria" and "Required outputs" (- name: description) are those fields.',
    )
    .action(async (file: string | undefined, options: NewOptions, command: Command) => {
      const cli = Cli.of(command)
      const body = await toBrief(file, options, cli.session)
      const muster = cli.muster()
      if (options.dryRun === true) {
        const seen = await muster.tasks.validate(body)
        const { warnings } = seen
        return await cli.out.result(seen, () =>
          warnings.length === 0 ? 'A good brief: no warnings.' : warnings.map(({ field, message }) => `${field}: ${oneLine(message)}`).join('\n'),
        )
      }
      const created = await muster.tasks.create(body)
      for (const { field, message } of created.validation.warnings) cli.out.note(`${field}: ${oneLine(message)}`, cli.out.colours.yellow)
      await cli.out.result(created, () => `${created.id}  ${cli.out.status(created.status)}`)
    })
  task
    .command('edit <id>')
    .description('change a brief in your editor (EDITOR); shows the difference before it is sent')
    .option('-y, --yes', 'send it without asking')
    .action(async (id: string, { yes }: { yes?: boolean }, command: Command) => await editTask(Cli.of(command), id, yes === true))
  task
    .command('note <id> <words...>')
    .description('send a note to the assignee')
    .action(async (id: string, words: string[], _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const update = await cli.muster().tasks.note(id, words.join(' '))
      await cli.out.result(update, () => `${update.id}  ${cli.out.status(update.status)}`)
    })
}

interface DispatchOptions {
  runner?: string
  agent?: string
  subagent?: string
  model?: string
}

function addWork(task: Command): void {
  task
    .command('assign <id> <session>')
    .description('give a task to a session')
    .action(async (id: string, session: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const assigned = await cli.muster().tasks.assign(id, { subagent_session_id: session })
      await cli.out.result(assigned, () => `${id}  assigned to ${oneLine(session)}`)
    })
  task
    .command('dispatch <id>')
    .description('run a task as a subtask')
    .option('--runner <name>')
    .option('--agent <id>')
    .option('--subagent <name>')
    .option('--model <name>')
    .action(async (id: string, { agent, ...options }: DispatchOptions, command: Command) => {
      const cli = Cli.of(command)
      const subtask = await cli.muster().tasks.dispatch(id, { ...options, ...(agent === undefined ? {} : { agent_id: agent }) })
      await cli.out.result(subtask, () => `${subtask.id}  ${cli.out.status(subtask.status)}`)
      if (cli.out.isTerminal) cli.out.note(`Watch it: muster follow ${subtask.id}`)
    })
  task
    .command('complete <id>')
    .description('hand in the outputs of a task')
    .option('--output <name=value>', 'an output; name=@file reads a file; may be repeated', repeated)
    .option('--summary <text>')
    .action(async (id: string, { output = [], summary }: { output?: string[]; summary?: string }, command: Command) => {
      const cli = Cli.of(command)
      const outputs = Object.fromEntries(await Promise.all(output.map(readOutput)))
      const done = await cli.muster().tasks.complete(id, { outputs, ...(summary === undefined ? {} : { summary }) })
      const { status } = 'task' in done ? (done.task as { status: string }) : (done as { status: string })
      await cli.out.result(done, () => `${id}  ${cli.out.status(status)}`)
    })
  task
    .command('review <id> <decision>')
    .description('approve what was handed in, or ask for a revision: approve or request_revision')
    .option('--note <text>', 'what to change, or why it is good')
    .action(async (id: string, decision: string, { note }: { note?: string }, command: Command) => {
      const cli = Cli.of(command)
      if (decision !== 'approve' && decision !== 'request_revision') throw usageError(`Decide approve or request_revision, not ${decision}.`)
      const reviewed = await cli.muster().tasks.review(id, { decision, ...(note === undefined ? {} : { note }) })
      await cli.out.result(reviewed, () => `${id}  ${cli.out.status(reviewed.status)}`)
    })
  task
    .command('cancel <id>')
    .description('cancel a task')
    .option('--reason <text>')
    .action(async (id: string, { reason }: { reason?: string }, command: Command) => {
      const cli = Cli.of(command)
      const cancelled = await cli.muster().tasks.cancel(id, { reason: reason ?? 'Cancelled on the command line.' })
      await cli.out.result(cancelled, () => `${id}  ${cli.out.status(cancelled.status)}`)
    })
}

async function readOutput(text: string): Promise<[string, string]> {
  const at = text.indexOf('=')
  if (at < 1) throw usageError(`--output ${text}: write name=value, or name=@file.`)
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  return [name, value.startsWith('@') ? await readTextFile(value.slice(1)) : value]
}

async function toBrief(file: string | undefined, options: NewOptions, session: string): Promise<BodyOf<'createTask'>> {
  const { title, instructions, criterion, output, review } = options
  const given = {
    ...(title === undefined ? {} : { title }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(criterion === undefined ? {} : { acceptance_criteria: criterion }),
    ...(output === undefined ? {} : { required_outputs: output }),
    ...(review === undefined ? {} : { review: review as 'none' }),
  }
  if (file === undefined) {
    if (title === undefined || instructions === undefined) throw usageError('Give a file with the brief, or --title and --instructions.')
    return { parent_session_id: session, ...given }
  }
  const text = file === '-' ? await readInput() : await readTextFile(file)
  if (!text.trimStart().startsWith('{')) return { parent_session_id: session, ...readMarkdownBrief(text), ...given }
  try {
    return { parent_session_id: session, ...(JSON.parse(text) as BodyOf<'createTask'>), ...given }
  } catch (error) {
    throw usageError(`${file} begins like JSON and is none: ${(error as Error).message}`)
  }
}

async function readTextFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

import { type Muster, MusterError, type Subtask, type SubtaskStatus, type Update } from '@muster/client'
import type { Command } from 'commander'
import { Cli, wholeNumber } from '../cli.ts'
import { CliError, EXIT, exitCodeOf } from '../exit-codes.ts'
import type { Column, Output } from '../output/output.ts'
import { clean, duration, oneLine, relativeTime, textOf } from '../output/text.ts'
import { describeTask } from './task-text.ts'

interface ListOptions {
  status?: string
  session?: string
  agent?: string
  limit: number
}

const COLUMNS: Column<Subtask>[] = [
  ['ID', ({ id }) => id],
  ['STATUS', ({ status }) => status],
  ['AGENT', ({ agent_id }) => agent_id],
  ['SINCE', ({ started_at, created_at, completed_at }) => relativeTime(completed_at ?? started_at ?? created_at)],
  ['TOOK', ({ duration_ms }) => duration(duration_ms)],
  ['TASK', ({ task }) => task],
]

export function addSubtasks(program: Command): void {
  program
    .command('ls')
    .description('list subtasks, newest first')
    .option('--status <status>', 'pending, running, waiting, completed, failed or cancelled')
    .option('--session <id>', 'only those that this session asked for')
    .option('--agent <id>', 'only those of this agent')
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1, 100_000), 20)
    .action(async ({ limit, session, agent, status }: ListOptions, command: Command) => {
      const cli = Cli.of(command)
      const query = {
        ...(status === undefined ? {} : { status: status as SubtaskStatus }),
        ...(session === undefined ? {} : { parent_session_id: session }),
        ...(agent === undefined ? {} : { agent_id: agent }),
        limit: Math.min(limit, 100),
      }
      await cli.out.rows(await cli.muster().subtasks.list(query).all(limit), COLUMNS, 'No subtasks. Start one: muster spawn <task>')
    })
  program
    .command('show <id>')
    .description('show a subtask or a task, with its result')
    .option('--updates', 'also the updates that were sent to it, with their receipts')
    .option('--result', 'only the whole result, as it is')
    .action(async (id: string, { updates, result }: { updates?: boolean; result?: boolean }, command: Command) => {
      const cli = Cli.of(command)
      await (result === true ? showResult(cli, id) : show(cli, id, updates === true))
    })
  program
    .command('steer <id> <words...>')
    .description('send a message to a run')
    .option('--interrupt', 'stop what it is doing, instead of waiting for its next step')
    .action(async (id: string, words: string[], { interrupt }: { interrupt?: boolean }, command: Command) => {
      const cli = Cli.of(command)
      const update = await cli.muster().subtasks.steer(id, { content: words.join(' '), ...(interrupt === true ? { delivery: 'interrupt' as const } : {}) })
      if (interrupt === true && update.delivery !== 'interrupt') cli.out.note('Its runner cannot be interrupted: it gets this with its next step.')
      await cli.out.result(update, () => `${update.id}  ${cli.out.status(update.status)}`)
    })
  program
    .command('cancel <id...>')
    .description('ask for the end of subtasks')
    .action(async (ids: string[], _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const muster = cli.muster()
      let failure: unknown
      for (const id of ids) {
        // One that cannot be cancelled does not keep the others.
        const subtask = await muster.subtasks.cancel(id).catch((error: unknown) => {
          if (!MusterError.is(error) || ids.length === 1 || exitCodeOf(error) === EXIT.unreachable) throw error
          cli.out.note(`${id}  ${oneLine(error.message)}`, cli.out.colours.red)
          failure = error
        })
        if (subtask === undefined) continue
        cli.out.line(
          subtask,
          () => `${id}  ${subtask.status === 'cancelled' ? cli.out.status('cancelled') : `${cli.out.status(subtask.status)}, its worker is asked to stop`}`,
        )
      }
      if (failure !== undefined) throw new CliError('Not all of them were cancelled.', exitCodeOf(failure))
    })
}

async function show(cli: Cli, id: string, withUpdates: boolean): Promise<void> {
  const muster = cli.muster()
  const found = await findWork(muster, id)
  const updates = withUpdates ? await (found.kind === 'subtask' ? muster.subtasks.updates(id) : muster.tasks.updates(id)).all() : []
  const value = found.kind === 'subtask' ? found.subtask : found.task
  await cli.out.result(withUpdates ? { ...value, updates } : value, () => {
    const text = found.kind === 'subtask' ? describeSubtask(cli.out, found.subtask) : describeTask(cli.out, found.task)
    return updates.length === 0 ? text : `${text}\n\n${cli.out.heading('Updates')}\n${cli.out.table(updates, UPDATE_COLUMNS)}`
  })
}

/** The result, however long, as the agent wrote it where it goes into a file, and without control characters on a terminal. */
async function showResult(cli: Cli, id: string): Promise<void> {
  const muster = cli.muster()
  const { kind } = await findWork(muster, id)
  const { full_output: text, ...rest } = await (kind === 'subtask' ? muster.subtasks.payload(id) : muster.tasks.payload(id))
  await cli.out.result({ ...rest, full_output: text }, () => (cli.out.isTerminal ? clean(text) : text))
}

/** A subtask or a task: their ids look the same. @throws MusterError `not_found` */
async function findWork(muster: Muster, id: string) {
  try {
    return { kind: 'subtask' as const, subtask: await muster.subtasks.get(id) }
  } catch (error) {
    if (!MusterError.is(error, 'not_found')) throw error
  }
  try {
    return { kind: 'task' as const, task: await muster.tasks.get(id) }
  } catch (error) {
    if (!MusterError.is(error, 'not_found')) throw error
    throw new MusterError('not_found', `There is no subtask and no task ${id}.`, { status: 404 })
  }
}

const UPDATE_COLUMNS: Column<Update>[] = [
  ['SENT', ({ created_at }) => relativeTime(created_at)],
  ['STATUS', ({ status }) => status],
  ['TO', ({ delivered_to }) => delivered_to],
  ['CONTENT', ({ content }) => content],
]

function describeSubtask(out: Output, subtask: Subtask): string {
  const { usage } = subtask
  const cost = usage.cost_usd === 0 ? '' : ` for $${usage.cost_usd.toFixed(4)}`
  const used = usage.input_tokens + usage.output_tokens === 0 ? '' : `${usage.input_tokens} tokens in, ${usage.output_tokens} out${cost}`
  return `${out.fields([
    ['Subtask', subtask.id],
    ['Status', subtask.status],
    ['Agent', subtask.agent_id],
    ['Sub-agent', subtask.subagent === null ? '' : `${subtask.subagent.name}, version ${subtask.subagent.version}`],
    ['Runner', subtask.runner],
    ['Model', subtask.model],
    ['Asked for by', subtask.parent_session_id],
    ['Task', subtask.task],
    ['Of task', subtask.task_id],
    ['Attempt', `${subtask.attempt} of ${subtask.max_attempts}`],
    ['Waits for', subtask.waiting_for],
    ['Created', relativeTime(subtask.created_at)],
    ['Took', duration(subtask.duration_ms)],
    ['Used', used],
    ['Evaluation', subtask.evaluation === null ? '' : `${subtask.evaluation.score ?? 'no score'}, ${subtask.evaluation.recommendation}`],
  ])}${subtask.completed_at === null ? '' : `\n\n${describeResult(out, subtask)}`}`
}

/** What a run has left: its result, or why there is none. */
export function describeResult(out: Output, subtask: Subtask): string {
  const outputs = Object.entries(subtask.outputs ?? {}).map(([name, value]) => `${out.heading(oneLine(name))}\n${clean(textOf(value))}`)
  const result = subtask.result === null ? [] : [clean(subtask.result)]
  const error = subtask.error === null ? [] : [out.colours.red(clean(subtask.error))]
  const cut = subtask.result_truncated ? [out.colours.dim(`Shortened. The whole of it: muster show ${subtask.id} --result`)] : []
  const parts = [...error, ...result, ...outputs, ...cut]
  return parts.length === 0 ? `The run ${subtask.status === 'completed' ? 'has' : `was ${subtask.status} and has`} no result.` : parts.join('\n\n')
}

import type { Question, QuestionStatus } from '@muster/client'
import type { Command } from 'commander'
import { Cli, wholeNumber } from '../cli.ts'
import { CliError, EXIT, usageError } from '../exit-codes.ts'
import type { Column } from '../output/output.ts'
import { oneLine, relativeTime } from '../output/text.ts'
import { answerOf } from './answer.ts'
import { describeQuestion } from './follow-text.ts'

const COLUMNS: Column<Question>[] = [
  ['ID', ({ id }) => id],
  ['KIND', ({ kind }) => kind],
  ['STATUS', ({ status }) => status],
  ['ASKED', ({ asked_at }) => relativeTime(asked_at)],
  ['EXPIRES', ({ status, expires_at }) => (status === 'open' ? relativeTime(expires_at) : '')],
  ['QUESTION', ({ prompt }) => prompt],
]

export function addAsk(program: Command): void {
  const ask = program.command('ask').description('questions that runs ask, and their answers')
  ask
    .command('ls')
    .description('list questions, the open ones unless another status is asked for')
    .option('--status <status>', 'open, answered, expired or withdrawn', 'open')
    .option('--session <id>', 'only those of this session')
    .option('--task <id>', 'only those of this task')
    .option('-n, --limit <count>', 'how many', wholeNumber('--limit', 1, 10_000), 50)
    .action(async ({ status, session, task, limit }: { status: string; session?: string; task?: string; limit: number }, command: Command) => {
      const cli = Cli.of(command)
      const query = {
        status: status as QuestionStatus,
        ...(session === undefined ? {} : { session_id: session }),
        ...(task === undefined ? {} : { task_id: task }),
        limit: Math.min(limit, 100),
      }
      await cli.out.rows(await cli.muster().questions.list(query).all(limit), COLUMNS, `No ${status} questions.`)
    })
  ask
    .command('show <id>')
    .description('show a question')
    .action(async (id: string, _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const question = await cli.muster().questions.get(id)
      await cli.out.result(question, () => `${describeQuestion(cli.out, question)}\n\n${cli.out.fields(answerFields(question))}`)
    })
  ask
    .command('answer <id> [words...]')
    .description('answer a question: an option, approve, reject, words, or JSON where it has a schema')
    .action(async (id: string, words: string[], _options: unknown, command: Command) => {
      const cli = Cli.of(command)
      const muster = cli.muster()
      const question = await muster.questions.get(id)
      const text = words.length > 0 ? words.join(' ') : await askUser(cli, question)
      const answered = await muster.questions.answer(id, answerOf(question, text))
      await cli.out.result(answered, () => cli.out.status('answered'))
    })
}

async function askUser(cli: Cli, question: Question): Promise<string> {
  if (!cli.canAsk) throw usageError(`Give the answer: muster ask answer ${question.id} <words>`)
  const { isCancel, select, text } = await import('@clack/prompts')
  const options =
    question.kind === 'approval'
      ? [
          { id: 'approve', label: 'Approve' },
          { id: 'reject', label: 'Reject' },
        ]
      : (question.options ?? [])
  const message = oneLine(question.prompt)
  if (question.arguments !== null) cli.out.note(describeQuestion(cli.out, question))
  const answer =
    options.length > 0
      ? await select({ message, options: options.map(({ id, label }) => ({ value: id, label: oneLine(label) })), output: process.stderr })
      : await text({ message, output: process.stderr })
  if (isCancel(answer)) throw new CliError('Nothing was answered.', EXIT.interrupted)
  return answer
}

function answerFields(question: Question): [string, unknown][] {
  const { answer, answered_by } = question
  return [
    ['Question', question.id],
    ['Status', question.status],
    ['Subtask', question.subtask_id],
    ['Task', question.task_id],
    ['Expires', question.status === 'open' ? relativeTime(question.expires_at) : ''],
    ['Answer', answer === null ? '' : oneLine(answer.option_id ?? answer.decision ?? answer.answer)],
    ['Answered by', answered_by === null ? '' : (answered_by.name ?? answered_by.id)],
  ]
}

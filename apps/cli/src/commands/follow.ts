import type { Event, Muster, Question } from '@muster/client'
import type { Command } from 'commander'
import { Cli } from '../cli.ts'
import { CliError, EXIT, exitCodeOfRun } from '../exit-codes.ts'
import { clean } from '../output/text.ts'
import { TypingLine } from '../output/typing-line.ts'
import { answerOf } from './answer.ts'
import { describeEvent, describeQuestion, describeStep } from './follow-text.ts'
import { describeResult } from './subtasks.ts'

const HELP = `Type a line to send it to the run. /interrupt <words> stops what it is doing first, /cancel ends it, /quit leaves it alone.
While it asks, a line is the answer; /skip sends the next line to the run instead.`

export function addFollow(program: Command): void {
  program
    .command('follow <id>')
    .description('show what a subtask does until it ends; type to steer it')
    .action(async (id: string, _options: unknown, command: Command) => await followRun(Cli.of(command), id))
}

/**
 * Shows a run as it happens, and sends what the user types. Ends with the exit code of the run.
 *
 * @throws CliError when the user leaves; the run goes on
 */
export async function followRun(cli: Cli, id: string): Promise<void> {
  await new Follower(cli, id).run()
}

/** One followed run: what is shown above, and a line to type in below where there is a terminal. */
class Follower {
  readonly #cli: Cli
  readonly #id: string
  readonly #muster: Muster
  readonly #sender: Muster
  readonly #end = new AbortController()
  #line: TypingLine | undefined
  #isReachable = true
  #hasLeft = false
  /** Open questions in the order in which they were asked: a typed line answers the first. */
  readonly #questions = new Map<string, Question>()
  /** Lines are obeyed one after the other. */
  #obeyed: Promise<void> = Promise.resolve()

  constructor(cli: Cli, id: string) {
    this.#cli = cli
    this.#id = id
    // What is shown waits for a server that is away; what is typed fails at once, and says so.
    this.#muster = cli.muster({ watch: (isReachable) => this.#sayReachable(isReachable), retries: Number.POSITIVE_INFINITY })
    this.#sender = cli.muster({ retries: 0 })
  }

  async run(): Promise<void> {
    const { out } = this.#cli
    // One that does not exist, or a server that is away from the beginning, is an error and not waited for.
    const subtask = await this.#cli.muster().subtasks.get(this.#id)
    this.#say(`${out.heading(clean(subtask.task))}\n${out.colours.dim(`${subtask.agent_id}, runner ${subtask.runner}, ${subtask.status}`)}`)
    if (this.#cli.canAsk && subtask.completed_at === null) this.#listen()
    const leave = () => this.#leave()
    process.once('SIGINT', leave)
    try {
      for await (const item of this.#muster.subtasks.handle(this.#id).follow({ signal: this.#end.signal })) {
        if (out.json) out.line(item, () => '')
        else if (item.kind === 'step') this.#say(describeStep(out, item.step))
        else this.#say(describeEvent(out, item.event))
        if (item.kind === 'event' && item.event.type.startsWith('question.')) await this.#hearQuestion(item.event)
      }
    } catch (error) {
      if (!this.#hasLeft) throw error
    } finally {
      process.off('SIGINT', leave)
      this.#line?.close()
    }
    if (this.#hasLeft) throw new CliError(`You have left. The run goes on: muster follow ${this.#id}`, EXIT.interrupted)
    await this.#finish()
  }

  async #finish(): Promise<void> {
    const { out } = this.#cli
    const ended = await this.#muster.subtasks.handle(this.#id).result({ signal: this.#end.signal })
    out.line({ kind: 'result', subtask: ended }, () => `\n${out.status(ended.status)}\n\n${describeResult(out, ended)}`)
    process.exitCode = exitCodeOfRun(ended.status)
  }

  #listen(): void {
    const { colours } = this.#cli.out
    this.#say(colours.dim(HELP))
    this.#line = new TypingLine(process.stdin, process.stderr, {
      prompt: colours.cyan('› '),
      onLine: (line) => {
        const text = line.trim()
        if (text !== '') this.#obeyed = this.#obeyed.then(() => this.#obey(text))
      },
      onLeave: () => this.#leave(),
    })
  }

  async #obey(text: string): Promise<void> {
    try {
      await this.#take(text)
    } catch (error) {
      this.#say(this.#cli.out.colours.red(clean(error instanceof Error ? error.message : String(error))))
    }
  }

  /** Does what a line says. */
  async #take(text: string): Promise<void> {
    const { colours } = this.#cli.out
    const [word, ...rest] = text.split(/\s+/)
    const [question] = this.#questions.values()
    if (text === '/quit') return this.#leave()
    if (text === '/help') return this.#say(colours.dim(HELP))
    if (text === '/cancel') {
      const { status } = await this.#sender.subtasks.cancel(this.#id)
      return this.#say(colours.yellow(status === 'cancelled' ? 'Cancelled.' : 'Its worker is asked to stop.'))
    }
    if (text === '/skip') {
      this.#questions.delete(question?.id ?? '')
      return this.#say(colours.dim('The question stays open.'))
    }
    const isInterrupt = word === '/interrupt'
    if (word?.startsWith('/') === true && !isInterrupt) return this.#say(colours.red(`There is no ${word}.`) + colours.dim(`\n${HELP}`))
    if (isInterrupt && rest.length === 0) return this.#say(colours.red('Say what it should do instead: /interrupt <words>'))
    if (question !== undefined && !isInterrupt) return await this.#answer(question, text)
    const content = isInterrupt ? rest.join(' ') : text
    const update = await this.#sender.subtasks.steer(this.#id, { content, ...(isInterrupt ? { delivery: 'interrupt' } : {}) })
    if (isInterrupt && update.delivery !== 'interrupt') this.#say(colours.yellow('Its runner cannot be interrupted: it gets this with its next step.'))
    else this.#say(colours.dim(`sent: ${update.status}`))
  }

  async #answer(question: Question, text: string): Promise<void> {
    const answer = answerOf(question, text)
    await this.#sender.questions.answer(question.id, answer)
    this.#questions.delete(question.id)
    this.#say(this.#cli.out.colours.green('answered'))
  }

  /** Shows a question that is still open, so that a line is its answer; forgets one that no longer is. */
  async #hearQuestion({ data }: Event): Promise<void> {
    const question = await this.#muster.questions.get(String(data.question_id), { signal: this.#end.signal })
    if (question.status === 'open') {
      this.#questions.set(question.id, question)
      if (!this.#cli.out.json) this.#say(describeQuestion(this.#cli.out, question))
    } else if (this.#questions.delete(question.id)) this.#say(this.#cli.out.colours.dim(`The question was ${question.status}.`))
  }

  #leave(): void {
    this.#hasLeft = true
    this.#end.abort()
  }

  #sayReachable(isReachable: boolean): void {
    if (isReachable === this.#isReachable || this.#end.signal.aborted) return
    this.#isReachable = isReachable
    const { colours } = this.#cli.out
    if (isReachable) this.#note(colours.green('The server is back.'))
    else this.#note(colours.yellow(`${this.#cli.url} does not answer. Trying again …`))
  }

  /** On standard output, above the line that the user types. */
  #say(text: string): void {
    if (this.#cli.out.json || text === '') return
    this.#above(() => process.stdout.write(`${text}\n`))
  }

  #note(text: string): void {
    this.#above(() => this.#cli.out.note(text, (same) => same))
  }

  #above(write: () => void): void {
    if (this.#line === undefined) write()
    else this.#line.above(write)
  }
}

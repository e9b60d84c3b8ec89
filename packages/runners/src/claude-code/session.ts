import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BudgetMeter } from '../ai/budget.ts'
import type { StepLog } from '../ai/step-log.ts'
import { QUESTION_CLOSED } from '../ai/texts.ts'
import type { Approvals } from '../approvals.ts'
import type { Program } from '../command/process.ts'
import { createKeptText } from '../command/text.ts'
import { LIMITS } from '../command/transcript.ts'
import { eachUpdate } from '../each-update.ts'
import type { Run, RunUpdate } from '../port.ts'
import {
  type ContentBlock,
  interruptRequest,
  type ProgramMessage,
  parseMessage,
  permissionRequestOf,
  type ResultMessage,
  refusalOf,
  responseTo,
  textOf,
  userMessage,
} from './messages.ts'
import { decidePermission } from './permissions.ts'
import type { ProgramSession } from './saved-session.ts'
import type { ToolRules } from './tool-rules.ts'
import { createUpdateLedger } from './updates.ts'
import { createUsageCounter, type SessionUsage } from './usage.ts'

/** How long the program may take to break off what it does, before it is ended without. What it has cost is in its answer. */
const INTERRUPT_MS = 400
/**
 * After this long without a turn that begins with an update that is not to wait, the interrupt is repeated: one that came between two turns broke
 * nothing off, and the turn that began then may be long.
 */
const REPEAT_INTERRUPT_MS = 1_000
/** A program that does not say when a message begins its turn is not broken off for ever. */
const INTERRUPTS_MAX = 5
/** How long it may go on after its last answer. */
const LINGER_MS = 10_000
const TAKE_IN = 'Take this in. Your last answer is the result of the whole task: make it complete in itself.'
/** The provider refuses the key: however often it is asked, the answer will be the same. */
const KEY_REFUSED = new Set([401, 403])

export interface SessionParts {
  run: Run
  program: Pick<Program, 'stdin' | 'end'>
  meter: BudgetMeter
  log: StepLog
  rules: Pick<ToolRules, 'ask'>
  approvals: Approvals
  /** Whether it goes on after a wait: then it begins with what has reached the run since. And what the session had used by then. */
  session: Pick<ProgramSession, 'isResumed' | 'used'>
}

/** The tool of Muster with which a model asks. */
const ASK = 'mcp__muster__ask'

/** The id of the question in the answer of that tool. */
function questionIdOf(answer: string): string | null {
  return /"question_id":\s*"([0-9a-f-]{36})"/.exec(answer)?.[1] ?? null
}

/** One session with the program: its input and its output. The process itself is managed elsewhere. */
export class Session {
  readonly #parts: SessionParts
  readonly #ledger: ReturnType<typeof createUpdateLedger>
  readonly #usage: ReturnType<typeof createUsageCounter>
  readonly #said = createKeptText(LIMITS.maxResultBytes)
  readonly #toolNames = new Map<string, string>()
  readonly #over = new AbortController()
  /** Requests of the program that are not answered yet. */
  readonly #requests = new Map<string, AbortController>()
  #timer: NodeJS.Timeout | undefined
  #onBrokenOff: (() => void) | null = null
  /** Interrupts for updates that have not been seen to break off a turn. */
  #interrupts = 0
  #result: ResultMessage | null = null
  #exceeded: string | null = null
  #refusedStatus: number | null = null
  /** Calls of the tool that asks, by their ids, where the model cannot go on without the answer. */
  readonly #waitingCalls = new Set<string>()
  #awaitedQuestionId: string | null = null

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#ledger = createUpdateLedger(parts.run)
    this.#usage = createUsageCounter(parts.run, parts.meter, parts.session.used)
    parts.program.stdin.once('close', () => this.#finish())
  }

  /** Gives the task, and from then on the updates as they come. */
  begin(): void {
    const { log, session } = this.#parts
    const { brief } = this.#parts.run
    const first = session.isResumed ? `${brief.continuation?.updates || QUESTION_CLOSED}\n\n${TAKE_IN}` : brief.task
    void this.#write(userMessage(randomUUID(), first))
    log.prompt({ system: brief.text, message: first, isContinued: session.isResumed })
    eachUpdate(this.#parts.run.updates, this.#over.signal, (update) => this.#pass(update)).catch((error: unknown) =>
      this.#parts.log.error(`Updates do not reach this run any more: ${String(error)}`),
    )
  }

  /** Has the program break off what it does, and ends it: at once when it has said what that has cost, soon in any case. */
  stop(): void {
    this.#breakOff(() => this.#parts.program.end('stop'))
  }

  /** The process is gone. */
  close(): void {
    this.#finish()
    clearTimeout(this.#timer)
  }

  /** Takes in a line of the program's output. What is none of its messages is passed over. */
  take(line: string): void {
    const message = parseMessage(line)
    if (message === null) return
    if (message.type === 'control_request') void this.#answer(message)
    else if (message.type === 'control_cancel_request') this.#requests.get(message.request_id)?.abort()
    else if (message.type === 'result') this.#takeResult(message)
    else if (message.type === 'system') this.#takeNotice(message)
    else if (message.type === 'command_lifecycle') this.#takeProgress(message)
    // What is of an agent inside of it is passed over: those are switched off.
    else if (message.parent_tool_use_id != null) return
    else if (message.type === 'stream_event') this.#takeEvent(message.event)
    else if (message.type === 'assistant') this.#takeAnswer(message)
    else this.#takeInput(message)
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted
  }

  /** The program's last word, once there is one that nothing is to follow. */
  get result(): ResultMessage | null {
    return this.#result
  }

  /** Which budget was used up, in a sentence. */
  get exceeded(): string | null {
    return this.#exceeded
  }

  /** The status with which the provider has refused the key. */
  get refusedStatus(): number | null {
    return this.#refusedStatus
  }

  /** What the session has used so far, over all its attempts. */
  get used(): SessionUsage {
    return this.#usage.total
  }

  /** The question for whose answer the run has to wait. */
  get awaitedQuestionId(): string | null {
    return this.#awaitedQuestionId
  }

  /** All that the model has said so far. */
  get said(): string {
    return this.#said.text
  }

  async #pass(update: RunUpdate): Promise<void> {
    const messageId = randomUUID()
    // What it was about to say is broken off first; the message then begins a turn of its own.
    if (update.delivery === 'interrupt') void this.#interruptUntilDelivered(messageId)
    await this.#send(messageId, [update])
  }

  #send(messageId: string, updates: readonly RunUpdate[]): Promise<void> {
    this.#ledger.sent(messageId, updates)
    return this.#write(userMessage(messageId, [...updates.map(({ text }) => text), TAKE_IN].join('\n\n')))
  }

  /** Breaks off what the program does until the message has begun a turn. */
  async #interruptUntilDelivered(messageId: string): Promise<void> {
    for (let count = 1; count <= INTERRUPTS_MAX; count += 1) {
      this.#interrupts += 1
      void this.#write(interruptRequest(randomUUID()))
      const isOver = await sleep(REPEAT_INTERRUPT_MS, false, { signal: this.#over.signal, ref: false }).catch(() => true)
      if (isOver || !this.#ledger.isUndelivered(messageId)) return
    }
  }

  /** Resolves when the pipe has taken it, or never will. */
  #write(message: object): Promise<void> {
    const { stdin } = this.#parts.program
    if (!stdin.writable) return Promise.resolve()
    return new Promise((resolve) => stdin.write(`${JSON.stringify(message)}\n`, () => resolve()))
  }

  /** Answers a request of the program. It does nothing else with the tool meanwhile. */
  async #answer(message: Extract<ProgramMessage, { type: 'control_request' }>): Promise<void> {
    const { run, rules, approvals, log } = this.#parts
    const request = permissionRequestOf(message)
    if (request === null) return await this.#write(refusalOf(message.request_id))
    const cancelled = new AbortController()
    this.#requests.set(message.request_id, cancelled)
    try {
      const signal = AbortSignal.any([cancelled.signal, run.signal, this.#over.signal])
      await this.#write(responseTo(message.request_id, await decidePermission(run, rules, approvals, request, signal)))
    } catch (error) {
      // A run or a request that was stopped does not wait for it.
      if (run.signal.aborted || cancelled.signal.aborted || this.#isOver) return
      log.error(`An approval of ${request.tool_name} could not be asked for: ${error instanceof Error ? error.message : String(error)}`)
      await this.#write(responseTo(message.request_id, { behavior: 'deny', message: 'It has to be approved, and the question could not be asked.' }))
    } finally {
      this.#requests.delete(message.request_id)
    }
  }

  #takeEvent(event: Extract<ProgramMessage, { type: 'stream_event' }>['event']): void {
    this.#usage.take(event)
    if (event.type === 'message_start') {
      this.#ledger.answered()
      this.#toolNames.clear()
      this.#checkBudget(this.#parts.meter.exceeded())
    }
    // Any other end of a call is the end of the turn: what it has cost is spent, and its answer is there.
    const stop = event.type === 'message_delta' ? event.delta?.stop_reason : null
    if (stop == null) return
    const { meter } = this.#parts
    meter.addStep()
    if (stop === 'tool_use') this.#checkBudget(meter.spent())
    else if (stop === 'max_tokens' || stop === 'pause_turn') this.#checkBudget(meter.exceeded())
  }

  #takeAnswer({ message, aborted, is_api_error_message }: Extract<ProgramMessage, { type: 'assistant' }>): void {
    // What went wrong is said in the result too.
    if (is_api_error_message === true) return
    const { log, run } = this.#parts
    for (const block of message.content) {
      if (block.type === 'text' && block.text !== undefined && block.text.trim() !== '') {
        log.message(aborted === true ? `${block.text}\n[broken off]` : block.text)
        this.#said.addLine(block.text, false)
      } else if (block.type === 'tool_use' && block.id !== undefined && block.name !== undefined) {
        this.#toolNames.set(block.id, block.name)
        if (block.name === ASK && (block.input as { wait?: unknown } | null | undefined)?.wait === true) this.#waitingCalls.add(block.id)
        run.usage({ toolCalls: 1 })
        log.toolCall(block.id, block.name, block.input)
      }
    }
  }

  #takeInput({ message, uuid, isReplay }: Extract<ProgramMessage, { type: 'user' }>): void {
    if (isReplay === true && uuid !== undefined) this.#ledger.delivered(uuid)
    if (isReplay === true || typeof message.content === 'string') return
    const results = message.content.filter(({ type }) => type === 'tool_result')
    for (const block of results) this.#takeToolResult(block)
    if (results.length > 0 && this.#toolNames.size === 0) this.#checkBudget(this.#parts.meter.exceeded())
  }

  #takeToolResult({ tool_use_id: id = '', content, is_error }: ContentBlock): void {
    this.#parts.log.toolResult(id, this.#toolNames.get(id) ?? 'unknown', textOf(content), is_error ?? false)
    if (is_error === true || this.#awaitedQuestionId !== null || !this.#waitingCalls.has(id)) return
    this.#awaitedQuestionId = questionIdOf(textOf(content))
    if (this.#awaitedQuestionId !== null) this.#breakOff(() => this.#parts.program.end('lingering'))
    this.#toolNames.delete(id)
  }

  /** A message that the program has dropped is not waited for. */
  #takeProgress({ command_uuid: messageId, state }: Extract<ProgramMessage, { type: 'command_lifecycle' }>): void {
    if (state === 'started' || state === 'completed') this.#ledger.delivered(messageId)
    else if (state === 'cancelled') this.#ledger.dropped(messageId)
  }

  #takeNotice({ subtype, error_status, retry_delay_ms = 0 }: Extract<ProgramMessage, { type: 'system' }>): void {
    if (subtype !== 'api_retry') return
    if (error_status != null && KEY_REFUSED.has(error_status)) {
      this.#refusedStatus = error_status
      this.#finish()
      this.#parts.program.end('lingering')
      return
    }
    const problem = error_status == null ? 'Anthropic could not be reached, or broke its answer off.' : `Anthropic failed (${error_status}).`
    this.#parts.log.error(`${problem} Trying again in ${(retry_delay_ms / 1_000).toFixed(1)} s.`)
  }

  #takeResult(result: ResultMessage): void {
    this.#usage.settle(result)
    this.#result = result
    const brokenOffIds = this.#takeBrokenOff(result)
    if (brokenOffIds !== null) this.#ledger.brokenOff(brokenOffIds)
    else if (!result.is_error) this.#ledger.consumed(result.user_message_uuids ?? [])
    // An update that no turn has begun with is answered by a further turn, which brings the result that counts.
    if (!this.#isOver && (this.#ledger.hasUndelivered || (result.queued_turn_count ?? 0) > 0)) return
    // A failure is the result of the run, whatever was lost before it.
    const lost = this.#isOver || (brokenOffIds === null && result.is_error) ? [] : this.#ledger.takeLost(brokenOffIds ?? [])
    if (lost.length > 0) {
      void this.#send(randomUUID(), lost)
      return
    }
    this.#onBrokenOff?.()
    this.#finish()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#parts.program.end('lingering'), LINGER_MS)
  }

  /**
   * The messages of a turn that an interrupt for an update has broken off, as far as the program names them. That is whatever turn it meets: also the one of its own
   * update, where it was repeated as that began. Null for other turns: of a program that breaks off more than it was asked to, the result counts.
   */
  #takeBrokenOff({ terminal_reason: reason, user_message_uuids: messageIds = [] }: ResultMessage): readonly string[] | null {
    if ((reason !== 'aborted_streaming' && reason !== 'aborted_tools') || this.#interrupts === 0) return null
    this.#interrupts -= 1
    return messageIds
  }

  /** @param exceeded which budget is used up, in a sentence */
  #checkBudget(exceeded: string | null): void {
    if (this.#isOver) return
    this.#exceeded = exceeded
    if (this.#exceeded !== null) this.#breakOff(() => this.#parts.program.end('lingering'))
  }

  /** Nothing more is passed on. `end` is called when the program has answered, or has had its time to. */
  #breakOff(end: () => void): void {
    this.#onBrokenOff = end
    if (this.#isOver) {
      end()
      return
    }
    void this.#write(interruptRequest(randomUUID()))
    this.#setOver()
    this.#timer = setTimeout(end, INTERRUPT_MS)
  }

  /** Ends the input: a program that reads its input to the end finds the end now. */
  #finish(): void {
    this.#setOver()
    this.#parts.program.stdin.end()
  }

  #setOver(): void {
    this.#over.abort()
  }
}

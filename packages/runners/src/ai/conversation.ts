import { setTimeout as sleep } from 'node:timers/promises'
import { CONTINUATION_BYTES_MAX, classifyResult, cutToBytes, RESULT_BYTES_MAX } from '@muster/domain'
import type { LanguageModel, ModelMessage, ToolSet } from 'ai'
import { createKeptText } from '../command/text.ts'
import { LIMITS } from '../command/transcript.ts'
import { type Run, type RunOutcome, type RunUpdate, startSpan } from '../port.ts'
import type { BudgetMeter } from './budget.ts'
import { describeFailure, type Failure } from './failure.ts'
import type { Inbox } from './inbox.ts'
import { callModel, type ModelAnswer, type ToolRequest } from './model-call.ts'
import type { ModelChoice } from './models.ts'
import { type Redact, redactJson } from './redact.ts'
import { readConversation, type SavedConversation, type SavedResult, saveConversation } from './saved-conversation.ts'
import { saidByTool, spokenInCall } from './span-content.ts'
import type { StepLog } from './step-log.ts'
import * as texts from './texts.ts'
import type { Toolbox } from './tools/assemble.ts'
import { callMuster } from './tools/call-muster.ts'
import type { Outputs } from './tools/deliver-output.ts'
import { type GivenAnswer, type ToolEnd, ToolUses } from './tools/use.ts'

/** How often and how long a run waits for a model. */
export interface Patience {
  /** Tries of one call beyond the first. */
  retriesMax: number
  /** The first wait; each further one is twice as long. */
  firstWaitMs: number
  /** Also of what a provider asks for. */
  waitMsMax: number
  idleSeconds: number
}

export interface ConversationParts {
  run: Run
  choice: ModelChoice
  model: LanguageModel
  toolbox: Toolbox
  toolSet: ToolSet
  inbox: Inbox
  meter: BudgetMeter
  log: StepLog
  redact: Redact
  patience: Patience
  /** Called when guides for a failed tool could not be searched. */
  onGuidesFailed(error: unknown): void
}

/** How often a model is asked to make good what its answer lacks, before the answer is taken as it is. */
const REMINDERS_MAX = 2
/** How often an answer that was cut off at its limit is gone on with. */
const CONTINUATIONS_MAX = 8

/**
 * One run: the model is called, its tools are run, and so on until it answers without a tool. Between any two of these, updates are delivered,
 * and the budget and the end of the run are looked at. Answers with the outcome; never throws for what a model, a provider or a tool does.
 */
export class Conversation {
  readonly #parts: ConversationParts
  readonly #instructions: string
  readonly #messages: ModelMessage[]
  /** All that the model has said, for when the run ends without a result. */
  readonly #said = createKeptText(RESULT_BYTES_MAX)
  /** Delivered in a message that no answered call has contained yet. */
  #unanswered: RunUpdate[] = []
  /** The beginning of an answer that is gone on with. */
  #begun = ''
  #continuations = 0
  #reminders = 0
  #hasAnswered = false
  #isPromptKept = false
  #uses: ToolUses
  /** The results of the last answer, one of which an approval decides. */
  #undecided: { results: SavedResult[]; updates: string } | null = null

  constructor(parts: ConversationParts) {
    this.#parts = parts
    this.#instructions = texts.instructionsFor(parts.run.brief.text, parts.toolbox)
    this.#messages = [{ role: 'user', content: parts.run.brief.task }]
    this.#uses = new ToolUses(parts)
    const { continuation } = parts.run.brief
    if (continuation != null) this.#continue(continuation)
  }

  /** Goes on where an earlier attempt began to wait: the answer is the result of the tool call that awaited it. */
  #continue({ state, updates }: NonNullable<Run['brief']['continuation']>) {
    const { toolbox, log } = this.#parts
    const saved = readConversation(state)
    if (saved === null) return log.error('The conversation of the last attempt cannot be read. The run begins again.')
    this.#messages.splice(0, this.#messages.length, ...saved.messages)
    if (saved.said !== '') this.#said.addLine(saved.said, false)
    Object.assign(toolbox.outputs.delivered, saved.outputs)
    this.#uses = new ToolUses(this.#parts, saved.remembered)
    if (saved.results.some(({ approval }) => approval !== undefined)) {
      this.#undecided = { results: saved.results, updates }
      return
    }
    const answer = updates === '' ? texts.QUESTION_CLOSED : updates
    for (const { id, name, text } of saved.results) if (text === null) log.toolResult(id, name, answer, false)
    if (saved.results.length > 0) this.#messages.push(toolMessage(saved.results.map((result) => ({ ...result, text: result.text ?? answer }))))
    // No call awaited the answer: the budget was used up, and has been raised.
    if (saved.results.every(({ text }) => text !== null)) this.#messages.push({ role: 'user', content: answer })
  }

  /** Executes the use that was approved, or says why it was not. */
  async #decide({ results, updates }: { results: SavedResult[]; updates: string }): Promise<void> {
    const { run, inbox, log, redact } = this.#parts
    for (const result of results) {
      if (result.approval === undefined) continue
      const { questionId, ...planned } = result.approval
      const question = await callMuster(run.access, 'GET', `/questions/${questionId}`, run.signal)
      const end = await this.#uses.useApproved(planned, question as unknown as GivenAnswer, inbox.activity())
      result.text = redact(end.text)
      result.isError = end.isError
      log.toolResult(result.id, result.name, result.text, result.isError)
    }
    this.#messages.push(toolMessage(results))
    if (updates !== '') this.#messages.push({ role: 'user', content: updates })
  }

  async run(): Promise<RunOutcome> {
    const { run, inbox, meter } = this.#parts
    if (this.#undecided !== null) await this.#decide(this.#undecided)
    for (;;) {
      if (run.signal.aborted) return this.#stopped()
      const exceeded = meter.exceeded()
      if (exceeded !== null) return this.#exceeded(exceeded, [])
      await run.fetchUpdates()
      this.#tell(inbox.take())
      const answer = await this.#ask()
      if ('outcome' in answer) return answer.outcome
      // An update came first and is delivered in the next call.
      if ('interrupted' in answer) continue
      const outcome = answer.toolRequests.length > 0 && answer.finish !== 'refused' ? await this.#useTools(answer) : await this.#judge(answer)
      if (outcome !== null) return outcome
    }
  }

  #tell(updates: RunUpdate[]) {
    if (updates.length === 0) return
    this.#unanswered.push(...updates)
    this.#messages.push({ role: 'user', content: texts.updateMessage(updates, this.#hasAnswered) })
  }

  /** Calls the model, again where that may help. */
  async #ask(): Promise<ModelAnswer | { interrupted: true } | { outcome: RunOutcome }> {
    const { run, choice, model, toolSet, inbox, redact, patience } = this.#parts
    for (let tries = 1; ; tries += 1) {
      const signal = inbox.activity()
      const isSent = !signal.aborted
      if (isSent) this.#keepPrompt()
      const span = startSpan(run, `chat ${choice.modelId}`, {
        kind: 'client',
        attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': choice.modelId, 'gen_ai.provider.name': choice.provider },
      })
      const end = await callModel({
        model,
        tools: toolSet,
        instructions: this.#instructions,
        messages: this.#messages,
        signal,
        idleSeconds: patience.idleSeconds,
      })
      span?.content(() => spokenInCall(redact, { instructions: this.#instructions, messages: this.#messages, end }))
      if (end.kind === 'answer') {
        const { inputTokens, outputTokens } = end.answer.usage
        span?.set({ 'gen_ai.usage.input_tokens': inputTokens, 'gen_ai.usage.output_tokens': outputTokens })
      }
      span?.end(end.kind === 'failed' ? 'model_call_failed' : undefined)
      // A call that failed before the first word may not have reached the model.
      if (isSent && (end.kind !== 'failed' || end.text !== '')) for (const { updateId } of this.#unanswered) run.delivered(updateId)
      if (end.kind === 'answer') {
        this.#account(end.answer)
        return end.answer
      }
      if (end.kind === 'aborted') {
        this.#keepUnfinished(end.text)
        return run.signal.aborted ? { outcome: this.#stopped() } : { interrupted: true }
      }
      const failure = describeFailure(end.error, choice, redact)
      if (!failure.retryable || tries > patience.retriesMax) {
        if (end.text.trim() !== '') this.#said.addLine(end.text, false)
        return { outcome: this.#failed(failure, tries) }
      }
      const waitMs = this.#waitMs(failure, tries)
      this.#parts.log.error(`${failure.message} Trying again in ${(waitMs / 1_000).toFixed(1)} s.`)
      await sleep(waitMs, undefined, { signal }).catch(() => {})
      if (run.signal.aborted) return { outcome: this.#stopped() }
      if (signal.aborted) return { interrupted: true }
    }
  }

  /** The first call of the attempt says what the run was given. */
  #keepPrompt() {
    if (this.#isPromptKept) return
    this.#isPromptKept = true
    const { run, log } = this.#parts
    const { task, continuation } = run.brief
    const isContinued = continuation != null
    // The answer to a question is the result of the tool that has asked; a message is what came beside it.
    const last = this.#messages.at(-1)
    const spoken = last?.role === 'user' && typeof last.content === 'string' ? last.content : null
    log.prompt({ system: this.#instructions, message: isContinued ? spoken : task, isContinued })
  }

  #waitMs(failure: Failure, tries: number): number {
    const { firstWaitMs, waitMsMax } = this.#parts.patience
    // Half of it by chance: callers that were limited at the same moment should not return at the same moment.
    const backoffMs = firstWaitMs * 2 ** (tries - 1) * (0.5 + Math.random() / 2)
    return Math.min(failure.retryAfterMs ?? backoffMs, waitMsMax)
  }

  /** An answer has come: what it used, what it says, and that the updates in its question have been taken in. */
  #account(answer: ModelAnswer) {
    const { run, meter, log } = this.#parts
    meter.addStep()
    run.usage({ ...meter.addCall(answer.usage), model: this.#parts.choice.modelId })
    for (const { updateId } of this.#unanswered.splice(0)) run.acknowledge(updateId)
    if (answer.text.trim() !== '') {
      log.message(answer.text)
      this.#said.addLine(answer.text, false)
    }
    this.#messages.push(...answer.messages)
  }

  /** What the model had said before an update came. */
  #keepUnfinished(text: string) {
    if (text.trim() === '') return
    this.#parts.log.message(`${text}\n[broken off]`)
    this.#said.addLine(text, false)
    this.#messages.push({ role: 'assistant', content: text.trimEnd() })
  }

  /** Runs what was asked for, in order. Null: go on. */
  async #useTools(answer: ModelAnswer): Promise<RunOutcome | null> {
    const { run, inbox, meter, log, redact } = this.#parts
    const results: SavedResult[] = []
    let outcome: RunOutcome | null = null
    let awaitedId: string | null = null
    let isInterrupted = false
    this.#begun = ''
    for (const request of answer.toolRequests) log.toolCall(request.id, request.name, request.input)
    for (const request of answer.toolRequests) {
      const exceeded = meter.spent()
      if (run.signal.aborted) outcome ??= this.#stopped()
      else if (exceeded !== null) {
        const left = answer.toolRequests.slice(results.length).map(({ id, name }) => ({ id, name, text: texts.NOT_RUN_OVER_BUDGET, isError: true }))
        // A question that the run waits for is answered later: the budget comes first then.
        outcome ??= this.#exceeded(
          exceeded,
          [...results, ...left].map((result) => ({ ...result, text: result.text ?? texts.NOT_RUN_OVER_BUDGET })),
        )
      }
      if (outcome !== null) break
      const signal = inbox.activity()
      isInterrupted ||= signal.aborted
      const used = await this.#useOrSkip(request, answer.finish, signal, { isInterrupted, isAwaiting: awaitedId !== null })
      isInterrupted ||= signal.aborted
      if ('awaitedId' in used) {
        awaitedId = used.awaitedId
        results.push({ id: request.id, name: request.name, text: null, isError: false, ...(used.approval !== undefined && { approval: used.approval }) })
        continue
      }
      const shown = redact(used.text)
      log.toolResult(request.id, request.name, shown, used.isError)
      results.push({ id: request.id, name: request.name, text: shown, isError: used.isError })
    }
    if (outcome !== null) return outcome
    if (run.signal.aborted) return this.#stopped()
    if (awaitedId !== null) return this.#waitFor(awaitedId, results)
    this.#messages.push(toolMessage(results))
    return null
  }

  /** Ends the attempt until the question is closed. */
  #waitFor(questionId: string, results: SavedResult[]): RunOutcome {
    return { kind: 'waiting', questionId, ...this.#saved(results) }
  }

  /** @param results of the last answer of the model, one for each tool that it asked for; none if their message was sent or none was asked for */
  #exceeded(error: string, results: SavedResult[]): RunOutcome {
    return { kind: 'budget_exceeded', error, ...this.#partial(), ...(this.#messages.length > 1 ? this.#saved(results) : {}) }
  }

  /** The conversation, for the next attempt to go on with. */
  #saved(results: SavedResult[]): { continuation?: string } {
    const { toolbox, log, redact } = this.#parts
    const { remembered } = this.#uses
    const saved = { messages: this.#messages, results, said: this.#said.text, outputs: toolbox.outputs.delivered, remembered }
    const continuation = saveConversation(redactJson(saved, redact) as SavedConversation)
    if (Buffer.byteLength(continuation) <= CONTINUATION_BYTES_MAX) return { continuation }
    log.error(`The conversation has more than ${CONTINUATION_BYTES_MAX} bytes. It is not kept: the run begins again with the answer.`)
    return {}
  }

  async #useOrSkip(
    request: ToolRequest,
    finish: ModelAnswer['finish'],
    signal: AbortSignal,
    { isInterrupted, isAwaiting }: { isInterrupted: boolean; isAwaiting: boolean },
  ): Promise<ToolEnd> {
    if (isAwaiting) return { text: texts.NOT_RUN_BEFORE_ANSWER, isError: true }
    if (isInterrupted) return { text: texts.NOT_RUN, isError: true }
    const span = startSpan(this.#parts.run, `execute_tool ${request.name.slice(0, 100)}`, {
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': request.name.slice(0, 100), 'gen_ai.tool.call.id': request.id },
    })
    const end = await this.#uses.use(request, finish, signal)
    span?.content(() => saidByTool(this.#parts.redact, request, 'text' in end ? end.text : undefined))
    span?.end('isError' in end && end.isError ? 'tool_error' : undefined)
    return end
  }

  /** What an answer without a tool call comes to. Null: go on. */
  async #judge(answer: ModelAnswer): Promise<RunOutcome | null> {
    const { run, inbox, toolbox, log, redact } = this.#parts
    if (answer.finish === 'refused') {
      const said = answer.text.trim() === '' ? '' : ` It said: ${answer.text.trim()}`
      return { kind: 'blocked', reason: cutToBytes(redact(`The model refused the task.${said}`), LIMITS.maxNoteBytes).text, ...this.#partial() }
    }
    this.#begun += answer.text
    const isCut = answer.finish === 'length'
    if (isCut && answer.text !== '' && this.#continuations < CONTINUATIONS_MAX) {
      this.#continuations += 1
      return this.#goOn('The answer was cut off at its limit; the model goes on.', texts.CONTINUE)
    }
    const result = this.#begun
    // What came while the model answered is worth another call.
    await run.fetchUpdates()
    if (inbox.hasNew) {
      this.#begun = ''
      this.#hasAnswered = true
      return null
    }
    const reminder = reminderOf(result, toolbox.outputs)
    if (reminder !== null && this.#reminders < REMINDERS_MAX) {
      this.#reminders += 1
      this.#begun = ''
      log.error(reminder)
      return this.#goOn(null, reminder)
    }
    const kept = cutToBytes(redact(result), RESULT_BYTES_MAX)
    const delivered = redactJson(toolbox.outputs.delivered, redact) as Record<string, unknown>
    return {
      kind: 'completed',
      result: kept.text,
      ...((kept.truncated || isCut) && { truncated: true }),
      ...(Object.keys(delivered).length > 0 && { outputs: delivered }),
    }
  }

  /** Asks the model to go on, and says in the transcript why, where nothing else does. */
  #goOn(step: string | null, message: string): null {
    if (step !== null) this.#parts.log.error(step)
    this.#messages.push({ role: 'user', content: message })
    return null
  }

  #stopped(): RunOutcome {
    return { kind: 'stopped', ...this.#partial() }
  }

  #failed({ message, retryable }: Failure, tries: number): RunOutcome {
    this.#parts.log.error(message)
    return { kind: 'errored', error: tries > 1 ? `${message} Given up after ${tries} tries.` : message, retryable, ...this.#partial() }
  }

  #partial(): { partialResult?: string } {
    const said = this.#parts.redact(this.#said.text)
    return said.trim() === '' ? {} : { partialResult: said }
  }
}

function toolMessage(results: readonly SavedResult[]): ModelMessage {
  return {
    role: 'tool',
    content: results.map(({ id, name, text, isError }) => ({
      type: 'tool-result',
      toolCallId: id,
      toolName: name,
      output: { type: isError ? 'error-text' : 'text', value: text ?? '' },
    })),
  }
}

/** What to tell a model whose answer cannot be the result yet. Null where it can, or where another answer would be no better. */
function reminderOf(result: string, { delivered, problems }: Outputs): string | null {
  const missing = problems()
  if (missing.length > 0) return texts.outputsMissing(missing)
  const { kind } = classifyResult(result)
  if (kind === 'empty') return texts.EMPTY
  return kind === 'intentions' && Object.keys(delivered).length === 0 ? texts.ONLY_INTENTIONS : null
}

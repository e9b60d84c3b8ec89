import { Approvals, type PlannedUse } from '../../approvals.ts'
import type { Run } from '../../port.ts'
import type { ModelAnswer, ToolRequest } from '../model-call.ts'
import type { Redact } from '../redact.ts'
import * as texts from '../texts.ts'
import type { Toolbox } from './assemble.ts'
import { callMuster } from './call-muster.ts'
import { AnswerAwaited, type RunTool, ToolError } from './tool.ts'

/** The result of a tool, or the question whose answer will be the result. */
export type ToolEnd = { text: string; isError: boolean } | { awaitedId: string; approval?: PlannedUse & { questionId: string } }

/** The question about a use, with its answer if it has one. */
export type GivenAnswer = Parameters<Approvals['take']>[1]

interface ToolUsesParts {
  run: Run
  toolbox: Toolbox
  redact: Redact
  /** Called when guides for a failed tool could not be searched. */
  onGuidesFailed(error: unknown): void
}

/** The uses of tools in one attempt: whether they are allowed, whether they have to be approved, and what they come to. Never throws for what a tool does. */
export class ToolUses {
  readonly #parts: ToolUsesParts
  readonly #approvals: Approvals

  /** @param remembered the rules that ask no more, of earlier attempts of the run */
  constructor(parts: ToolUsesParts, remembered: readonly string[] = []) {
    this.#parts = parts
    this.#approvals = new Approvals(parts.run.brief.ask ?? [], parts.redact, remembered)
  }

  /** The rules that ask no more. */
  get remembered(): string[] {
    return this.#approvals.remembered
  }

  /** Executes what the model asked for, or asks first whether it may be. */
  async use(request: ToolRequest, finish: ModelAnswer['finish'], signal: AbortSignal): Promise<ToolEnd> {
    const { toolbox } = this.#parts
    const tool = toolbox.tools.get(request.name)
    if (tool !== undefined && request.problem !== null) {
      const reason = finish === 'length' ? 'your answer was cut off at its limit; ask for less at once' : request.problem
      return { text: `The arguments of ${request.name} were not accepted: ${reason}`, isError: true }
    }
    const refusal = toolbox.refusal(request.name, request.input)
    if (tool === undefined || refusal !== null) {
      return { text: texts.toolRefused(request.name, refusal ?? '', toolbox.tools.keys()), isError: true }
    }
    const use = toolbox.useOf(request.name, request.input)
    const rules = use === null ? [] : this.#approvals.rulesFor(use)
    if (use === null || rules.length === 0) return await this.#execute(tool, request.input, signal)
    return await this.#askFirst({ tool: request.name, use, input: request.input as Record<string, unknown>, rules }, signal)
  }

  /** Executes a use that was asked about, if it was approved, with the arguments of the approval. */
  async useApproved(planned: PlannedUse, answer: GivenAnswer, signal: AbortSignal): Promise<{ text: string; isError: boolean }> {
    const { toolbox } = this.#parts
    const { tool: name } = planned
    const approval = this.#approvals.take(planned, answer)
    if (approval.kind === 'refused') return { text: approval.text, isError: true }
    const tool = toolbox.tools.get(name)
    // Before the rules of the definition, which read the fields that the schema has.
    const parsed = tool !== undefined && approval.isEdited && 'safeParse' in tool.inputSchema ? tool.inputSchema.safeParse(approval.input) : null
    if (parsed?.success === false) return { text: `${name} was approved with other arguments, which are not accepted: ${parsed.error.message}`, isError: true }
    const refusal = toolbox.refusal(name, approval.input)
    if (tool === undefined || refusal !== null) return { text: texts.toolRefused(name, refusal ?? '', toolbox.tools.keys()), isError: true }
    const end = await this.#execute(tool, approval.input, signal)
    if ('awaitedId' in end) return { text: `${name} cannot wait.`, isError: true }
    return approval.isEdited ? { ...end, text: `${texts.EDITED}\n${JSON.stringify(approval.input)}\n\n${end.text}` } : end
  }

  /** Asks whether a use may be executed. The run waits for that, and executes it when it goes on. */
  async #askFirst(planned: PlannedUse, signal: AbortSignal): Promise<ToolEnd> {
    const { access, brief } = this.#parts.run
    const question = this.#approvals.questionOf(planned)
    if ('refusal' in question) return { text: question.refusal, isError: true }
    try {
      const { question_id: id } = await callMuster(access, 'POST', `/subtasks/${brief.subtaskId}/questions`, signal, question)
      const questionId = id as string
      return { awaitedId: questionId, approval: { ...planned, questionId } }
    } catch (error) {
      if (signal.aborted) return { text: this.#parts.run.signal.aborted ? 'Stopped.' : texts.TOOL_INTERRUPTED, isError: true }
      return { text: `It has to be approved, and the question could not be asked. ${error instanceof ToolError ? error.message : ''}`.trim(), isError: true }
    }
  }

  async #execute(tool: RunTool, input: unknown, signal: AbortSignal): Promise<ToolEnd> {
    const { run } = this.#parts
    run.usage({ toolCalls: 1 })
    try {
      return { text: await tool.run(input, { signal }), isError: false }
    } catch (error) {
      if (error instanceof AnswerAwaited) return { awaitedId: error.questionId }
      if (signal.aborted)
        return { text: `${error instanceof ToolError ? `${error.message}\n` : ''}${run.signal.aborted ? 'Stopped.' : texts.TOOL_INTERRUPTED}`, isError: true }
      // What else goes wrong is ours, and its words may say more than the model should know.
      const failure = error instanceof ToolError ? error.message : `${tool.name} failed.`
      return { text: [failure, ...(await this.#guidesFor(failure, signal))].join('\n\n'), isError: true }
    }
  }

  /** Guides are help: without them, the failure itself is still told. */
  async #guidesFor(failure: string, signal: AbortSignal): Promise<string[]> {
    try {
      return await this.#parts.toolbox.findGuides(this.#parts.redact(failure), signal)
    } catch (error) {
      if (!signal.aborted) this.#parts.onGuidesFailed(error)
      return []
    }
  }
}

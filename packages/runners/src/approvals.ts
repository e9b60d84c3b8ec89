import { type Answer, askRulesFor, canonicalJson, mayAsk, type QuestionStatus } from '@muster/domain'
import { type Redact, redactJson } from './ai/redact.ts'
import type { RunQuestion } from './port.ts'

/** A use of a tool that has to be approved before it is executed. */
export interface PlannedUse {
  tool: string
  /** As rules speak of it: `Bash(git push)`. */
  use: string
  input: Record<string, unknown>
  /** By which it asks. */
  rules: string[]
}

/** `approved` with the input to execute, which may be another one; `refused` with the words for the model. */
export type Approval = { kind: 'approved'; input: Record<string, unknown>; isEdited: boolean } | { kind: 'refused'; text: string }

/** A use with larger arguments is refused, because a person would not read them before approving it. As large as the API accepts them. */
const ARGUMENTS_BYTES_MAX = 65_536
const SHOWN_USE = 500

/** Which uses of tools ask in one run, and what became of the questions. What was approved for the rest of the run is remembered here. */
export class Approvals {
  readonly #rules: readonly string[]
  readonly #remembered: Set<string>
  readonly #redact: Redact

  /** @param remembered of earlier attempts of the run */
  constructor(rules: readonly string[], redact: Redact, remembered: readonly string[] = []) {
    this.#rules = rules
    this.#redact = redact
    this.#remembered = new Set(remembered)
  }

  /** The rules that ask no more, because everything that they ask about is approved. */
  get remembered(): string[] {
    return [...this.#remembered]
  }

  /** Whether some uses of a tool ask. */
  mayAsk(tool: string): boolean {
    return mayAsk(this.#rules, tool)
  }

  /** The rules by which a use asks now; none where it needs no approval. */
  rulesFor(use: string): string[] {
    return this.#rules.length === 0
      ? []
      : askRulesFor(
          this.#rules.filter((rule) => !this.#remembered.has(rule)),
          use,
        )
  }

  /** The question to ask about a use; the words for the model where it cannot be asked about. */
  questionOf({ tool, use, input, rules }: PlannedUse): RunQuestion | { refusal: string } {
    const shown = this.#shown(input)
    const bytes = Buffer.byteLength(JSON.stringify(shown))
    if (bytes > ARGUMENTS_BYTES_MAX)
      return { refusal: refusalOf(tool, `It has to be approved, and its arguments have ${bytes} bytes. At most ${ARGUMENTS_BYTES_MAX} can be.`) }
    const words = this.#redact(use)
    const cut = words.length > SHOWN_USE ? `${words.slice(0, SHOWN_USE)} …` : words
    return { kind: 'approval', prompt: `May the tool ${tool} be used with these arguments? It asks by ${rules.join(', ')}.\nUse: ${cut}`, arguments: shown }
  }

  /** What an answer permits: exactly the arguments that were asked about, or those that it names instead. */
  take({ tool, input, rules }: PlannedUse, { status, answer }: { status: QuestionStatus; answer: Answer | null }): Approval {
    if (status !== 'answered' || answer?.decision !== 'approve') return { kind: 'refused', text: refusalOf(tool, reasonOf(status, answer)) }
    if (answer.always === true) for (const rule of rules) this.#remembered.add(rule)
    const { edited_arguments: edited } = answer
    // What was shown lacks secrets that the input may have, so only other arguments replace it.
    const isEdited = edited !== undefined && canonicalJson(edited) !== canonicalJson(this.#shown(input))
    return { kind: 'approved', input: isEdited ? edited : input, isEdited }
  }

  #shown(input: Record<string, unknown>): Record<string, unknown> {
    return redactJson(input, this.#redact) as Record<string, unknown>
  }
}

function refusalOf(tool: string, reason: string): string {
  return `This use of ${tool} was not executed. ${reason}`
}

function reasonOf(status: QuestionStatus, answer: Answer | null): string {
  if (status === 'expired') return 'It has to be approved, and no decision came in time.'
  if (status === 'withdrawn') return 'It has to be approved, and the question was withdrawn.'
  return typeof answer?.answer === 'string' ? `It was rejected: ${answer.answer}` : 'It was rejected.'
}

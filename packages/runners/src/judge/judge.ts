import { type Judge, type JudgeQuestion, microsAt, renderJudgeQuestion, type Settings } from '@muster/domain'
import { type AiSettings, ModelUnavailable, resolveModel } from '../ai/models.ts'
import type { Environment } from '../command/program.ts'

/** The part of the settings that a judge is made of. */
export type JudgeSettings = AiSettings & Pick<Settings, 'JUDGE_MODEL'>

export interface JudgeOptions {
  /** Variables of this process: secrets among them are taken out of errors. */
  environment: Environment
  /** For tests: how long a model may be silent, and take in all. */
  overrides?: { idleSeconds?: number; answerSeconds?: number; fetch?: typeof globalThis.fetch }
}

/** Longest time that one answer may take, in seconds, however lively its stream. */
const ANSWER_SECONDS_MAX = 300
/** The tool, its schema and what a provider adds to them: a few hundred tokens. */
const TOOL_TOKENS_MAX = 2_000
const ANY_NONCE = '0'.repeat(32)

/**
 * A model that judges outputs, over the AI SDK. Everything heavy is imported by the first question: a worker without a judge does not carry
 * it, and neither does one whose judge is never asked.
 *
 * @returns null where no provider of models is set: then others have to judge
 */
export function createJudge(settings: JudgeSettings, { environment, overrides = {} }: JudgeOptions): Judge | null {
  if (!hasProvider(settings)) return null
  const choiceOf = (question: JudgeQuestion) => resolveModel(settings, question.model ?? settings.JUDGE_MODEL ?? null)
  return {
    bound(question) {
      // A question that cannot be asked uses nothing.
      if (question.criteria.length === 0 || missingForJudge(settings, question.model).length > 0) return { tokens: 0, costUsdMicros: 0 }
      const { price } = choiceOf(question)
      // The number in the markers is random, and always as long.
      const { instructions, question: text } = renderJudgeQuestion(question, ANY_NONCE)
      const inputTokens = Buffer.byteLength(instructions) + Buffer.byteLength(text) + TOOL_TOKENS_MAX
      const outputTokens = question.answerTokensMax
      return {
        tokens: inputTokens + outputTokens,
        costUsdMicros: price === null ? null : microsAt(price, { inputTokens, cachedInputTokens: 0, outputTokens }),
      }
    },
    async judge(question, signal) {
      if (signal.aborted) return { kind: 'aborted' }
      const missing = missingForJudge(settings, question.model)
      if (missing.length > 0) return { kind: 'failed', error: missing.join(' '), retryable: false, retryAfterMs: null, usage: NO_USAGE }
      const choice = choiceOf(question)
      const model = `${choice.provider}:${choice.modelId}`
      // Without criteria, no judge is needed.
      if (question.criteria.length === 0) return { kind: 'judged', verdicts: [], model, usage: NO_USAGE }
      const { askModel } = await import('./ask-model.ts')
      return await askModel(question, signal, {
        choice,
        model,
        settings,
        environment,
        idleSeconds: overrides.idleSeconds ?? settings.MODEL_IDLE_TIMEOUT,
        answerSeconds: overrides.answerSeconds ?? ANSWER_SECONDS_MAX,
        fetch: overrides.fetch,
      })
    },
  }
}

const NO_USAGE = { inputTokens: 0, outputTokens: 0, costUsdMicros: 0 }

/** What has to be set before this model can judge; null is the judge's default. Empty when it can. */
export function missingForJudge(settings: JudgeSettings, model: string | null): string[] {
  try {
    if (model === null && settings.JUDGE_MODEL === undefined && settings.BACKGROUND_MODEL === undefined && settings.ANTHROPIC_API_KEY === undefined) {
      const provider = hasProvider(settings) ? '' : 'ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL, and '
      return [`There is no model to judge with: set ${provider}JUDGE_MODEL.`]
    }
    resolveModel(settings, model ?? settings.JUDGE_MODEL ?? null)
    return []
  } catch (error) {
    if (error instanceof ModelUnavailable) return [error.message]
    throw error
  }
}

function hasProvider({ ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL }: AiSettings): boolean {
  return ANTHROPIC_API_KEY !== undefined || OPENAI_API_KEY !== undefined || OPENAI_BASE_URL !== undefined
}

import { randomBytes } from 'node:crypto'
import { type JudgeAnswer, type JudgeQuestion, type JudgeUsage, judgeAnswerSchema, readJudgeAnswer, renderJudgeQuestion } from '@muster/domain'
import { costMicros } from '../ai/budget.ts'
import { describeFailure } from '../ai/failure.ts'
import { callModel, type ModelAnswer } from '../ai/model-call.ts'
import type { AiSettings, ModelChoice } from '../ai/models.ts'
import { loadModel } from '../ai/providers.ts'
import { createRedact } from '../ai/redact.ts'
import type { Environment } from '../command/program.ts'

export interface Asking {
  choice: ModelChoice
  /** As it is stored with the verdicts. */
  model: string
  settings: AiSettings
  environment: Environment
  idleSeconds: number
  answerSeconds: number
  fetch: typeof globalThis.fetch | undefined
}

/**
 * A tool of which the call is the answer: that is the one way to an answer in a given form which all providers know. It is not forced on the
 * model: not all servers can do that, and of an answer without it the SDK would keep nothing, not even what it took.
 */
const TOOL = 'give_verdicts'
const TOOLS = { [TOOL]: { description: 'Takes your verdicts, one for each criterion. Call it once.', inputSchema: judgeAnswerSchema } }
const HOW_TO_ANSWER = `Answer by one call of the tool ${TOOL}, without any text.`
const NONCE_BYTES = 16
const NO_USAGE: JudgeUsage = { inputTokens: 0, outputTokens: 0, costUsdMicros: 0 }

/** Asks a model once. The caller decides whether and when to ask again. */
export async function askModel(question: JudgeQuestion, signal: AbortSignal, asking: Asking): Promise<JudgeAnswer> {
  const { choice, model, settings, environment, idleSeconds, answerSeconds } = asking
  const failed = (error: string, retryable: boolean, usage = NO_USAGE, retryAfterMs: number | null = null): JudgeAnswer => {
    return { kind: 'failed', error, retryable, retryAfterMs, usage }
  }
  const tooLong = AbortSignal.timeout(answerSeconds * 1_000)
  const texts = renderJudgeQuestion(question, randomBytes(NONCE_BYTES).toString('hex'))
  const end = await callModel({
    model: await loadModel(choice, settings, asking.fetch),
    instructions: `${texts.instructions}\n${HOW_TO_ANSWER}`,
    messages: [{ role: 'user', content: texts.question }],
    tools: TOOLS,
    signal: AbortSignal.any([signal, tooLong]),
    idleSeconds,
    answerTokensMax: question.answerTokensMax ?? undefined,
  })
  if (signal.aborted) return { kind: 'aborted' }
  if (end.kind === 'aborted') return failed(`The model "${model}" was not done after ${answerSeconds} s.`, true)
  if (end.kind === 'failed') {
    const secrets = { ANTHROPIC_API_KEY: settings.ANTHROPIC_API_KEY, OPENAI_API_KEY: settings.OPENAI_API_KEY }
    const failure = describeFailure(end.error, choice, createRedact(environment, secrets))
    return failed(failure.message, failure.retryable, NO_USAGE, failure.retryAfterMs)
  }
  const usage = usageOf(end.answer, choice)
  if (end.answer.finish === 'refused') return failed(`The model "${model}" refused to judge.`, false, usage)
  const verdicts = readJudgeAnswer(answerOf(end.answer), question.criteria)
  if (verdicts === null) {
    const how = end.answer.finish === 'length' ? 'was cut off at its limit' : 'is not in the form of verdicts'
    return failed(`The answer of the model "${model}" ${how}.`, true, usage)
  }
  return { kind: 'judged', verdicts, model, usage }
}

function usageOf({ usage }: ModelAnswer, { price, modelId }: ModelChoice): JudgeUsage {
  const { inputTokens, cachedInputTokens = 0, outputTokens } = usage
  return { inputTokens, cachedInputTokens, outputTokens, costUsdMicros: costMicros(usage, price), model: modelId }
}

/** The arguments of the call; or JSON in the text, from models that do not call tools. */
function answerOf({ toolRequests, text }: ModelAnswer): unknown {
  const request = toolRequests.find(({ name, problem }) => name === TOOL && problem === null)
  if (request !== undefined) return request.input
  const [from, to] = [text.indexOf('{'), text.lastIndexOf('}')]
  try {
    return from < 0 ? undefined : JSON.parse(text.slice(from, to + 1))
  } catch {
    return undefined
  }
}

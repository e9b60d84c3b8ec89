import type { LanguageModel } from 'ai'
import type { AiSettings, ModelChoice } from './models.ts'

const ANTHROPIC_URL = 'https://api.anthropic.com'
const OPENAI_URL = 'https://api.openai.com/v1'

/**
 * The SDK's handle of a model. The SDKs are loaded here and not before: a worker without such a run should not carry them. Keys and
 * addresses are always passed on, so that no SDK looks into the environment for them.
 *
 * @param fetch in place of the global one, for tests
 */
export async function loadModel({ provider, modelId }: ModelChoice, settings: AiSettings, fetch?: typeof globalThis.fetch): Promise<LanguageModel> {
  const own = fetch === undefined ? {} : { fetch }
  if (provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ ...own, apiKey: settings.ANTHROPIC_API_KEY ?? '', baseURL: versioned(settings.ANTHROPIC_BASE_URL ?? ANTHROPIC_URL) })(modelId)
  }
  if (settings.OPENAI_BASE_URL === undefined) {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createOpenAI({ ...own, apiKey: settings.OPENAI_API_KEY ?? '', baseURL: OPENAI_URL })(modelId)
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const key = settings.OPENAI_API_KEY === undefined ? {} : { apiKey: settings.OPENAI_API_KEY }
  return createOpenAICompatible({ ...own, ...key, name: 'openai-compatible', baseURL: settings.OPENAI_BASE_URL, includeUsage: true })(modelId)
}

/** With the version at its end, which Claude Code's variable of this name goes without, and the SDK's does not. */
function versioned(url: string): string {
  const trimmed = url.replace(/\/+$/, '')
  return /\/v\d+$/.test(trimmed) ? trimmed : `${trimmed}/v1`
}

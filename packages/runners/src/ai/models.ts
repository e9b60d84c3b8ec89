import { type ModelPrice, priceOfModel, type Settings } from '@muster/domain'

/** The part of the settings that the runner `ai` is made of. */
export type AiSettings = Pick<
  Settings,
  | 'ANTHROPIC_API_KEY'
  | 'ANTHROPIC_BASE_URL'
  | 'OPENAI_API_KEY'
  | 'OPENAI_BASE_URL'
  | 'BACKGROUND_MODEL'
  | 'MODEL_ALIASES'
  | 'MODEL_PRICES'
  | 'MODEL_IDLE_TIMEOUT'
  | 'ENABLE_BASH_TOOL'
>

/** What the runner `ai` goes by beside its models. */
export type AiRunnerSettings = AiSettings & Pick<Settings, 'MCP_SERVERS' | 'WEB_SEARCH_PROVIDER' | 'WEB_SEARCH_API_KEY' | 'WEB_SEARCH_URL'>

export type ProviderName = 'anthropic' | 'openai'

/** A model that can be called. */
export interface ModelChoice {
  provider: ProviderName
  modelId: string
  /** Null if the price is unknown. */
  price: ModelPrice | null
}

/** No model can be called, and why: for the eyes of an operator, so it says what to set. */
export class ModelUnavailable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ModelUnavailable'
  }
}

/** What definitions of sub-agents call models without naming one. MODEL_ALIASES maps them otherwise. */
const DEFAULT_ALIASES: Readonly<Record<string, string>> = {
  haiku: 'anthropic:claude-haiku-5-5',
  sonnet: 'anthropic:claude-sonnet-5-5',
  opus: 'anthropic:claude-opus-5-5',
}
/** A definition that leaves the choice to its runner. */
const NO_CHOICE = 'inherit'
const PROVIDERS: readonly ProviderName[] = ['anthropic', 'openai']
const MISSING: Record<ProviderName, string> = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY, or OPENAI_BASE_URL' }

function isConfigured(settings: AiSettings, provider: ProviderName): boolean {
  return provider === 'anthropic' ? settings.ANTHROPIC_API_KEY !== undefined : settings.OPENAI_API_KEY !== undefined || settings.OPENAI_BASE_URL !== undefined
}

/** What has to be set before the runner `ai` can run a subtask that names no model; empty when it can. */
export function missingForAi(settings: AiSettings): string[] {
  if (!PROVIDERS.some((provider) => isConfigured(settings, provider))) {
    return [`Set ANTHROPIC_API_KEY, OPENAI_API_KEY, or OPENAI_BASE_URL for a server that speaks like OpenAI.`]
  }
  try {
    resolveModel(settings, null)
    return []
  } catch (error) {
    if (error instanceof ModelUnavailable) return [error.message]
    throw error
  }
}

/**
 * The model that a name means: an alias, `anthropic:<model>` or `openai:<model>`, or a plain name, which belongs to the only provider
 * that is set, or to the one whose names look like it. Null means BACKGROUND_MODEL.
 *
 * @throws ModelUnavailable
 */
export function resolveModel(settings: AiSettings, requested: string | null): ModelChoice {
  const asked = requested === null || requested === NO_CHOICE ? defaultName(settings) : requested
  const name = ownValue(settings.MODEL_ALIASES, asked) ?? ownValue(DEFAULT_ALIASES, asked) ?? asked
  const { provider, modelId } = splitName(settings, name)
  if (!isConfigured(settings, provider)) {
    const alias = name === asked ? '' : ` (that is ${name})`
    throw new ModelUnavailable(
      `The model "${asked}"${alias} is one of ${provider}: set ${MISSING[provider]}, or map the name to another model in MODEL_ALIASES.`,
    )
  }
  const price = [asked, name, `${provider}:${modelId}`, modelId].map((key) => ownValue(settings.MODEL_PRICES, key)).find((found) => found !== undefined)
  return { provider, modelId, price: price ?? (isOwnServer(settings, provider) ? null : priceOfModel(modelId, settings.MODEL_PRICES)) }
}

/** Behind another address than the provider's own, list prices need not hold. */
function isOwnServer(settings: AiSettings, provider: ProviderName): boolean {
  return (provider === 'anthropic' ? settings.ANTHROPIC_BASE_URL : settings.OPENAI_BASE_URL) !== undefined
}

function defaultName(settings: AiSettings): string {
  if (settings.BACKGROUND_MODEL !== undefined) return settings.BACKGROUND_MODEL
  if (isConfigured(settings, 'anthropic')) return 'sonnet'
  throw new ModelUnavailable('Set BACKGROUND_MODEL to a model of OPENAI_BASE_URL or of OpenAI: it runs the subtasks that name none.')
}

function splitName(settings: AiSettings, name: string): { provider: ProviderName; modelId: string } {
  // Only these prefixes count: names of models contain colons themselves ("llama3.1:8b").
  const prefixed = PROVIDERS.find((provider) => name.startsWith(`${provider}:`))
  if (prefixed !== undefined) return { provider: prefixed, modelId: name.slice(prefixed.length + 1) }
  const configured = PROVIDERS.filter((provider) => isConfigured(settings, provider))
  if (configured.length === 1) return { provider: configured[0] as ProviderName, modelId: name }
  if (/^claude-/.test(name)) return { provider: 'anthropic', modelId: name }
  if (/^(gpt|o\d|chatgpt)/.test(name)) return { provider: 'openai', modelId: name }
  throw new ModelUnavailable(`Two providers are set, and the model "${name}" may be of either: write anthropic:${name} or openai:${name}.`)
}

function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

import { parseSettings } from '@muster/domain'
import { type AiRunnerOptions, createAiRunner } from '../ai/runner.ts'
import type { Guard } from '../command/guard.ts'
import type { Runner } from '../port.ts'
import { SILENT_LOG } from './command.ts'

/** Keys that only the provider may see. */
export const KEYS = { ANTHROPIC_API_KEY: 'sk-ant-secret-of-the-operator', OPENAI_API_KEY: 'sk-oai-secret-of-the-operator' }

/** The environment of a worker: what it knows is none of a model's business. */
export const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LANG: 'C.UTF-8',
  HOME: '/nowhere',
  DATABASE_URL: 'postgres://muster:secret@db/muster',
  ...KEYS,
}

export interface TestModels {
  anthropicUrl: string
  openaiUrl: string
}

export type DialectName = 'anthropic' | 'openai'

/** A runner whose models are the test's. Waits are short, since no test waits for time. */
export function aiRunner(
  dialect: DialectName,
  models: TestModels,
  guard: Guard,
  own: { settings?: Record<string, string>; overrides?: AiRunnerOptions['overrides'] } = {},
): Runner {
  const provider: Record<string, string> =
    dialect === 'anthropic'
      ? { ANTHROPIC_API_KEY: KEYS.ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL: models.anthropicUrl, BACKGROUND_MODEL: 'claude-test' }
      : { OPENAI_API_KEY: KEYS.OPENAI_API_KEY, OPENAI_BASE_URL: models.openaiUrl, BACKGROUND_MODEL: 'test-model:1b' }
  const settings = parseSettings({ ...provider, ...own.settings })
  return createAiRunner(settings, { guard, log: SILENT_LOG, environment: ENVIRONMENT, baseFolder: '/', overrides: { firstWaitMs: 1, ...own.overrides } })
}

import { parseSettings, type Settings, SettingsError } from '@muster/domain'

/** What this process is started with. */
export interface ApiConfig {
  settings: Settings & { DATABASE_URL: string }
  /** The environment as a whole: its PATH decides which programs of the configuration are found. */
  environment: Record<string, string | undefined>
}

/** @throws SettingsError listing every problem */
export function readConfig(environment: Record<string, string | undefined>): ApiConfig {
  const settings = parseSettings(environment)
  const { DATABASE_URL } = settings
  if (DATABASE_URL === undefined) {
    throw new SettingsError(['DATABASE_URL: is required by this process; `npm start` brings a PostgreSQL of its own and starts everything'])
  }
  return { settings: { ...settings, DATABASE_URL }, environment }
}

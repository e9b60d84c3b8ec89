import { randomBytes } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Settings } from '@muster/domain'

const FILE = 'secrets-keys'
const KEY_BYTES = 32

/** The SECRETS_KEYS of a data folder; undefined if it has none. */
export async function readSecretsKeysFile(settings: Settings): Promise<string | undefined> {
  try {
    return (await readFile(join(settings.DATA_DIR, FILE), 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The same, made if it is missing. A file that a crash left half-written never has its name. */
export async function ensureSecretsKeysFile(settings: Settings): Promise<string> {
  const path = join(settings.DATA_DIR, FILE)
  const known = await readSecretsKeysFile(settings)
  if (known !== undefined) return known
  const draft = `${path}.${process.pid}`
  await writeFile(draft, `local:${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600 })
  // Another process may have made one meanwhile: the first stays.
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  return (await readSecretsKeysFile(settings)) as string
}

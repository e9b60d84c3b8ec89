import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { DomainError, readSecretsKeys, type SecretsKey, type Settings } from '@muster/domain'

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

type WithKeys = { settings: Pick<Settings, 'SECRETS_KEYS'> }

/** @throws DomainError `secrets_not_configured` */
function keysOf({ settings }: WithKeys): SecretsKey[] {
  const keys = settings.SECRETS_KEYS === undefined ? null : readSecretsKeys(settings.SECRETS_KEYS)
  if (keys !== null) return keys
  throw new DomainError(
    'secrets_not_configured',
    'This server has no key to encrypt secrets with, so it stores none. Set SECRETS_KEYS, for the API and the workers: see docs/deliveries.md.',
  )
}

/** The id of the key that seals. @throws DomainError `secrets_not_configured` */
export function currentKeyId(deps: WithKeys): string {
  return (keysOf(deps)[0] as SecretsKey).id
}

/**
 * Encrypts a secret with the current key of SECRETS_KEYS. The text begins with the id of that key.
 *
 * @param owner the id of the row that keeps it: a sealed secret that is copied into another row cannot be opened
 * @throws DomainError `secrets_not_configured`
 */
export function sealSecret(deps: WithKeys, owner: string, secret: string): string {
  const { id, key } = keysOf(deps)[0] as SecretsKey
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(owner))
  const sealed = Buffer.concat([iv, cipher.update(secret, 'utf8'), cipher.final()])
  return `${id}.${Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')}`
}

/**
 * Decrypts what `sealSecret` made.
 *
 * @throws DomainError `secrets_not_configured` if the key that sealed it is none of SECRETS_KEYS, or is another one of the same id
 */
export function openSecret(deps: WithKeys, owner: string, sealed: string): string {
  const [id = '', base64 = ''] = sealed.split('.')
  const found = keysOf(deps).find((key) => key.id === id)
  const bytes = Buffer.from(base64, 'base64url')
  try {
    if (found === undefined || bytes.length < IV_BYTES + TAG_BYTES) throw new Error('no such key')
    const decipher = createDecipheriv(ALGORITHM, found.key, bytes.subarray(0, IV_BYTES))
    decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-TAG_BYTES))
    return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    throw new DomainError(
      'secrets_not_configured',
      `A stored secret cannot be decrypted: the key ${JSON.stringify(id)} that encrypted it is not in SECRETS_KEYS.`,
    )
  }
}

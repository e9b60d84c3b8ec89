/** A key of SECRETS_KEYS. */
export interface SecretsKey {
  id: string
  /** 32 bytes. */
  key: Buffer
}

const KEY_BYTES = 32
const ENTRY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/

/** The keys of SECRETS_KEYS, the current one first; null if the text is none. */
export function readSecretsKeys(text: string): SecretsKey[] | null {
  const keys: SecretsKey[] = []
  for (const entry of text.split(',').map((part) => part.trim())) {
    const [, id, base64] = ENTRY.exec(entry) ?? []
    if (id === undefined || base64 === undefined || keys.some((key) => key.id === id)) return null
    const key = Buffer.from(base64, 'base64')
    if (key.length !== KEY_BYTES) return null
    keys.push({ id, key })
  }
  return keys
}

export function isSecretsKeys(text: string): boolean {
  return readSecretsKeys(text) !== null
}

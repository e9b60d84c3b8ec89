import { sealedSecrets } from '@muster/db'
import type { Deps } from '../core/ctx.ts'
import { currentKeyId, openSecret, sealSecret } from '../core/secret-box.ts'

const BATCH = 100

/**
 * Encrypts the secrets of all projects with the current key of SECRETS_KEYS, those that another key has encrypted. Returns how many receivers it
 * changed. It may be repeated, and run while the server works.
 *
 * @throws DomainError `secrets_not_configured` if the key of one is missing; those before it stay as they are
 */
export async function sealAllAgain(deps: Pick<Deps, 'dispatchDb' | 'settings'>): Promise<number> {
  const keyId = currentKeyId(deps)
  let count = 0
  for (;;) {
    const rows = await sealedSecrets.findSealedByOthers(deps.dispatchDb, keyId, BATCH)
    for (const row of rows) {
      const again = (sealed: string | null) => (sealed === null ? null : sealSecret(deps, row.id, openSecret(deps, row.id, sealed)))
      await sealedSecrets.storeSealedAgain(deps.dispatchDb, row, { id: row.id, secret: again(row.secret), previousSecret: again(row.previousSecret) })
    }
    count += rows.length
    if (rows.length < BATCH) return count
  }
}

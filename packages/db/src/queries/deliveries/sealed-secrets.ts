// SQL: the rotation of keys works through the receivers of all projects without a transaction, which Drizzle's connection does not offer.
import type { Database } from '../../client.ts'

export interface SealedSecrets {
  id: string
  secret: string | null
  previousSecret: string | null
}

/** Receivers of all projects with a secret that another key than this has sealed. */
export async function findSealedByOthers(database: Database, keyId: string, limit: number): Promise<SealedSecrets[]> {
  return await database.sql<SealedSecrets[]>`
    select id, secret, previous_secret as "previousSecret" from receivers
    where not starts_with(secret, ${`${keyId}.`}) or not starts_with(previous_secret, ${`${keyId}.`}) order by id limit ${limit}`
}

/** Stores secrets that were sealed again, unless they have changed meanwhile. */
export async function storeSealedAgain(database: Database, before: SealedSecrets, after: SealedSecrets): Promise<void> {
  await database.sql`
    update receivers set secret = ${after.secret}, previous_secret = ${after.previousSecret}
    where id = ${before.id} and secret is not distinct from ${before.secret} and previous_secret is not distinct from ${before.previousSecret}`
}

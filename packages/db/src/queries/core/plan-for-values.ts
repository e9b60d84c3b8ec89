// SQL: first in a pipeline. Drizzle would send it after the SQL that follows.
import type { Tx } from '../../client.ts'

/** Plans the later statements of this transaction for their values, because a rare value has to be read another way than a frequent one. */
export async function planForValues(tx: Tx): Promise<void> {
  await tx.sql`set local plan_cache_mode = force_custom_plan`
}

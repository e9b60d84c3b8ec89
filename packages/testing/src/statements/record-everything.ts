import { type Harness, startHarness } from '../harness.ts'
import { type Recording, recordStatements } from './record.ts'
import { storeMonthsOfWork } from './stored-rows.ts'
import { EVERYTHING_SETTINGS, useEverything } from './use-everything.ts'

/**
 * A server with the rows of some months, and the statements of one use of every operation there. Close the recording before the harness.
 *
 * @param rows of each large table
 */
export async function recordEverything(rows: number): Promise<{ harness: Harness; recording: Recording }> {
  const harness = await startHarness({ settings: EVERYTHING_SETTINGS })
  await storeMonthsOfWork(harness.admin, rows)
  const recording = recordStatements(harness)
  await useEverything(recording.ctx, harness)
  return { harness, recording }
}

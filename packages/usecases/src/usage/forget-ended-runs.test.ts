import { randomUUID } from 'node:crypto'
import { storedBytes } from '@muster/db'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { type Harness, startHarness } from '@muster/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

it('forgets what ended runs have stored, but waits for its next time while changes are added up', async () => {
  const { admin, deps } = harness
  const runId = randomUUID()
  const stored = () => admin`select from muster_system.stored_bytes where run_id = ${runId}`
  await admin`insert into muster_system.stored_bytes (project_id, run_id, bytes) values (${DEFAULT_PROJECT_ID}, ${runId}, 5)`
  await admin.begin(async (adding) => {
    await adding`select pg_advisory_xact_lock(7300, 4)`
    await storedBytes.forgetEndedRuns(deps.dispatchDb)
    expect(await stored()).toHaveLength(1)
  })
  await storedBytes.forgetEndedRuns(deps.dispatchDb)
  expect(await stored()).toHaveLength(0)
})

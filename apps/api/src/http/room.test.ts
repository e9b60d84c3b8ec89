import { transaction } from '@muster/db'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { type Harness, startHarness } from '@muster/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { withRoom } from './room.ts'

const LIMIT = 1_000_000

let harness: Harness

beforeAll(async () => {
  harness = await startHarness({ settings: { PROJECT_STORED_BYTES_CEILING: String(LIMIT) } })
})

afterAll(() => harness.close())

it('ends in its own time where no connection is free, does nothing then, and gives back the room that comes too late', async () => {
  const { ctx } = harness
  const free = Promise.withResolvers<void>()
  const connections = ctx.db.sql.options.max
  const held = Array.from({ length: connections }, () => transaction(ctx.db, DEFAULT_PROJECT_ID, () => free.promise))
  const work = vi.fn()
  try {
    await expect(withRoom(ctx, LIMIT / 2, work, 50)).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('Nothing has been stored') })
    expect(work).not.toHaveBeenCalled()
  } finally {
    free.resolve()
    await Promise.all(held)
  }
  // It would not fit beside the half that came too late, which counts until stored bytes are looked up again.
  await expect.poll(() => withRoom(ctx, LIMIT - 10_000, async () => 'stored').catch(({ code }) => code), { timeout: 5_000 }).toBe('stored')
})

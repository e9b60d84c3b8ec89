import { connect } from '@muster/db'
import { type TestDatabase, testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBoss } from './index.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await testDatabase()
})

afterAll(() => database.drop())

describe('statements of the queue that bring their own BEGIN', () => {
  it('leave no failed transaction to the next user of their connection', async () => {
    const pool = connect(database.appUrl, { role: 'muster_dispatch', connectionsMax: 1, applicationName: 'boss-test' })
    try {
      const boss = createBoss(pool, { supervise: false, onWarning: () => {}, onError: () => {} })
      await expect(boss.getDb().executeSql('begin; select 1 / 0; commit;')).rejects.toMatchObject({ code: '22012' })
      expect(await pool.sql`select 1 as one`).toEqual([{ one: 1 }])
    } finally {
      await pool.close()
    }
  })
})

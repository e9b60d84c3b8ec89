import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { DEFAULT_PROJECT_ID, DomainError } from '@muster/domain'
import { type TestDatabase, testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, type Database, type Tx } from './client.ts'
import { createReplica, turnstile } from './replica.ts'

let database: TestDatabase
let primary: Database
let silent: Server

beforeAll(async () => {
  database = await testDatabase()
  primary = connect(database.appUrl, { role: 'muster_app', connectionsMax: 2, applicationName: 'primary' })
  // Takes connections and says nothing.
  silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
})
afterAll(async () => {
  await primary.close()
  await database.drop()
  silent.close()
})

const countProjects = async ({ sql }: Tx) => (await sql`select from projects`).length

describe('a question that calls share', () => {
  it('is asked after each call, one at a time, and not once for each', async () => {
    const asked: (() => void)[] = []
    const ask = turnstile(async () => {
      await new Promise<void>((resolve) => asked.push(resolve))
      return asked.length
    })
    const first = ask()
    const [second, third] = [ask(), ask()]
    expect(asked).toHaveLength(1)
    asked[0]?.()
    expect(await first).toBe(1)
    await new Promise((resolve) => setImmediate(resolve))
    expect(asked).toHaveLength(2)
    const fourth = ask()
    asked[1]?.()
    expect(await Promise.all([second, third])).toEqual([2, 2])
    await new Promise((resolve) => setImmediate(resolve))
    asked[2]?.()
    expect(await fourth).toBe(3)
  })

  it('that failed is asked again', async () => {
    let tries = 0
    const ask = turnstile(async () => {
      tries += 1
      if (tries === 1) throw new Error('no')
      return tries
    })
    const [first, second] = await Promise.allSettled([ask(), ask()])
    expect([first?.status, second]).toEqual(['rejected', { status: 'fulfilled', value: 2 }])
  })
})

describe('reads are answered by the primary, without an error, where the standby', () => {
  const at = (change: { password?: string; port?: () => number }) => () => {
    const url = new URL(database.appUrl)
    if (change.password !== undefined) url.password = change.password
    if (change.port !== undefined) url.port = String(change.port())
    return url.href
  }
  it.each([
    ['takes writes', at({}), 'takes writes'],
    ['refuses the login', at({ password: 'wrong' }), 'cannot be read (28P01)'],
    ['is not there', at({ port: () => 1 }), 'cannot be read (ECONNREFUSED)'],
    ['says nothing', at({ port: () => (silent.address() as AddressInfo).port }), 'does not answer in time'],
  ])('%s', async (_, url, why) => {
    const problems: string[] = []
    const standby = connect(url(), { role: 'muster_app', connectionsMax: 2, applicationName: 'standby', isPooled: true })
    const replica = createReplica(primary, standby, (problem) => problems.push(problem))
    for (let nth = 0; nth < 5; nth += 1) expect(await replica.read(DEFAULT_PROJECT_ID, countProjects)).toBe(1)
    expect(replica.counts).toEqual({ standby: 0, behind: 0, failed: 5 })
    expect(await replica.look()).toContain(why)
    expect(problems).toEqual([expect.stringContaining(why)])
    await replica.close()
  })

  it('was not tried yet and fails: a look says so', async () => {
    const standby = connect(at({ port: () => 1 })(), { role: 'muster_app', connectionsMax: 2, applicationName: 'standby', isPooled: true })
    const replica = createReplica(primary, standby, () => {})
    expect(await replica.look()).toContain('ECONNREFUSED')
    await replica.close()
  })

  it('is not used; what the caller did wrong is still an error', async () => {
    const standby = connect(database.appUrl, { role: 'muster_app', connectionsMax: 2, applicationName: 'standby', isPooled: true })
    const replica = createReplica(primary, standby, () => {})
    const refuse = async () => {
      throw new DomainError('not_found', 'There is no such task.')
    }
    await expect(replica.read(DEFAULT_PROJECT_ID, refuse)).rejects.toMatchObject({ code: 'not_found' })
    await replica.close()
  })
})

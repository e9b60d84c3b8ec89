import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type TestDatabase, testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { requireUsableDatabase, whenUsable } from './usable-database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

function waiting() {
  const stopping = new AbortController()
  const warn = vi.fn()
  return { stopping, warn, options: { signal: stopping.signal, log: { warn } } }
}

describe('work that waits for the database', () => {
  it('does not begin while the database is away, says so once, and ends with the signal', async () => {
    const { stopping, warn, options } = waiting()
    const work = vi.fn()
    let tries = 0
    const server = createServer((socket) => {
      tries += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const result = whenUsable(`postgres://muster@127.0.0.1:${(server.address() as AddressInfo).port}/muster`, options, work)
    await vi.waitFor(() => expect(tries).toBeGreaterThan(1), { timeout: 10_000 })
    stopping.abort()
    expect(await result).toBeUndefined()
    server.close()
    expect(warn.mock.calls).toEqual([[{}, expect.stringMatching(/^waiting for the database: PostgreSQL at .* does not answer/)]])
    expect(work).not.toHaveBeenCalled()
  })

  it('begins again when the database goes away meanwhile', async () => {
    const { warn, options } = waiting()
    const work = vi.fn<() => Promise<string>>(async () => 'done')
    work.mockRejectedValueOnce(Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' }))
    expect(await whenUsable(database.appUrl, options, work)).toBe('done')
    expect(work).toHaveBeenCalledTimes(2)
    expect(warn).toHaveBeenCalledTimes(1)
  })

  it('fails with an error that waiting does not cure', async () => {
    const { options } = waiting()
    await expect(whenUsable(database.adminUrl, options, async () => {})).rejects.toThrow(/can bypass row-level security/)
    await expect(whenUsable(database.appUrl, options, () => Promise.reject(new TypeError('defect')))).rejects.toThrow('defect')
  })
})

it('a server that has made no socket is said not to listen there, with the socket', async () => {
  await expect(requireUsableDatabase('postgres://muster@%2Fnowhere:5433/muster')).rejects.toThrow(
    'No PostgreSQL listens at /nowhere/.s.PGSQL.5433 (DATABASE_URL): start it there, or correct DATABASE_URL.',
  )
})

it('a pooler beside PostgreSQL itself that refuses a parameter of its address is refused with the name of that parameter', async () => {
  const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: lock_timeout\0\0')
  const length = Buffer.alloc(4)
  length.writeInt32BE(fields.length + 4)
  const pooler = createServer((socket) => {
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, fields])))
  }).listen(0, '127.0.0.1')
  await once(pooler, 'listening')
  const server = `127.0.0.1:${(pooler.address() as AddressInfo).port}`
  await expect(requireUsableDatabase(database.appUrl, { pooledUrl: `postgres://muster@${server}/muster?lock_timeout=9` })).rejects.toThrow(
    `The pooler at ${server} refuses a parameter of DATABASE_URL (unsupported startup parameter: lock_timeout): remove it from DATABASE_URL, or name it in ignore_startup_parameters of that pooler.`,
  )
  pooler.close()
})

import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { startDatabaseProxy, startScriptedPostgres, type TestDatabase, testDatabase } from '@muster/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CommitUnknownError, connect, type Database, isDatabaseUnavailable, transaction, unavailable, writeOnce } from './client.ts'
import { requireUsableDatabase } from './usable-database.ts'

/** The driver, when a connection breaks at a bad moment: patches/postgres@3.4.9.patch, docs/adr/0006-a-patched-driver.md. */
describe('a connection that is lost', () => {
  let database: TestDatabase
  let admin: postgres.Sql
  let db: Database
  beforeAll(async () => {
    database = await testDatabase()
    admin = postgres(database.adminUrl, { max: 1, onnotice: () => {} })
    db = connect(database.appUrl, { role: 'muster_dispatch', connectionsMax: 1, applicationName: 'connection-loss' })
  })
  afterAll(async () => {
    await db.close()
    await admin.end()
    await database.drop()
  })

  /** Ends the one session of the pool, and waits until the server has closed it. */
  const cut = async (pid: number) => {
    await admin`select pg_terminate_backend(${pid}, 5000)`
  }
  const pidOf = async (sql: postgres.Sql) => ((await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0] as { pid: number }).pid

  it('fails the transaction as unavailable and leaves the pool whole, also many times over', async () => {
    for (let round = 1; round <= 5; round += 1) {
      const lost = transaction(db, null, async (tx) => {
        await cut(await pidOf(tx.sql))
        await tx.sql`select 1`
      })
      await expect(lost).rejects.toSatisfy(isDatabaseUnavailable)
      await expect(pidOf(db.sql)).resolves.toBeGreaterThan(0)
    }
  })

  it.each([
    ['sent alone', false],
    ['sent behind the last statements', true],
  ])('leaves open whether the transaction took effect where the answer to its COMMIT is lost (%s)', async (_, together) => {
    const proxy = await startDatabaseProxy(database.appUrl)
    const behind = connect(proxy.url, { role: 'muster_dispatch', connectionsMax: 1, applicationName: 'connection-loss' })
    const name = `commit-${together}`
    const insert = (tx: { sql: postgres.Sql }) => tx.sql`insert into muster_system.workers (id, runners, slots) values (${name}, ${['own']}, 1)`
    try {
      await behind.sql`select 1`
      const lost = proxy.loseCommitOf(name)
      const committed = transaction(behind, null, async (tx) => {
        if (together) tx.withCommit(insert(tx))
        else await insert(tx)
      })
      const error = await committed.catch((reason: unknown) => reason)
      await lost
      expect(error).toBeInstanceOf(CommitUnknownError)
      expect(isDatabaseUnavailable(error)).toBe(true)
      expect(unavailable(error).message).toContain('may or may not have taken effect')
      expect(unavailable(error, true).message).not.toContain('taken effect')
      expect(await admin`select from muster_system.workers where id = ${name}`).toHaveLength(1)
    } finally {
      await behind.close()
      await proxy.close()
    }
  })

  it('leaves open whether a statement took effect that commits by itself, where its answer is lost', async () => {
    const lost = writeOnce(db, DEFAULT_PROJECT_ID, async ({ sql }) => {
      await cut(await pidOf(sql))
      await sql`select 1`
    })
    await expect(lost).rejects.toBeInstanceOf(CommitUnknownError)
    await expect(writeOnce(db, DEFAULT_PROJECT_ID, ({ sql }) => sql`select 1 / 0`)).rejects.toThrow('division by zero')
    expect(await writeOnce(db, DEFAULT_PROJECT_ID, ({ sql }) => sql`select 1 as one`)).toEqual([{ one: 1 }])
  })

  it('rolls back a transaction that it lost before its COMMIT, and does not call that uncertain', async () => {
    const lost = transaction(db, null, async (tx) => {
      await cut(await pidOf(tx.sql))
      await tx.sql`select 1`
    })
    const error = await lost.catch((reason: unknown) => reason)
    expect(error).not.toBeInstanceOf(CommitUnknownError)
    expect(unavailable(error).message).toBe('The database is not reachable at the moment. Try again shortly.')
  })

  it('never lets a transaction go on in the session of the one after it', async () => {
    const [isLost, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const straggler = Promise.withResolvers<unknown>()
    const lost = transaction(db, null, async (tx) => {
      await cut(await pidOf(tx.sql))
      await tx.sql`select 1`.catch(() => isLost.resolve())
      // By now the pool has reconnected, and another transaction uses the connection.
      await next.promise
      await pidOf(tx.sql).then(straggler.resolve, straggler.reject)
    })
    const failed = expect(lost).rejects.toSatisfy(isDatabaseUnavailable)
    await isLost.promise
    await transaction(db, null, async (tx) => {
      const before = await pidOf(tx.sql)
      next.resolve()
      await expect(straggler.promise).rejects.toSatisfy(isDatabaseUnavailable)
      expect(await pidOf(tx.sql)).toBe(before)
    })
    await failed
  })

  it('leaves nothing of what was being sent to the connection after it', async () => {
    const proxy = await startDatabaseProxy(database.appUrl)
    const two = connect(proxy.url, { role: 'muster_dispatch', connectionsMax: 2, applicationName: 'connection-loss' })
    // Both connections are cut at once, and what the first was asked for is asked for again, of the second, before it has heard that it is cut too.
    for (let round = 1; round <= 5; round += 1) {
      await Promise.all([1, 2].map(() => two.sql`select pg_sleep(0.02)`))
      const [slow, idle] = [two.sql`select pg_sleep(5)`, two.sql`select 1`]
      const again = slow.catch(() => Promise.allSettled([two.sql`select 1`, two.sql`select 2`]))
      await idle
      proxy.cut()
      await again
      await expect(Promise.all([pidOf(two.sql), pidOf(two.sql)])).resolves.toHaveLength(2)
    }
    await two.close()
    await proxy.close()
  })

  it('fails what the driver asks of a new connection by itself', async () => {
    const proxy = await startDatabaseProxy(database.appUrl)
    const behind = connect(proxy.url, { role: 'muster_dispatch', connectionsMax: 1, applicationName: 'connection-loss' })
    proxy.cutAt('pg_catalog.pg_type')
    await expect(behind.sql`select 1`).rejects.toSatisfy(isDatabaseUnavailable)
    await expect(pidOf(behind.sql)).resolves.toBeGreaterThan(0)
    await behind.close()
    await proxy.close()
  })

  it('fails a transaction of the driver itself, and ends no process', async () => {
    const single = postgres(database.appUrl, { max: 1, onnotice: () => {} })
    const late = Promise.withResolvers<unknown>()
    const lost = single.begin(async (sql) => {
      await cut(await pidOf(sql as unknown as postgres.Sql))
      await new Promise((resolve) => setTimeout(resolve, 20))
      await sql`select 1`.catch(late.resolve)
    })
    await expect(lost).rejects.toSatisfy(isDatabaseUnavailable)
    expect(await late.promise).toSatisfy(isDatabaseUnavailable)
    await expect(pidOf(single)).resolves.toBeGreaterThan(0)
    await single.end()
  })

  it('answers the statements that were not sent yet', async () => {
    const reserved = await db.sql.reserve()
    const pid = await pidOf(reserved)
    // The driver sends up to 100 statements ahead.
    const statements = Array.from({ length: 150 }, (_, place) => (place === 0 ? reserved`select pg_sleep(5)` : reserved`select 1`))
    const answers = Promise.allSettled(statements)
    await cut(pid)
    expect(new Set((await answers).map(({ status }) => status))).toEqual(new Set(['rejected']))
    reserved.release()
  })

  it('gives its error to no statement of the connection after it', async () => {
    for (let round = 1; round <= 3; round += 1) {
      const pid = await pidOf(db.sql)
      await cut(pid)
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(await pidOf(db.sql)).not.toBe(pid)
    }
  })

  it('gives a reserved connection back that was lost meanwhile', async () => {
    const reserved = await db.sql.reserve()
    await cut(await pidOf(reserved))
    await expect(reserved`select 1`).rejects.toSatisfy(isDatabaseUnavailable)
    await expect(reserved`select 1`).rejects.toSatisfy(isDatabaseUnavailable)
    reserved.release()
    await expect(pidOf(db.sql)).resolves.toBeGreaterThan(0)
  })

  it('is refused to a statement that comes after its release', async () => {
    const reserved = await db.sql.reserve()
    const late = reserved`select 1`
    reserved.release()
    await expect(late).rejects.toMatchObject({ code: 'CONNECTION_RELEASED' })
    await expect(pidOf(db.sql)).resolves.toBeGreaterThan(0)
  })

  it('is closed after the last transaction of a pool that ends, and not opened again', async () => {
    const ending = connect(database.appUrl, { role: 'muster_dispatch', connectionsMax: 1, applicationName: 'connection-loss' })
    const closed = vi.fn()
    const underWay = transaction(ending, null, async (tx) => {
      const pid = await pidOf(tx.sql)
      void ending.close().then(closed)
      await tx.sql`select pg_sleep(0.05)`
      return pid
    })
    await expect(underWay).resolves.toBeGreaterThan(0)
    // Not after five seconds, when the pool would cut what is left.
    await vi.waitFor(() => expect(closed).toHaveBeenCalled())
    await expect(transaction(ending, null, (tx) => pidOf(tx.sql))).rejects.toSatisfy(isDatabaseUnavailable)
  })

  it('fails at once where the server hangs up before it has said anything', async () => {
    let calls = 0
    const server = createServer((socket) => {
      calls += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = new URL(database.appUrl)
    url.port = String((server.address() as { port: number }).port)
    const nowhere = connect(url.href, { role: 'muster_app', connectionsMax: 1, applicationName: 'connection-loss' })
    await expect(nowhere.sql`select 1`).rejects.toSatisfy(isDatabaseUnavailable)
    expect(calls).toBe(1)
    // Each further attempt waits twice as long as the one before: 50, 100, 200, 400 ms.
    const begin = performance.now()
    await Promise.allSettled(Array.from({ length: 4 }, () => nowhere.sql`select 1`))
    expect(calls).toBe(5)
    expect(performance.now() - begin).toBeGreaterThan(600)
    await nowhere.close()
    await new Promise((resolve) => server.close(resolve))
  })

  it('tries each host once and then fails, where none of several lets it in', async () => {
    const calls = [0, 0]
    const servers = calls.map((_, place) =>
      createServer((socket) => {
        calls[place] = (calls[place] ?? 0) + 1
        socket.destroy()
      }),
    )
    const ports: number[] = []
    for (const server of servers) ports.push(await portOf(server))
    const nowhere = connect(withHosts(database.appUrl, ports), { role: 'muster_app', connectionsMax: 1, applicationName: 'connection-loss' })
    await expect(nowhere.sql`select 1`).rejects.toSatisfy(isDatabaseUnavailable)
    expect(calls).toEqual([1, 1])
    await nowhere.close()
    for (const server of servers) await new Promise((resolve) => server.close(resolve))
  })

  it('goes on to the next host where one does not answer', async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => sockets.push(socket))
    const ports = [await portOf(silent), Number(new URL(database.appUrl).port)]
    const pool = connect(withHosts(database.appUrl, ports), { role: 'muster_app', connectionsMax: 1, applicationName: 'connection-loss' })
    await expect(pidOf(pool.sql)).resolves.toBeGreaterThan(0)
    expect(sockets).toHaveLength(1)
    await pool.close()
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => silent.close(resolve))
  })

  it('passes a standby over, and fails where no host takes writes', async () => {
    const standby = await startScriptedPostgres({ version: 180_000, isStandby: true })
    const { port } = new URL(standby.url)
    const ports = [Number(port), Number(new URL(database.appUrl).port)]
    const pool = connect(withHosts(database.appUrl, ports), { role: 'muster_app', connectionsMax: 1, applicationName: 'connection-loss' })
    await expect(pidOf(pool.sql)).resolves.toBeGreaterThan(0)
    await pool.close()
    await expect(requireUsableDatabase(withHosts(database.appUrl, [Number(port), Number(port)]))).rejects.toThrow(
      `No PostgreSQL at 127.0.0.1:${port} or 127.0.0.1:${port} (DATABASE_URL) takes writes: promote a standby, or correct DATABASE_URL.`,
    )
    await standby.close()
  })

  it('leaves the pool whole when a reservation could not be had', async () => {
    await using way = await wayTo(database)
    const single = connect(way.url, { role: 'muster_dispatch', connectionsMax: 1, applicationName: 'connection-loss' })
    // One connects, and one waits behind it.
    const [first, second] = await Promise.allSettled([single.sql.reserve(), single.sql.reserve()])
    expect([first.status, second.status]).toEqual(['rejected', 'rejected'])
    const [failing, waiting] = [single.sql.reserve(), single.sql.reserve()]
    await expect(failing).rejects.toSatisfy(isDatabaseUnavailable)
    // Before the next attempt to connect, which is made for the one that waits.
    way.isOpen = true
    ;(await waiting).release()
    await expect(pidOf(single.sql)).resolves.toBeGreaterThan(0)
    const reserved = await single.sql.reserve()
    expect(await pidOf(reserved)).toBeGreaterThan(0)
    reserved.release()
    await single.close()
  })

  it('forgets a listener that could not be had, and one that has left', async () => {
    await using way = await wayTo(database)
    const listening = connect(way.url, { role: 'muster_dispatch', connectionsMax: 1, applicationName: 'connection-loss' })
    const lastOfListener = async () => {
      const rows = await admin<{ query: string }[]>`
        select query from pg_stat_activity where datname = current_database() and query ~* '^(un)?listen "news"'`
      return rows.map(({ query }) => query)
    }
    const heard: string[] = []
    await expect(
      listening.listen(
        'news',
        (text) => heard.push(`refused: ${text}`),
        () => {},
      ),
    ).rejects.toSatisfy(isDatabaseUnavailable)
    way.isOpen = true
    const unlisten = await listening.listen(
      'news',
      (text) => heard.push(text),
      () => heard.push('listening'),
    )
    await db.sql`select pg_notify('news', 'one')`
    await vi.waitFor(() => expect(heard).toEqual(['listening', 'one']))
    await unlisten()
    expect(await lastOfListener()).toEqual(['unlisten "news"'])
    await listening.close()
  })
})

/** A proxy to a database, closed at first: it ends each connection before the first byte. */
async function wayTo({ appUrl }: TestDatabase): Promise<AsyncDisposable & { url: string; isOpen: boolean }> {
  const url = new URL(appUrl)
  const target = Number(url.port)
  const open = new Set<Socket>()
  const server = createServer((near) => {
    if (!way.isOpen) return near.destroy()
    const far = dial(target, '127.0.0.1')
    near.pipe(far).pipe(near)
    near.on('error', () => far.destroy())
    open.add(near.on('close', () => open.delete(near)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url.port = String((server.address() as { port: number }).port)
  const way = {
    url: url.href,
    isOpen: false,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
  return way
}

describe('a connection on which much is under way', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.drop())

  // The driver sends up to 100 statements ahead, and forgot a BEGIN that was exactly the last of them.
  it.each([99, 100, 101])('keeps a transaction that begins after %i statements to itself', async (count) => {
    const single = connect(database.appUrl, { role: 'muster_app', connectionsMax: 1, applicationName: 'connection-loss' })
    const ahead = Array.from({ length: count }, () => single.sql`select pg_sleep(0.001)`.execute())
    const project = '00000000-0000-7000-8000-0000000000aa'
    const inside = transaction(single, project, async (tx) => {
      const [row] = await tx.sql<{ project: string }[]>`select current_setting('muster.project_id') as project`
      await new Promise((resolve) => setTimeout(resolve, 20))
      return row?.project
    })
    const after = single.sql<{ project: string | null }[]>`select current_setting('muster.project_id', true) as project`
    await Promise.all(ahead)
    expect(await inside).toBe(project)
    expect((await after)[0]?.project ?? '').toBe('')
    await single.close()
  })
})

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { port: number }).port
}

/** The address with these ports of this machine, in their order. */
function withHosts(url: string, ports: readonly number[]): string {
  return url.replace(/@[^/]+/, `@${ports.map((port) => `127.0.0.1:${port}`)}`)
}

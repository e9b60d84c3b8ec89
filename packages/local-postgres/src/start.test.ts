import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findLocalPostgres, type LocalPostgres, type LocalPostgresOptions, removeLocalPostgres, startLocalPostgres } from './index.ts'

const run = promisify(execFile)
let root: string
const servers: LocalPostgres[] = []

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster local-'))
  await chmod(root, 0o755)
})

afterEach(async () => {
  const started = servers.splice(0)
  for (const server of started) await server.stop('immediate')
  for (const server of started) await removeLocalPostgres(server.dataDir)
  await removeLocalPostgres(join(root, 'data'))
  await rm(root, { recursive: true, force: true })
})

async function start(options: Partial<LocalPostgresOptions> = {}): Promise<LocalPostgres> {
  const server = await startLocalPostgres({ dataDir: join(root, 'data'), settings: { fsync: 'off' }, ...options })
  servers.push(server)
  return server
}

async function ask<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    return await sql.unsafe<Row[]>(statement)
  } finally {
    await sql.end()
  }
}

function listenOn(port: number): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

describe('a first start', () => {
  it('listens on loopback alone, keeps its password to itself and is durable', async () => {
    const server = await start({ settings: {} })

    const [row] = await ask<Record<string, string>>(
      server.adminUrl,
      `select current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as sockets, current_setting('fsync') as fsync,
        current_setting('synchronous_commit') as commit, current_setting('max_connections') as connections, current_setting('server_encoding') as encoding,
        current_setting('password_encryption') as passwords, (select datlocale from pg_database where datname = 'postgres') as locale`,
    )
    expect(row).toEqual({
      addresses: '127.0.0.1',
      sockets: '.',
      fsync: 'on',
      commit: 'on',
      connections: '200',
      encoding: 'UTF8',
      passwords: 'scram-sha-256',
      locale: 'C.UTF-8',
    })
    expect((await stat(join(server.dataDir, 'password-postgres'))).mode & 0o777).toBe(0o600)
  })

  it('refuses a connection without the password', async () => {
    const server = await start()
    const url = new URL(server.adminUrl)
    url.password = 'guess'

    await expect(ask(url.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
  })

  it('answers at a socket that nobody else reaches, with the password', async () => {
    const server = await start()
    const { hostname, port, password } = new URL(await server.socketUrlFor('postgres', 'postgres'))
    const folder = decodeURIComponent(hostname)
    const askWith = async (given: string) => {
      const sql = postgres({ path: `${folder}/.s.PGSQL.${port}`, user: 'postgres', database: 'postgres', password: given, max: 1 })
      return await sql<{ address: string | null }[]>`select inet_client_addr() as address`.finally(() => sql.end())
    }

    expect(await askWith(password)).toEqual([{ address: null }])
    await expect(askWith('guess')).rejects.toMatchObject({ code: '28P01' })
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  })

  it('answers by TCP alone where the path of its files is too long for a socket', async () => {
    const server = await start({ dataDir: join(root, 'long'.repeat(25)) })
    const url = await server.socketUrlFor('postgres', 'postgres')

    expect(url).toBe(server.adminUrl)
    expect(await ask(url, `select current_setting('unix_socket_directories') as sockets`)).toEqual([{ sockets: '' }])
  })

  it('is in the settings it was given', async () => {
    const server = await start({ settings: { fsync: 'off', max_connections: '33' } })

    expect(await ask(server.adminUrl, 'show max_connections')).toEqual([{ max_connections: '33' }])
  })

  it('runs beside another one with its own folder and port', async () => {
    const [one, other] = await Promise.all([start({ dataDir: join(root, 'one') }), start({ dataDir: join(root, 'other') })])

    expect(one.port).not.toBe(other.port)
    await ask(one.adminUrl, 'create table here (id int)')
    await expect(ask(other.adminUrl, 'select from here')).rejects.toMatchObject({ code: '42P01' })
  })
})

describe('a later start', () => {
  it('finds the data and the port of the last one', async () => {
    const first = await start()
    await ask(first.adminUrl, 'create table kept (id int)')
    await first.stop()

    const second = await start()

    expect(second.adminUrl).toBe(first.adminUrl)
    expect(await ask(second.adminUrl, 'select from kept')).toEqual([])
  })

  it('takes another port when another process has that one now', async () => {
    const first = await start()
    await first.stop()
    const squatter = await listenOn(first.port)

    const second = await start()

    expect(second.port).not.toBe(first.port)
    squatter.close()
  })

  it('gives a login the same password again', async () => {
    const server = await start()
    const [one, two] = await Promise.all([server.urlFor('app', 'app'), server.urlFor('app', 'app')])

    expect(one).toBe(two)
    expect(one).toMatch(new RegExp(`^postgres://app:[\\w-]{32}@127.0.0.1:${server.port}/app$`))
  })
})

describe('a running server', () => {
  it('keeps its address and its data over restart and over a crash', async () => {
    const ends: string[] = []
    const server = await start({ settings: {}, onExit: (how) => ends.push(how) })
    const before = { adminUrl: server.adminUrl, pid: server.pid }
    await ask(server.adminUrl, 'create table kept as select generate_series(1, 3) as id')

    await server.restart()
    await server.kill()
    // As if another process had got the pid of the killed server.
    const folder = decodeURIComponent(new URL(await server.socketUrlFor('postgres', 'postgres')).hostname)
    const lock = join(folder, `.s.PGSQL.${server.port}.lock`)
    await writeFile(lock, (await readFile(lock, 'utf8')).replace(/^\d+/, '1'))
    await server.restart()

    expect(server.adminUrl).toBe(before.adminUrl)
    expect(server.pid).not.toBe(before.pid)
    expect(await ask(server.adminUrl, 'select count(*)::int from kept')).toEqual([{ count: 3 }])
    expect(ends).toEqual([])
  })

  it('reports an end that was not requested', async () => {
    const ended = new Promise<string>((resolve) => {
      void start({ onExit: resolve }).then((server) => process.kill(server.pid, 'SIGQUIT'))
    })

    expect(await ended).toContain('server.log')
  })

  it('is found by its data folder until it has stopped', async () => {
    const server = await start()

    expect(await findLocalPostgres(server.dataDir)).toMatchObject({ adminUrl: server.adminUrl, pid: server.pid })
    await server.stop()
    expect(await findLocalPostgres(server.dataDir)).toBeUndefined()
  })

  it('leaves nothing behind when it is removed', async () => {
    const server = await start()
    await server.stop()

    await removeLocalPostgres(server.dataDir)

    expect(await readdir(root)).toEqual([])
  })
})

describe('what keeps it from starting is said with what to do', () => {
  it('the port is taken, and by whom', async () => {
    const squatter = await listenOn(0)
    const address = squatter.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0

    await expect(start({ port })).rejects.toMatchObject({
      code: 'port_taken',
      message: expect.stringMatching(new RegExp(`Port ${port} .*taken.*: stop that process`)),
    })
    squatter.close()
  })

  it('the data are those of another major version', async () => {
    const server = await start()
    await server.stop()
    const cluster = (await readFile(join(server.dataDir, 'location'), 'utf8').catch(() => join(server.dataDir, 'cluster'))).trim()
    await writeFile(join(cluster, 'PG_VERSION'), '15\n')

    await expect(start()).rejects.toMatchObject({ code: 'other_major_version', message: expect.stringContaining('PostgreSQL 15') })
  })

  it('the password is gone', async () => {
    const server = await start()
    await server.stop()
    await rm(join(server.dataDir, 'password-postgres'))

    await expect(start()).rejects.toMatchObject({ code: 'password_lost', message: expect.stringContaining('password-postgres') })
  })

  it('the data folder is a file', async () => {
    await writeFile(join(root, 'file'), '')

    await expect(start({ dataDir: join(root, 'file') })).rejects.toMatchObject({ code: 'data_folder_unusable', message: expect.stringContaining('DATA_DIR') })
  })

  it('something else lies where the database would', async () => {
    await mkdir(join(root, 'data', 'cluster'), { recursive: true })
    await writeFile(join(root, 'data', 'cluster', 'thesis.txt'), 'mine')

    await expect(start()).rejects.toMatchObject({ message: expect.stringMatching(/not a PostgreSQL database|belongs to/) })
    expect(await readFile(join(root, 'data', 'cluster', 'thesis.txt'), 'utf8')).toBe('mine')
  })

  it('a setting is wrong, with the last lines of the log', async () => {
    await expect(start({ settings: { fsync: 'off', shared_buffers: 'plenty' } })).rejects.toMatchObject({
      code: 'start_failed',
      message: expect.stringMatching(/server\.log, which ends with:\n[\s\S]*shared_buffers/),
    })
  })
})

/** A disk of a few megabytes of its own, which takes the right to mount. */
const mayMount = process.platform === 'linux' && process.getuid?.() === 0 && (await run('unshare', ['--mount', 'true']).then(Boolean, () => false))

describe.runIf(mayMount)('a full disk is called that', () => {
  const disk = () => join(root, 'disk')

  beforeEach(async () => {
    await mkdir(disk())
    await run('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=755', 'muster-test', disk()])
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop('immediate')
    await run('umount', [disk()])
  })

  it('when a database is made', async () => {
    await expect(start({ dataDir: join(disk(), 'data') })).rejects.toMatchObject({
      code: 'disk_full',
      message: `The disk of ${join(disk(), 'data')} is full: make room on it, or choose another folder with DATA_DIR.`,
    })
  })

  it('when PostgreSQL starts, and the start works once there is room', async () => {
    await run('mount', ['-o', 'remount,size=150m', disk()])
    await (await start({ dataDir: join(disk(), 'data') })).stop()
    const { bavail, bsize } = await statfs(disk())
    await writeFile(join(disk(), 'fill'), Buffer.alloc(bavail * bsize))

    await expect(start({ dataDir: join(disk(), 'data') })).rejects.toMatchObject({ code: 'disk_full' })

    await rm(join(disk(), 'fill'))
    await start({ dataDir: join(disk(), 'data') })
  })
})

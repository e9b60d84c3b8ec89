import { execFileSync } from 'node:child_process'
import { chmod, chown, copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LocalPostgres, removeLocalPostgres, startLocalPostgres } from '@muster/local-postgres'
import { type TestDatabase, testDatabase } from '@muster/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, migrate, requireUsableDatabase } from './index.ts'

let folder: string
let server: LocalPostgres
let admin: postgres.Sql
let plain: TestDatabase
/** The address of a migrated database on a server whose certificate is for `localhost`. */
let appUrl: URL

const file = (name: string): string => join(folder, name)
const openssl = (...words: string[]): void => void execFileSync('openssl', words, { stdio: 'pipe' })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-tls-'))
  await chmod(folder, 0o755)
  for (const authority of ['right', 'wrong']) {
    openssl(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      `/CN=${authority}`,
      '-keyout',
      file(`${authority}.key`),
      '-out',
      file(`${authority}.crt`),
    )
  }
  openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
    '-keyout',
    file('server.key'),
    '-out',
    file('server.csr'),
  )
  openssl(
    'x509',
    '-req',
    '-in',
    file('server.csr'),
    '-CA',
    file('right.crt'),
    '-CAkey',
    file('right.key'),
    '-copy_extensions',
    'copy',
    '-out',
    file('server.crt'),
  )

  server = await startLocalPostgres({ dataDir: file('server'), settings: { fsync: 'off' } })
  admin = postgres(server.adminUrl, { max: 1 })
  const [{ folder: data }] = await admin<[{ folder: string }]>`select current_setting('data_directory') as folder`
  const { uid, gid } = await stat(data)
  for (const name of ['server.key', 'server.crt']) {
    await copyFile(file(name), join(data, name))
    await chown(join(data, name), uid, gid)
    await chmod(join(data, name), 0o600)
  }
  await admin`alter system set ssl = on`
  await admin`select pg_reload_conf()`
  appUrl = new URL(await server.urlFor('muster', 'muster'))
  appUrl.hostname = 'localhost'
  await migrate({ adminUrl: at({ sslmode: 'verify-full', sslrootcert: file('right.crt') }, server.adminUrl), appUrl: appUrl.href })
  plain = await testDatabase()
})

afterAll(async () => {
  await admin.end()
  await server.stop('immediate')
  await removeLocalPostgres(server.dataDir)
  await rm(folder, { recursive: true, force: true })
  await plain.drop()
})

/** The address with these parameters. */
function at(parameters: Record<string, string>, address = appUrl.href, hostname = 'localhost'): string {
  const url = new URL(address)
  url.hostname = hostname
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

const RIGHT = () => ({ sslmode: 'verify-full', sslrootcert: file('right.crt') })

async function isEncrypted(url: string): Promise<boolean> {
  const database = connect(url, { role: 'muster_app', connectionsMax: 1, applicationName: 'tls' })
  try {
    const [{ pid }] = await database.sql<[{ pid: number }]>`select pg_backend_pid() as pid`
    const [session] = await admin<[{ ssl: boolean }]>`select ssl from pg_stat_ssl where pid = ${pid}`
    return session.ssl
  } finally {
    await database.close()
  }
}

describe('sslmode=verify-full', () => {
  it('connects where the certificate is from the authority in sslrootcert and for the host of the address', async () => {
    expect(await isEncrypted(at(RIGHT()))).toBe(true)
    await expect(requireUsableDatabase(at(RIGHT()))).resolves.toBeUndefined()
  })

  it.each([
    ['another authority', { sslrootcert: 'wrong.crt' }],
    ['the authorities of Node.js', {}],
  ])('says that the certificate is not trusted, with %s', async (_, names) => {
    const parameters = Object.fromEntries(Object.entries(names).map(([name, value]) => [name, file(value)]))
    await expect(requireUsableDatabase(at({ sslmode: 'verify-full', ...parameters }))).rejects.toThrow(
      /^The certificate of PostgreSQL at localhost:\d+ is not from an authority that is trusted \(.+\): name the file of its authority as sslrootcert in DATABASE_URL\./,
    )
  })

  it('says that the certificate is for another host, which may be an IP address', async () => {
    await expect(requireUsableDatabase(at(RIGHT(), appUrl.href, '127.0.0.1'))).rejects.toThrow(
      /^The certificate of PostgreSQL at 127\.0\.0\.1:\d+ is for another host \(.*127\.0\.0\.1.*\): write the name that it is for in DATABASE_URL, or have one issued for this name\.$/,
    )
  })

  it('says that the file of the authority cannot be read', async () => {
    await expect(requireUsableDatabase(at({ sslmode: 'verify-full', sslrootcert: file('none.crt') }))).rejects.toThrow(
      /^The file of sslrootcert cannot be read \(ENOENT.+none\.crt'\): correct its path in the address of the database\.$/,
    )
  })

  it('says that the server offers no TLS', async () => {
    await expect(requireUsableDatabase(at({ sslmode: 'verify-full' }, plain.appUrl))).rejects.toThrow(
      /^PostgreSQL at localhost:\d+ offers no TLS: switch ssl on there, or remove sslmode from DATABASE_URL\.$/,
    )
  })
})

it('sslmode=verify-ca does not look at the name, sslmode=require at nothing, and without sslmode nothing is encrypted', async () => {
  expect(await isEncrypted(at({ ...RIGHT(), sslmode: 'verify-ca' }, appUrl.href, '127.0.0.1'))).toBe(true)
  expect(await isEncrypted(at({ sslmode: 'require' }, appUrl.href, '127.0.0.1'))).toBe(true)
  expect(await isEncrypted(at({}))).toBe(false)
})

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@muster/local-postgres'
import { Child } from './child.ts'

/** A PgBouncer before the server of a database. */
export interface Pooler {
  /** The address of the database, by way of the pooler. */
  url: string
  stop(): Promise<void>
}

export interface PoolerOptions {
  mode: 'session' | 'transaction'
  /** The most sessions of PostgreSQL that it opens. */
  sessionsMax: number
  /** More lines of its configuration. */
  more?: readonly string[]
}

/** PgBouncer refuses to run as root: root starts it under the ids of an unprivileged user. */
const USER = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []

/** Starts PgBouncer from Debian, with as little configuration as it needs. @throws Error if it is not installed */
export async function startPooler(databaseUrl: string, { mode, sessionsMax, more = [] }: PoolerOptions): Promise<Pooler> {
  const url = new URL(databaseUrl)
  const target = url.host.split(':')
  const folder = await mkdtemp(join(tmpdir(), 'muster-pooler-'))
  await chmod(folder, 0o755)
  url.port = String(await freePort())
  const configuration = [
    '[databases]',
    `* = host=${target[0]} port=${target[1]}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${url.port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${join(folder, 'users')}`,
    `pool_mode = ${mode}`,
    `default_pool_size = ${sessionsMax}`,
    ...more,
  ]
  await writeFile(join(folder, 'users'), `"${decodeURIComponent(url.username)}" "${decodeURIComponent(url.password)}"\n`)
  await writeFile(join(folder, 'pgbouncer.ini'), `${configuration.join('\n')}\n`)
  const env = { PATH: `${process.env.PATH}:/usr/sbin` }
  const child = new Child({ name: 'PgBouncer (apt-get install pgbouncer)', argv: [...USER, 'pgbouncer', join(folder, 'pgbouncer.ini')], env })
  await child.line(({ raw }) => raw.includes('process up'))
  return {
    url: url.href,
    async stop() {
      await child.end('SIGKILL')
      await rm(folder, { recursive: true })
    },
  }
}

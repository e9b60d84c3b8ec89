import { execFile } from 'node:child_process'
import { appendFile, chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type LocalPostgres, removeLocalPostgres, startLocalPostgres } from '@muster/local-postgres'
import { databaseFolder } from '@muster/testing'
import postgres from 'postgres'
import { until } from './until.ts'

/** A standby that follows a primary by streaming replication. */
export interface Standby {
  server: LocalPostgres
  admin: postgres.Sql
  /** Makes it a primary. */
  promote(): Promise<void>
  /** From now on it receives nothing more. */
  disconnect(): Promise<void>
  remove(): Promise<void>
}

/** Makes a standby of a server of `startLocalPostgres`, in a copy of its files, and waits until it follows. */
export async function startStandby(primary: LocalPostgres): Promise<Standby> {
  const dataDir = await mkdtemp(join(databaseFolder(), `muster-tests-${process.pid}-`))
  // The server may have to run as another user, who must be able to enter.
  await chmod(dataDir, 0o755)
  const source = postgres(primary.adminUrl, { max: 1, onnotice: () => {} })
  const others = (await source`select from pg_stat_replication where state = 'streaming'`).length
  await source`select pg_backup_start('standby', true)`
  await promisify(execFile)('cp', ['-a', `${primary.dataDir}/.`, dataDir])
  const [backup] = await source<[{ labelfile: string }]>`select labelfile from pg_backup_stop(false)`
  const cluster = join(dataDir, 'cluster')
  const { uid, gid } = await stat(cluster)
  for (const [name, text] of [
    ['backup_label', backup.labelfile],
    ['standby.signal', ''],
  ] as const) {
    await writeFile(join(cluster, name), text)
    await chown(join(cluster, name), uid, gid)
  }
  for (const path of [join(cluster, 'postmaster.pid'), join(dataDir, 'server.json')]) await rm(path, { force: true })

  const { hostname, port, username, password } = new URL(primary.adminUrl)
  const conninfo = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`
  // Not as a setting of the start, which nothing could change later.
  await appendFile(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`)
  const server = await startLocalPostgres({ dataDir, settings: { fsync: 'off' } })
  const admin = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const isFollowing = async () => (await source`select from pg_stat_replication where state = 'streaming'`).length > others
  await until('the standby follows', isFollowing)
  return {
    server,
    admin,
    promote: async () => void (await admin`select pg_promote()`),
    async disconnect() {
      await admin`alter system set primary_conninfo = ''`
      await admin`select pg_reload_conf()`
      await until('the standby does not follow', async () => !(await isFollowing()))
    },
    async remove() {
      await Promise.all([source.end({ timeout: 0 }), admin.end({ timeout: 0 })])
      await server.stop('immediate')
      await removeLocalPostgres(dataDir)
    },
  }
}

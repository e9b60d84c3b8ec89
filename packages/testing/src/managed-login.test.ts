import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate, requireUsableDatabase } from '@muster/db'
import { withDatabaseName } from '@muster/domain'
import { installQueues } from '@muster/jobs'
import { type LocalPostgres, removeLocalPostgres, startLocalPostgres } from '@muster/local-postgres'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHarness } from './harness.ts'
import { claimOne, completed, readSubtaskRow, settleOne, spawn } from './journey.ts'

let server: LocalPostgres
let admin: postgres.Sql

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), `muster-tests-${process.pid}-`))
  // The server may have to run as another user, who must be able to enter.
  await chmod(dataDir, 0o755)
  server = await startLocalPostgres({ dataDir, settings: { fsync: 'off' } })
  admin = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await admin.end()
  await server.stop('immediate')
  await removeLocalPostgres(server.dataDir)
})

async function addressOf(login: string, database: string): Promise<string> {
  const url = new URL(await server.urlFor(login, database))
  url.password = 'managed'
  return url.href
}

/** On a server without the roles of Muster, as providers of PostgreSQL offer it: only the provider is a superuser. */
describe('a login without superuser', () => {
  it.each([
    // The login of Amazon RDS: its rights come from a role of the provider.
    ['that may create databases and roles', 'rds', 'createdb createrole', null],
    ['that may create roles, and owns the database that the provider made', 'owner', 'createrole', 'owner'],
    ['that may create roles, and has CREATE of a database and of its schema, to pass on', 'guest', 'createrole', 'postgres'],
  ])('%s migrates, and API and worker can work', { timeout: 120_000 }, async (_, name, rights, ownerOfDatabase) => {
    await admin.unsafe(`create role ${name}_superuser nologin; create role ${name} login ${rights} password 'managed'; grant ${name}_superuser to ${name}`)
    if (ownerOfDatabase !== null) await admin.unsafe(`create database ${name} owner ${ownerOfDatabase}`)
    if (ownerOfDatabase === 'postgres') {
      await admin.unsafe(`grant create, connect on database ${name} to ${name} with grant option`)
      const inside = postgres(withDatabaseName(server.adminUrl, name), { max: 1 })
      await inside.unsafe(`grant create, usage on schema public to ${name} with grant option`)
      await inside.end()
    }
    const database = { adminUrl: await addressOf(name, name), appUrl: await addressOf(`${name}_app`, name), name, drop: async () => {} }
    await migrate({ ...database, installQueues })
    // What a later version does.
    await migrate({ ...database, installQueues })
    await requireUsableDatabase(database.appUrl, { needsQueues: true })

    const harness = await startHarness({ database })
    const { id } = await spawn(harness.ctx)
    await settleOne(harness.ctx, await claimOne(harness.ctx), completed())
    expect(await readSubtaskRow(harness.admin, id)).toMatchObject({ status: 'completed' })
    await harness.close()
    // The next one makes the roles itself.
    await admin`drop database ${admin(name)} with (force)`
    await admin.unsafe(`drop role ${name}_app, muster_app, muster_dispatch, muster_definer`)
  })
})

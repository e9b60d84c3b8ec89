import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { inject } from 'vitest'

/** A database of a test file's own: migrated, with queues, empty. */
export interface TestDatabase {
  /** The processes' login, confined by row-level security. */
  appUrl: string
  /** A superuser, who sees everything. */
  adminUrl: string
  name: string
  /** Removes the database, even if clients are connected. */
  drop(): Promise<void>
}

const COPY_TRIES = 100

/** Copies the template database: some tens of milliseconds. */
export async function testDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('postgresAdminUrl')
  const template = new URL(inject('postgresTemplateUrl'))
  const name = `${template.username}_${randomBytes(6).toString('hex')}`
  await onServer(serverUrl, (sql) => copy(sql, decodeURIComponent(template.pathname.slice(1)), name))
  const [appUrl, adminUrl] = [new URL(template), new URL(serverUrl)]
  appUrl.pathname = `/${name}`
  adminUrl.pathname = `/${name}`
  return {
    appUrl: appUrl.href,
    adminUrl: adminUrl.href,
    name,
    drop: () => onServer(serverUrl, (sql) => sql`drop database if exists ${sql(name)} with (force)`),
  }
}

async function copy(sql: postgres.Sql, template: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await sql`create database ${sql(name)} template ${sql(template)}`
      return
    } catch (error) {
      // A short connection to the template: autovacuum, which does not ask whether connections are allowed.
      if ((error as { code?: string }).code !== '55006' || attempt === COPY_TRIES) throw error
    }
  }
}

async function onServer(url: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

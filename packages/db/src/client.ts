import { DomainError, isUuid, parseDatabaseAddress } from '@muster/domain'
import { DrizzleQueryError } from 'drizzle-orm/errors'
import { PgDialect } from 'drizzle-orm/pg-core'
import { drizzle, PostgresJsDatabase, PostgresJsSession } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { createListener, type Listen } from './listener.ts'
import { ENDS_OF_VANISHED, open } from './open.ts'
import { isSocketAway } from './unusable-database.ts'

/** Roles of PostgreSQL: `muster_app` sees one project at a time, `muster_dispatch` the tables of the dispatch path across projects. */
export type DatabaseRole = 'muster_app' | 'muster_dispatch'

export interface ConnectOptions {
  role: DatabaseRole
  /** Maximum number of connections. */
  connectionsMax: number
  /** Shown in `pg_stat_activity`. */
  applicationName: string
  /** Maximum time of one statement. */
  statementTimeoutMs?: number
  /** A connection that was not needed for so long is closed. A minute unless told. */
  idleSecondsMax?: number
  /** The address is that of a pooler, behind which each transaction may have another session of PostgreSQL. Such a pool cannot listen and cannot hold locks. */
  isPooled?: boolean
  /** The address is that of hot standbys: of several hosts, one is taken that is a standby. */
  isStandby?: boolean
}

/** A pool of connections of one role. */
export interface Database {
  readonly role: DatabaseRole
  readonly sql: postgres.Sql
  /** The statement with which each transaction sets its role and limits; null where the sessions have them. */
  readonly perTransaction: string | null
  /** Listens to channels of PostgreSQL, over one more connection from the first call on. */
  readonly listen: Listen
  close(): Promise<void>
}

/**
 * One transaction: `orm` for ordinary reads and writes, `sql` for statements of the dispatch path. Both prepare their statements.
 * `afterCommit` collects actions for the time when the transaction is durable, such as a notification.
 */
export interface Tx {
  readonly orm: PostgresJsDatabase
  readonly sql: postgres.Sql
  afterCommit(action: () => void): void
  /**
   * Takes the last statements of a transaction, which were sent already and whose answers no other step needs: COMMIT is sent with them. If one of
   * them fails, PostgreSQL turns that COMMIT into a ROLLBACK, and the transaction fails like any other; one that is never sent fails the transaction
   * before. No statement may wait for their answers: after the COMMIT it would be refused. Their parameters are texts, numbers and lists of them,
   * because a parameter that the driver cannot write would fail after the COMMIT was sent.
   */
  withCommit(last: Promise<unknown>): void
}

/**
 * Waits for statements of one transaction that were sent together, in the order of the list, without a round trip between them. PostgreSQL
 * executes them in that order, and each sees the effects and the locks of those before it. If one fails, all later ones fail too and the
 * transaction rolls back; the first error is thrown. Every entry must send its (first) statement before it awaits anything. Drizzle sends its
 * statements after those of `sql` in the same pipeline, so their order is right only among themselves.
 */
export function pipeline<T extends readonly unknown[]>(statements: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  return Promise.all(statements)
}

const DIALECT = new PgDialect({ casing: 'snake_case' })
const NUMBER_FROM_INT8 = { to: 20, from: [20], serialize: (value: number) => String(value), parse: (text: string) => Number(text) }

/**
 * Makes claims read a queue from its front, in the order of its index. A bitmap would include all waiting jobs, and all jobs that were taken since the
 * last vacuum, at every claim, because generic plans expect few rows.
 */
const DISPATCH_PLANS = { enable_bitmapscan: 'off' }

/** Each connection costs PostgreSQL 5 MB. The pool takes the one that was used last, so that those that are left over rest. */
const IDLE_SECONDS_MAX = 60

/** Opens a pool. It connects when a connection is first needed, and again after one broke. */
export function connect(url: string, options: ConnectOptions): Database {
  const { isPooled = false } = options
  const session = {
    role: options.role,
    statement_timeout: options.statementTimeoutMs ?? 5_000,
    idle_in_transaction_session_timeout: 10_000,
    // One plan fits all parameters of a statement, and planning a large one takes longer than running it.
    plan_cache_mode: 'force_generic_plan',
    ...(options.role === 'muster_dispatch' ? DISPATCH_PLANS : {}),
  }
  const settings = {
    ...(options.isStandby === true ? { target_session_attrs: 'standby' as const } : {}),
    max: options.connectionsMax,
    // A pooler may give each transaction a session in which a statement was not prepared.
    prepare: parseDatabaseAddress(url).prepare ?? !isPooled,
    connect_timeout: 3,
    idle_timeout: options.idleSecondsMax ?? IDLE_SECONDS_MAX,
    max_lifetime: null,
    // Finds a server that comes back within a second, however long it was away.
    backoff: (retries: number) => Math.min(0.05 * 2 ** Math.min(retries, 10), 1),
    keep_alive: 10,
    types: { int8: NUMBER_FROM_INT8 },
    connection: { application_name: options.applicationName, timezone: 'UTC', ...(isPooled ? {} : { ...session, ...ENDS_OF_VANISHED }) },
  }
  const sql = open(url, settings)
  const listener = createListener((events) => open(url, { ...settings, ...events, max: 1, idle_timeout: 0, fetch_types: false }))
  // Makes the pool pass times and JSON as text, as drizzle expects them.
  drizzle(sql)
  return {
    role: options.role,
    sql,
    perTransaction: isPooled ? `select ${Object.entries(session).map(([name, value]) => `set_config('${name}', '${value}', true)`)}` : null,
    listen: listener.listen,
    close: async () => void (await Promise.all([sql.end({ timeout: 5 }), listener.close()])),
  }
}

/**
 * The pools of a process: that of one project at a time, through a pooler where there is one, and that of dispatching, which listens and holds locks.
 *
 * @param name shown in `pg_stat_activity`
 */
export function connectPools(
  { directUrl, pooledUrl }: { directUrl: string; pooledUrl: string | undefined },
  name: string,
  connectionsMax: { db: number; dispatchDb: number },
): { db: Database; dispatchDb: Database } {
  return {
    db: connect(pooledUrl ?? directUrl, {
      role: 'muster_app',
      connectionsMax: connectionsMax.db,
      applicationName: name,
      isPooled: pooledUrl !== undefined,
    }),
    dispatchDb: connect(directUrl, { role: 'muster_dispatch', connectionsMax: connectionsMax.dispatchDb, applicationName: `${name}-dispatch` }),
  }
}

/** Runs one transaction. With a project, row-level security shows only that project; without one, the pool's role must see across projects. */
export async function transaction<T>(database: Database, projectId: string | null, work: (tx: Tx) => Promise<T>): Promise<T> {
  const connection = await database.sql.reserve()
  const actions: (() => void)[] = []
  const lasts: Promise<unknown>[] = []
  /** In their order. PostgreSQL refuses every statement after the first one, and code may hear of a refusal before it hears of its cause. */
  const failures: unknown[] = []
  const onFailure = (error: unknown) => void failures.push(error)
  let isEnding = false
  let result: T
  try {
    const sql = statementsOf(connection, () => isEnding, onFailure)
    const project = projectId === null ? null : `set local muster.project_id = '${requireUuid(projectId)}'`
    const begun = sql.unsafe(['begin', database.perTransaction, project].filter((statement) => statement !== null).join('; ')).execute()
    // BEGIN, the role and limits where sessions have none, and the project are one message. The first statements of the work are sent with it, which saves two
    // round trips. If that message alone failed, those statements would see and change nothing, because no project would be set, and behind a pooler they would
    // have no role either. A transaction without a project lacks that protection, so its statements are sent only after the answer to BEGIN.
    if (projectId === null) await begun
    let orm: PostgresJsDatabase | undefined
    result = await work({
      sql,
      // Built on first use: the most frequent transactions do not use it.
      get orm() {
        orm ??= new PostgresJsDatabase(DIALECT, new PostgresJsSession(sql, DIALECT, undefined), undefined) as PostgresJsDatabase
        return orm
      },
      afterCommit: (action) => actions.push(action),
      withCommit(last) {
        last.catch(onFailure)
        lasts.push(last)
      },
    })
    if (lasts.length === 0) await begun
    // If our own code failed to send one, PostgreSQL would commit the others. After a tick, every promise that waits for no answer has settled.
    if (lasts.length > 0) await new Promise<void>((resolve) => process.nextTick(resolve))
    if (failures.length > 0) throw failures[0]
    isEnding = true
    const { command } = await connection.unsafe('commit').catch((error: unknown) => {
      throw isConnectionLoss(error) ? new CommitUnknownError(error) : error
    })
    // The answer to the COMMIT of a transaction in which a statement failed.
    if (command === 'ROLLBACK') throw failures[0] ?? new Error('The transaction was rolled back instead of committed.')
    await Promise.all([begun, ...lasts])
  } catch (error) {
    // A lost connection has no transaction any more.
    if (!isEnding) await connection.unsafe('rollback').catch(() => {})
    throw withoutQuery(isRefusal(error) ? (failures[0] ?? error) : error)
  } finally {
    isEnding = true
    connection.release()
  }
  for (const action of actions) action()
  return result
}

/** An id that becomes part of a statement: SET takes no parameters. */
function requireUuid(id: string): string {
  if (!isUuid(id)) throw new Error('The id of a project is a UUID.')
  return id
}

/**
 * Sends one statement that sets its project itself, or looks a project up. Such a statement needs no transaction, which would take longer than the read.
 * Behind a pooler it gets one all the same: sessions have no role there, and without a role the statement has no rights.
 *
 * @param projectId the project to set for that transaction; null for a statement that looks the project up, such as that of a key
 */
export async function readOnce<T>(database: Database, projectId: string | null, statement: (tx: Pick<Tx, 'sql'>) => Promise<T>): Promise<T> {
  if (database.perTransaction === null) return await statement(database)
  const { answer } = await transaction(database, projectId, async (tx) => {
    const sent = statement(tx)
    tx.withCommit(sent)
    return { answer: sent }
  })
  return await answer
}

/**
 * Sends one statement that sets its project itself and writes. It commits by itself, which saves the messages of a transaction. Behind a pooler it gets one all the
 * same, for the reason of `readOnce`.
 *
 * @throws CommitUnknownError when the connection was lost while it ran
 */
export async function writeOnce<T>(database: Database, projectId: string, statement: (tx: Pick<Tx, 'sql'>) => Promise<T>): Promise<T> {
  if (database.perTransaction !== null) return await readOnce(database, projectId, statement)
  // An error before this is that of connecting: nothing was sent yet.
  const sql = await database.sql.reserve()
  try {
    return await statement({ sql })
  } catch (error) {
    throw isConnectionLoss(error) ? new CommitUnknownError(error) : error
  } finally {
    sql.release()
  }
}

/**
 * The statements of a transaction on its connection. Drizzle sends its own by `unsafe`, which prepares only on request; ours all repeat, so they are
 * prepared. Once the transaction is ending, a statement would run outside of it, so it is refused.
 */
function statementsOf(connection: postgres.ReservedSql, isEnding: () => boolean, onFailure: (error: unknown) => void): postgres.Sql {
  const watched = <S>(statement: S): S => {
    if (isEnding()) throw new Error('A statement came after the end of its transaction.')
    // Not by the `then` of the statement, which would send it.
    if (statement instanceof Promise) Promise.prototype.then.call(statement, undefined, onFailure)
    return statement
  }
  return new Proxy(connection, {
    apply: (target, self, parts) => watched(Reflect.apply(target as never, self, parts)),
    get(target, property, receiver) {
      if (property !== 'unsafe') return Reflect.get(target, property, receiver)
      return (text: string, parameters?: never[]) => watched(target.unsafe(text, parameters, { prepare: true }))
    },
  }) as postgres.Sql
}

/** Whether PostgreSQL refused a statement only because an earlier one of the transaction had failed. */
function isRefusal(error: unknown): boolean {
  const answered = error instanceof postgres.PostgresError ? error : (error as Error | undefined)?.cause
  return answered instanceof postgres.PostgresError && answered.code === '25P02'
}

/** The messages of drizzle's errors include all parameters: results, notes, hashes. The cause says enough. */
function withoutQuery(error: unknown): unknown {
  return error instanceof DrizzleQueryError && error.cause !== undefined ? error.cause : error
}

/** The connection was lost after COMMIT had been sent: the transaction may or may not have taken effect. */
export class CommitUnknownError extends Error {
  constructor(cause: unknown) {
    super('The connection was lost while a transaction was being committed.', { cause })
    this.name = 'CommitUnknownError'
  }
}

/** Whether no answer came. Severity ERROR means that the transaction was rolled back; FATAL and PANIC end the connection. */
function isConnectionLoss(error: unknown): boolean {
  return error instanceof postgres.PostgresError ? error.severity !== 'ERROR' : isDatabaseUnavailable(error)
}

const GONE = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  // PostgreSQL: shutting down, crashed, starting up, idle for too long, statement took too long, idle in transaction.
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '57014',
  '25P03',
  // Read-only: a standby, or a primary that its operator made read-only.
  '25006',
  // Lost a race for locks: the same request may succeed.
  '40P01',
  '55P03',
])

/** Too little memory, disk space or connections; errors of the server's system, such as its files. */
const SERVER_CLASSES = ['53', '58']
/** The same, with connection failures. */
const GONE_CLASSES = ['08', ...SERVER_CLASSES]

/** Whether an error, or its cause, means that the database is unavailable for a moment: the same work may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  // Whatever ended the connection.
  return error instanceof CommitUnknownError || outageCode(error) !== null
}

function outageCode(error: unknown): string | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const code = (cause as { code?: unknown }).code
    if (typeof code === 'string' && (GONE.has(code) || isOfClass(code, GONE_CLASSES) || isMissingPartition(cause) || isSocketAway(cause))) return code
    if (cause instanceof AggregateError) {
      const found = cause.errors.map(outageCode).find((each) => each !== null)
      if (found !== undefined) return found
    }
  }
  return null
}

/**
 * Whether a row found no partition, as after a jump of the clock: maintenance makes those of the present time within half a minute, and the same write
 * may succeed then.
 */
function isMissingPartition(error: object): boolean {
  return 'routine' in error && error.routine === 'ExecFindPartition'
}

/**
 * Whether a job was to be inserted for a queue that does not exist. Each process makes its queues when it starts, so a request that comes before that may
 * be repeated. Work in the background must not wait for it: a queue that stays missing would hold up everything else.
 */
export function isMissingQueue(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === '23502' && error.schema_name === 'pgboss' && error.column_name === 'name'
}

const SQLSTATE = /^[0-9A-Z]{5}$/

function isOfClass(code: string, classes: readonly string[]): boolean {
  return SQLSTATE.test(code) && classes.includes(code.slice(0, 2))
}

/** What is wrong with the database, for callers and logs. Without the database's own text, which names files, tables and hosts. */
export function describeOutage(error: unknown): string {
  const code = outageCode(error) ?? ''
  switch (code) {
    case '53100':
    case '58030':
      return 'The database cannot store anything: its disk is full or fails.'
    case '25006':
      return 'The database is read-only at the moment.'
    case '53200':
    case '53300':
      return 'The database is out of memory or connections at the moment.'
    case '23514':
      return 'The database has no partition for the present time at the moment.'
    case '57014':
    case '40P01':
    case '55P03':
      return 'The database is too busy at the moment.'
    default:
      if (isOfClass(code, SERVER_CLASSES)) return 'The database fails at the moment: its own log has the cause.'
      return 'The database is not reachable at the moment.'
  }
}

/**
 * The answer to a caller whose request met an outage of the database.
 *
 * @param isRead whether the request only reads, so that no effect is uncertain
 */
export function unavailable(error: unknown, isRead = false): DomainError {
  if (isMissingQueue(error)) {
    const detail = 'The server is still starting: the queue of this runner does not exist yet. Try again shortly.'
    return new DomainError('unavailable', detail, { retryAfterSeconds: 1 })
  }
  if (error instanceof CommitUnknownError && !isRead) {
    return new DomainError(
      'unavailable',
      'The connection to the database was lost while the request was being stored: it may or may not have taken effect. Repeat it with the same Idempotency-Key, or read the state first.',
      { retryAfterSeconds: 1 },
    )
  }
  return new DomainError('unavailable', `${describeOutage(error)} Try again shortly.`, { retryAfterSeconds: 1 })
}

import { auditLog, type Database, idempotency, type NewAuditEntry, type Replica, storedBytes, type Tx, transaction } from '@muster/db'
import { type Actor, type Archive, DomainError, idsOfResult, type Origin, runOf, type Settings, type Tracing } from '@muster/domain'
import type { JudgeJobs, Notifier, RunJobs } from '@muster/jobs'
import type { WriteWatch } from './write-watch.ts'

/** What a process gives its use-cases. A plain object: tests pass a literal. */
export interface Deps {
  /** Works in one project at a time. */
  db: Database
  /** Sees the tables of dispatching across projects. */
  dispatchDb: Database
  /** A hot standby for lists, searches and statistics; absent where there is none. */
  replica?: Replica
  runJobs: RunJobs
  judgeJobs: JudgeJobs
  notifier: Notifier
  /** What this process knows of whether the database takes writes. */
  writes: WriteWatch
  settings: Settings
  /** A new UUIDv7. */
  newId: () => string
  /** The data folder in which this process runs work; absent where it runs none. */
  place?: string
  /** The worker that this process is; absent where it is none. */
  workerId?: string
  /** Where rows go before they are dropped; null if they go nowhere. */
  archive: Archive | null
  log: Log
  /** Absent where nothing is traced. */
  tracing?: Tracing
}

export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** `Deps` and who asks. */
export interface Ctx extends Deps {
  actor: Actor
  /** The span of the request, or what its caller sent: the parent of what it starts. */
  traceparent?: string
  /** Set by an entry point whose writes belong in the audit log. */
  origin?: Origin
  /** Set by a door when the caller sent an `Idempotency-Key`. */
  idempotency?: Idempotency
}

/** An answer as it is stored and replayed. */
export interface StoredAnswer {
  status: number
  headers: Record<string, string>
  body: unknown
}

export interface Idempotency {
  key: string
  /** SHA-256 of method, path, query and body. */
  requestHash: Buffer
  /** Builds what is stored from the use-case's result. Secrets are left out of it. */
  toAnswer(result: unknown): StoredAnswer
}

/** Thrown instead of a result when the same request was answered before: the door sends `answer` again. */
export class Replay extends Error {
  readonly answer: StoredAnswer

  constructor(answer: StoredAnswer) {
    super('answered before')
    this.name = 'Replay'
    this.answer = answer
  }
}

/** A read in the actor's project. */
export function reading<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transaction(ctx.db, ctx.actor.projectId, work)
}

/**
 * A list, a search or statistics in the actor's project, at a standby where there is one. It has everything that was acknowledged before. Not for reads that
 * decide about a write, and not for work with effects: it may run twice.
 */
export function readingMany<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>): Promise<T> {
  return ctx.replica === undefined ? reading(ctx, work) : ctx.replica.read(ctx.actor.projectId, work)
}

/**
 * How the use-cases of callers write: one transaction in the actor's project. Where the entry point says where the write comes from, its entry in the audit log is
 * part of the commit. With an `Idempotency-Key` the answer is stored in the same commit as the effect, so that a crash leaves both or neither, and a repetition
 * gets the stored answer. Two are a call of a function instead, which does the same: `deliverAlone` and `insertAlone`.
 *
 * @param isAnswer whether a result is worth repeating; one that is not commits without using the key up
 * @throws Replay when the same request was answered before
 * @throws DomainError `request_in_progress` while the same key is being answered, `idempotency_mismatch` for another request
 */
export async function inProject<T>(ctx: Ctx, writes: (tx: Tx) => Promise<T>, isAnswer: (result: T) => boolean = () => true): Promise<T> {
  const { idempotency: request, actor } = ctx
  const runId = runOf(actor)
  const work = async (tx: Tx): Promise<T> => {
    if (runId !== null) await storedBytes.countForRun(tx, runId)
    return await writes(tx)
  }
  const audited = async (tx: Tx, result: T): Promise<T> => {
    // Null says that there was nothing to act on.
    if (isAnswer(result) && result !== null) recordWrites(tx, actor.projectId, [ctx], [result ?? {}])
    return result
  }
  if (request === undefined) return await transaction(ctx.db, actor.projectId, async (tx) => audited(tx, await work(tx)))
  return await transaction(ctx.db, actor.projectId, async (tx) => {
    if (!(await idempotency.lockIdempotencyKey(tx, actor.projectId, actor.id, request.key))) {
      throw new DomainError('request_in_progress', 'A request with this Idempotency-Key is still being answered. Try again in a moment.', {
        retryAfterSeconds: 1,
      })
    }
    const known = await idempotency.findIdempotencyKey(tx, actor.projectId, actor.id, request.key)
    if (known !== null) {
      if (!known.requestHash.equals(request.requestHash)) {
        throw new DomainError('idempotency_mismatch', 'This Idempotency-Key was used before with another request. Use a new key for a new request.')
      }
      throw new Replay({ status: known.status, headers: known.headers, body: known.body })
    }
    const result = await work(tx)
    if (!isAnswer(result)) return result
    await idempotency.insertIdempotencyKey(tx, actor.projectId, actor.id, request.key, { requestHash: request.requestHash, ...request.toAnswer(result) })
    return await audited(tx, result)
  })
}

/**
 * Looks whether a request was answered before, where it cannot be served now: its effect is there, and so is its answer.
 *
 * @throws Replay when it was
 */
export async function replayIfAnswered({ idempotency: request, actor, db }: Ctx): Promise<void> {
  if (request === undefined) return
  const known = await transaction(db, actor.projectId, (tx) => idempotency.findIdempotencyKey(tx, actor.projectId, actor.id, request.key))
  if (known?.requestHash.equals(request.requestHash) === true) throw new Replay({ status: known.status, headers: known.headers, body: known.body })
}

/**
 * Records who wrote what from where, as the last statement of the transaction, which travels with its COMMIT. Callers without an origin, such as workers
 * and the scheduler, leave no entry.
 *
 * @param results of the callers, in their order; undefined where a caller was refused
 * @param subtaskIds what each of them makes, where it is not known yet whether it is refused: then it leaves an entry only with its subtask
 */
export function recordWrites(
  tx: Tx,
  projectId: string,
  callers: readonly Pick<Ctx, 'actor' | 'origin'>[],
  results: readonly unknown[],
  subtaskIds: readonly string[] = [],
): void {
  const entries = callers.flatMap((caller, place) => auditEntryOf(caller, results[place], subtaskIds[place]) ?? [])
  if (entries.length > 0) tx.withCommit(auditLog.insertAuditEntries(tx, projectId, entries))
}

/**
 * The entry of a write in the audit log; null where it leaves none.
 *
 * @param result undefined where the caller was refused
 * @param subtaskId see `recordWrites`
 */
export function auditEntryOf({ actor, origin }: Pick<Ctx, 'actor' | 'origin'>, result: unknown, subtaskId?: string): NewAuditEntry | null {
  if (origin === undefined || result === undefined) return null
  const { kind, id, name = null } = actor
  return { onlyWithSubtaskId: subtaskId ?? null, actor: { kind, id, name }, origin: { ...origin, ids: withResult(origin.ids, idsOfResult(result)) } }
}

/** The ids of a request and of its result. Where both have an `id`, the request says what was acted on, and the result what came of it. */
function withResult(asked: Origin['ids'], { id, ...made }: Origin['ids']): Origin['ids'] {
  const own: Origin['ids'] = id === undefined || id === asked.id ? {} : asked.id === undefined ? { id } : { result_id: id }
  return { ...made, ...own, ...asked }
}

import { type Database, type Tx, transaction } from '@muster/db'
import type { Actor, Settings } from '@muster/domain'
import type { JudgeJobs, Notifier, RunJobs } from '@muster/jobs'
import type { WriteWatch } from './write-watch.ts'

/** What a process gives its use-cases. A plain object: tests pass a literal. */
export interface Deps {
  /** Works in one project at a time. */
  db: Database
  /** Sees the tables of dispatching across projects. */
  dispatchDb: Database
  runJobs: RunJobs
  judgeJobs: JudgeJobs
  notifier: Notifier
  /** What this process knows of whether the database takes writes. */
  writes: WriteWatch
  settings: Settings
  /** A new UUIDv7. */
  newId: () => string
  log: Log
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

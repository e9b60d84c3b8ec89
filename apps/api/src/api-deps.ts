import type { Socket } from 'node:net'
import type { DomainError } from '@muster/domain'
import type { LocalCaller, RunnerDescription } from '@muster/runners'
import type { Deps } from '@muster/usecases'
import type { CredentialWatch } from './credential-watch.ts'
import type { EventFeed } from './events/feed.ts'
import type { DocumentCache } from './http/document-cache.ts'
import type { EndWaiters } from './http/end-waiters.ts'
import type { Waiters } from './http/waiters.ts'
import type { ReadinessReport } from './readiness.ts'

/** What routes, tools and hooks need besides the dependencies of use-cases. Composed in `deps.ts`. */
export interface ApiDeps extends Deps {
  /** Every runner that a subtask may name. Cheap: the answer is kept for a second. */
  runners(): RunnerDescription[]
  /** The settings that this model lacks to judge outputs; null is the judge's default model. */
  missingForJudge(model: string | null): string[]
  /** The process at the other end of a loopback connection. Takes a few milliseconds. */
  findLocalCaller(socket: Socket): Promise<LocalCaller>
  /** The events of the log as they appear, for streams and long polls. */
  feed: EventFeed
  /** Requests that wait for an end. */
  endWaiters: EndWaiters
  /** Subtasks that ended, as they are sent. */
  subtaskDocuments: DocumentCache
  /** Ends streams whose credential has ended. */
  credentialWatch: CredentialWatch
  /** Requests of outside workers that wait; woken whenever jobs may be waiting. */
  runWaiters: Waiters
  /** Whether an error means that the database was not available. */
  isUnavailable(error: unknown): boolean
  /** The error for the caller; `isRead` where the request changes nothing. */
  unavailable(error: unknown, isRead?: boolean): DomainError
  /** Whether this process can serve, and which part it lacks if not. */
  readiness(): Promise<ReadinessReport>
  /** Aborted when the process begins to stop: streams and long polls end then. */
  stopping: AbortSignal
}

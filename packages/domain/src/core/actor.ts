import { DomainError, notFound } from './errors.ts'

export const SCOPES = [
  'subtasks:read',
  'subtasks:write',
  'subtasks:claim',
  'tasks:read',
  'tasks:write',
  'sessions:write',
  'schedules:read',
  'schedules:write',
  'evaluations:read',
  'evaluations:write',
  'subagents:read',
  'subagents:write',
  'subagents:spawn',
  'tsgs:read',
  'tsgs:write',
  'memory:read',
  'memory:write',
  'events:read',
  'webhooks:write',
  'admin',
] as const

export type Scope = (typeof SCOPES)[number]

/** What a subtask's own credential may do, and only with its own work and the task that it works on; memory is its whole project's. */
export const SUBTASK_SCOPES: readonly Scope[] = [
  'subtasks:read',
  'events:read',
  'tasks:read',
  'tasks:write',
  'tsgs:read',
  'sessions:write',
  'memory:read',
  // To learn: what is deleted, `requireController` keeps from it.
  'memory:write',
]

/** What the credential may do that comes with an assigned task, and only with that task. */
export const ASSIGNMENT_SCOPES: readonly Scope[] = ['events:read', 'tasks:read', 'tasks:write', 'tsgs:read', 'sessions:write']

/** Where a credential comes from when work that Muster started holds it. Depth is always 1: such work cannot start further work. */
export interface Lineage {
  /** The subtask that holds it; null where it came with an assigned task. */
  subtaskId: string | null
  /** The assigned task that it came with; null where a subtask holds it. */
  taskId: string | null
  sessionId: string
  depth: 1
}

/** Who asks: resolved from the credential alone, never from the request's own claims. */
export interface Actor {
  kind: 'key' | 'open' | 'subtask' | 'session' | 'worker' | 'schedule' | 'system' | 'telegram'
  /** The key, subtask, session, worker, or user of Telegram; recorded on events and updates. */
  id: string
  /** The session that a caller without a key named. It opens nothing; updates name their sender by it. */
  name?: string | null
  projectId: string
  scopes: readonly Scope[]
  /** Set on a key that is bound to one agent: it overrides what a request says. */
  agentId: string | null
  lineage: Lineage | null
}

/**
 * The run whose stored bytes a caller adds to: the subtask that holds its credential, or the task that it came with. Null for callers that no run limits.
 */
export function runOf({ lineage }: Pick<Actor, 'lineage'>): string | null {
  return lineage === null ? null : (lineage.subtaskId ?? lineage.taskId)
}

export function hasScope(actor: Actor, scope: Scope): boolean {
  return actor.scopes.includes(scope) || actor.scopes.includes('admin')
}

/** @throws DomainError `forbidden`, naming the scope that is missing */
export function requireScope(actor: Actor, scope: Scope): void {
  if (hasScope(actor, scope)) return
  throw new DomainError('forbidden', `This credential lacks the scope ${scope}.`, { required_scope: scope })
}

/**
 * Refuses to start work from within work. Decided by identity: no prompt can talk its way around it. [011] Recursive spawning
 *
 * @throws DomainError `spawn_blocked`
 */
export function requireSpawnAllowed(actor: Actor): void {
  if (actor.lineage === null) return
  const message = 'A subtask cannot start further subtasks. Finish this one; its caller decides what comes next.'
  // As the source document has it: who is within a sub-agent already.
  throw new DomainError('spawn_blocked', message, { id: actor.lineage.sessionId })
}

/**
 * Keeps a sub-agent from deciding about briefs: it reads its own, reports on it and completes it.
 *
 * @throws DomainError `forbidden`
 */
export function requireController(actor: Actor): void {
  if (actor.lineage === null) return
  throw new DomainError(
    'forbidden',
    'The credential of a sub-agent may only read, check in on and complete its own task. The caller that assigned the task does the rest.',
    {
      required_scope: 'tasks:write',
    },
  )
}

/**
 * Confines a sub-agent's own credential to the task that its session holds.
 *
 * @throws DomainError `not_found`, the answer for everything that is not its own
 */
export function requireOwnTask(actor: Actor, task: { id: string; subagentSessionId: string | null }): void {
  const { lineage } = actor
  if (lineage === null) return
  if (task.subagentSessionId !== lineage.sessionId || (lineage.taskId !== null && lineage.taskId !== task.id)) throw notFound('task')
}

/**
 * Confines a sub-agent's own credential to its own session.
 *
 * @throws DomainError `not_found`, the answer for everything that is not its own
 */
export function requireOwnSession(actor: Actor, sessionId: string): void {
  if (actor.lineage !== null && actor.lineage.sessionId !== sessionId) throw notFound('session')
}

/** The one thing whose events a sub-agent's own credential sees; undefined where all of the project are seen. */
export function ownSubjectId(actor: Actor): string | undefined {
  return actor.lineage === null ? undefined : (actor.lineage.subtaskId ?? actor.lineage.taskId ?? '')
}

/**
 * Confines a subtask's own credential to its own subtask.
 *
 * @throws DomainError `not_found`, the answer for everything that is not its own
 */
export function requireOwnSubtask(actor: Actor, subtaskId: string): void {
  if (actor.lineage !== null && actor.lineage.subtaskId !== subtaskId) throw notFound('subtask')
}

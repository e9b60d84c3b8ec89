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

/** What a subtask's own credential may do, and only with its own work. */
export const SUBTASK_SCOPES: readonly Scope[] = ['subtasks:read', 'events:read']

/** Where a credential comes from when work that Muster started holds it. Depth is always 1: such work starts no further work. */
export interface Lineage {
  subtaskId: string
  sessionId: string
  depth: 1
}

/** Who asks: resolved from the credential alone, never from the request's own claims. */
export interface Actor {
  kind: 'key' | 'open' | 'subtask' | 'worker' | 'system'
  /** The key, subtask or worker; recorded on events and updates. */
  id: string
  projectId: string
  scopes: readonly Scope[]
  /** Set on a key that is bound to one agent: it overrides what a request says. */
  agentId: string | null
  lineage: Lineage | null
}

/** @throws DomainError `forbidden`, naming the scope that is missing */
export function requireScope(actor: Actor, scope: Scope): void {
  if (actor.scopes.includes(scope) || actor.scopes.includes('admin')) return
  throw new DomainError('forbidden', `This credential lacks the scope ${scope}.`, { required_scope: scope })
}

/**
 * Refuses to start work from within work. Decided by identity: no prompt can talk its way around it. [011] Recursive spawning
 *
 * @throws DomainError `spawn_blocked`
 */
export function requireSpawnAllowed(actor: Actor): void {
  if (actor.lineage === null) return
  throw new DomainError('spawn_blocked', 'A subtask cannot start further subtasks. Finish this one and let whoever asked for it decide what comes next.')
}

/**
 * Confines a subtask's own credential to its own subtask.
 *
 * @throws DomainError `not_found`, the answer for everything that is not its own
 */
export function requireOwnSubtask(actor: Actor, subtaskId: string): void {
  if (actor.lineage !== null && actor.lineage.subtaskId !== subtaskId) throw notFound('subtask')
}

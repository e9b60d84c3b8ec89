import { describe, expect, it } from 'vitest'
import type { Actor } from '../core/actor.ts'
import { DEFAULT_PROJECT_ID } from '../projects/project.ts'
import { isOperator, workerState } from './worker.ts'

describe('the state of a worker', () => {
  const at = new Date(0)
  it.each([
    ['active', { silentMs: 400, drain: null, drainedAt: null }],
    ['draining', { silentMs: 400, drain: 'finish', drainedAt: null }],
    ['drained', { silentMs: 400, drain: 'release', drainedAt: at }],
    ['lost', { silentMs: 5_001, drain: null, drainedAt: null }],
    ['lost', { silentMs: 60_000, drain: 'finish', drainedAt: at }],
  ] as const)('is %s', (state, worker) => {
    expect(workerState(worker)).toBe(state)
  })
})

describe('an operator', () => {
  const actor: Actor = { kind: 'key', id: 'k', projectId: DEFAULT_PROJECT_ID, scopes: ['admin'], agentId: null, lineage: null }

  it('has the scope admin in the default project, and only there', () => {
    expect(isOperator(actor)).toBe(true)
    expect(isOperator({ ...actor, scopes: ['subtasks:read'] })).toBe(false)
    expect(isOperator({ ...actor, projectId: '01990000-0000-7000-8000-000000000000' })).toBe(false)
  })
})

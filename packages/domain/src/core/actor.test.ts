import { describe, expect, it } from 'vitest'
import {
  type Actor,
  ASSIGNMENT_SCOPES,
  DomainError,
  EVENT_TYPES,
  isTerminalSubtaskEvent,
  isUuid,
  ownSubjectId,
  requireController,
  requireOwnSubtask,
  requireOwnTask,
  requireScope,
  requireSpawnAllowed,
  SCOPES,
  SUBTASK_SCOPES,
} from '../index.ts'

const key: Actor = { kind: 'key', id: 'k', projectId: 'p', scopes: ['subtasks:read'], agentId: null, lineage: null }
const own: Actor = { ...key, kind: 'subtask', id: 's1', scopes: SUBTASK_SCOPES, lineage: { subtaskId: 's1', taskId: null, sessionId: 'subtask-s1', depth: 1 } }

function codeOf(work: () => void): string | null {
  try {
    work()
    return null
  } catch (error) {
    return error instanceof DomainError ? error.code : String(error)
  }
}

describe('an actor', () => {
  it('may do what its scopes say, and admin everything', () => {
    for (const scope of SCOPES) {
      expect(codeOf(() => requireScope(key, scope))).toBe(scope === 'subtasks:read' ? null : 'forbidden')
      expect(codeOf(() => requireScope({ ...key, scopes: ['admin'] }, scope))).toBeNull()
    }
  })

  it('starts no work from within work, whatever its scopes', () => {
    expect(codeOf(() => requireSpawnAllowed(key))).toBeNull()
    expect(codeOf(() => requireSpawnAllowed({ ...own, scopes: ['admin'] }))).toBe('spawn_blocked')
  })

  it("that is a subtask's own credential finds nothing but itself", () => {
    expect(codeOf(() => requireOwnSubtask(own, 's1'))).toBeNull()
    expect(codeOf(() => requireOwnSubtask(own, 's2'))).toBe('not_found')
    expect(codeOf(() => requireOwnSubtask(key, 's2'))).toBeNull()
  })

  it("that is a sub-agent's own credential finds no task but the one that its session holds, and decides over none", () => {
    const assigned: Actor = { ...own, kind: 'session', id: 'a', lineage: { subtaskId: null, taskId: 't1', sessionId: 'a', depth: 1 } }
    const held = (actor: Actor, id: string, subagentSessionId: string | null) => codeOf(() => requireOwnTask(actor, { id, subagentSessionId }))
    expect([held(key, 't2', null), held(assigned, 't1', 'a'), held(own, 't1', 'subtask-s1')]).toEqual([null, null, null])
    expect([held(assigned, 't2', 'a'), held(assigned, 't1', 'b'), held(assigned, 't1', null), held(own, 't1', 'a')]).toEqual(Array(4).fill('not_found'))
    expect([codeOf(() => requireController(key)), codeOf(() => requireController(own)), codeOf(() => requireController(assigned))]).toEqual([
      null,
      'forbidden',
      'forbidden',
    ])
  })

  it("sees the events of one thing as a sub-agent's own credential", () => {
    const assigned: Actor = { ...own, lineage: { subtaskId: null, taskId: 't1', sessionId: 'a', depth: 1 } }
    expect([ownSubjectId(key), ownSubjectId(own), ownSubjectId(assigned)]).toEqual([undefined, 's1', 't1'])
  })

  it("writes nothing but its task and its session as a sub-agent's own credential, and what it learns as a subtask's", () => {
    const writes = (scopes: typeof SUBTASK_SCOPES) => scopes.filter((scope) => !scope.endsWith(':read'))
    expect(writes(ASSIGNMENT_SCOPES)).toEqual(['tasks:write', 'sessions:write'])
    expect(writes(SUBTASK_SCOPES)).toEqual(['tasks:write', 'sessions:write', 'memory:write'])
  })
})

describe('names', () => {
  it('tell terminal events from others', () => {
    expect(EVENT_TYPES.filter(isTerminalSubtaskEvent)).toEqual(['subtask.completed', 'subtask.failed', 'subtask.cancelled'])
  })

  it.each([
    ['018f2b7e-7d3a-7cc0-8000-000000000001', true],
    ['018F2B7E-7D3A-7CC0-8000-000000000001', true],
    ['018f2b7e7d3a7cc08000000000000001', false],
    ['018f2b7e-7d3a-7cc0-8000-00000000000g', false],
    ['018f2b7e-7d3a-7cc0-8000-000000000001\n', false],
    ['', false],
  ])('are UUIDs or not: %j', (text, expected) => {
    expect(isUuid(text)).toBe(expected)
  })
})

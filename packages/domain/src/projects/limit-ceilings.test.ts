import { describe, expect, it } from 'vitest'
import { capLimits, limitCeilings, limitsAboveCeilings, parseSettings } from '../index.ts'

const ceilings = { running: 10, pending: 100, storedBytes: 1_000, runStoredBytes: 100 }

describe('ceilings of the limits of a project', () => {
  it('are met by each limit of the project and of its agents, and the problem says where and how much', () => {
    const limits = { pending: 101, running_per_agent: 11, agents: { 'a/b': { running: 11, pending: 100 }, c: { pending: 1_000_000 } } }
    expect(limitsAboveCeilings({ limits }, ceilings)).toEqual([
      expect.objectContaining({ pointer: '/settings/limits/running_per_agent', reason: expect.stringContaining('must be at most 10,') }),
      expect.objectContaining({ pointer: '/settings/limits/pending', value: 101, reason: expect.stringContaining('must be at most 100,') }),
      expect.objectContaining({ pointer: '/settings/limits/agents/a~1b/running' }),
      expect.objectContaining({ pointer: '/settings/limits/agents/c/pending' }),
    ])
    expect(limitsAboveCeilings({ limits: { pending: 100, running: 0 } }, ceilings)).toEqual([])
    expect(limitsAboveCeilings({}, ceilings)).toEqual([])
  })

  it('are met by the bytes of the project and of its runs', () => {
    const limits = { stored_bytes: 1_001, run_stored_bytes: 101 }
    expect(limitsAboveCeilings({ limits }, ceilings).map(({ field, reason }) => `${field} ${reason}`)).toEqual([
      'settings.limits.stored_bytes must be at most 1000, the ceiling that the operator set for bytes stored by a project',
      'settings.limits.run_stored_bytes must be at most 100, the ceiling that the operator set for bytes stored by a run',
    ])
    expect(capLimits({ limits }, ceilings)).toEqual({ limits: { stored_bytes: 1_000, run_stored_bytes: 100 } })
  })

  it('cap what was stored above them, and nothing else', () => {
    const settings = { limits: { pending: 5_000, running: 3, agents: { c: { pending: 500, budget: {} } } }, timezone: 'UTC' }
    expect(capLimits(settings, ceilings)).toEqual({ limits: { pending: 100, running: 3, agents: { c: { pending: 100, budget: {} } } }, timezone: 'UTC' })
    expect(settings.limits.pending).toBe(5_000)
  })

  it('are never below the limits of the server', () => {
    const settings = parseSettings({
      PROJECT_RUNNING_CEILING: '5',
      PROJECT_PENDING_CEILING: '5',
      SUBTASK_MAX_CONCURRENT: '7',
      SUBTASK_PROJECT_MAX_PENDING: '90',
    })
    expect(limitCeilings(settings)).toMatchObject({ running: 7, pending: 90 })
  })
})

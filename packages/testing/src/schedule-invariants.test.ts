import { deactivateSchedule, fireSchedules, pauseSchedule, triggerSchedule } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drainOutbox, type Harness, invariants, spawnMany, startHarness, storeSchedules } from './index.ts'

interface Scene {
  /** Has fired, and goes on. */
  active: string
  /** Its slot waits for room, and it has no other. */
  waiting: string
  paused: string
  finished: string
  deactivated: string
  /** Has been triggered, and has never fired. */
  triggered: string
}

let harness: Harness
let scene: Scene

beforeAll(async () => {
  harness = await startHarness()
  scene = await arrange(harness)
})

afterAll(() => harness.close())

/** Schedules in every state. */
async function arrange({ admin, ctx, deps }: Harness): Promise<Scene> {
  const timing = { kind: 'interval', seconds: 3600, anchorAt: '' } as const
  await spawnMany(ctx, 5, { agentId: 'busy' })
  const [active, waiting, paused, finished, deactivated, triggered] = (await storeSchedules(admin, [
    { timing },
    { agentId: 'busy' },
    { timing, agentId: 'paused', state: 'paused' },
    { agentId: 'finished' },
    { timing, agentId: 'deactivated' },
    { timing, agentId: 'triggered', dueInMs: 3_600_000 },
  ])) as [string, string, string, string, string, string]
  await fireSchedules(deps, { except: [], signal: new AbortController().signal })
  await pauseSchedule(ctx, paused)
  await deactivateSchedule(ctx, deactivated)
  await triggerSchedule(ctx, triggered, () => {})
  await drainOutbox(deps)
  return { active, waiting, paused, finished, deactivated, triggered }
}

class Undo extends Error {}

/** Breaks something, answers which claims are broken then, and takes it back. */
async function claimsBrokenBy(statement: (scene: Scene) => string): Promise<string> {
  let problems: string[] = []
  const broken = harness.admin.begin(async (transaction) => {
    await transaction.unsafe(statement(scene))
    // The look has to be part of the transaction that sees the damage.
    problems = await invariants({ begin: (_: string, look: (sql: typeof transaction) => unknown) => look(transaction) } as never)
    throw new Undo()
  })
  await expect(broken).rejects.toThrow(Undo)
  return problems.join('\n')
}

const EVENT = `(seq, project_id, type, at, subject_kind, subject_id, data, actor_kind, actor_id)
  select 1000000, project_id, type, at, subject_kind, subject_id, data, actor_kind, actor_id from events`

describe('invariants of schedules', () => {
  it('hold for schedules in every state', async () => {
    expect(await invariants(harness.admin)).toEqual([])
  })

  it.each<[string, (scene: Scene) => string, RegExp]>([
    ['a subtask has no slot', ({ active }) => `delete from schedule_slots where schedule_id = '${active}'`, /exactly one slot, which has fired/],
    [
      'a slot has another schedule’s subtask',
      ({ active, finished }) => `update subtasks set schedule_id = '${finished}' where schedule_id = '${active}'`,
      /exactly one subtask, of its own schedule/,
    ],
    [
      'two slots have the same subtask',
      ({ active }) => `insert into schedule_slots (project_id, id, schedule_id, agent_id, slot, manual, outcome, fired_at, subtask_id)
        select project_id, gen_random_uuid(), schedule_id, agent_id, now(), true, outcome, fired_at, subtask_id from schedule_slots where schedule_id = '${active}'`,
      /no two slots have the same/,
    ],
    [
      'a slot has come twice',
      ({ paused }) => `drop index schedule_slots_once; insert into schedule_slots (project_id, id, schedule_id, agent_id, slot, outcome)
        select project_id, gen_random_uuid(), schedule_id, agent_id, slot, outcome from schedule_slots where schedule_id = '${paused}'`,
      /a slot comes once/,
    ],
    ['a firing was not counted', ({ active }) => `update schedules set fire_count = 0 where id = '${active}'`, /counts the slots that have fired/],
    ['a triggered run was counted', ({ triggered }) => `update schedules set fire_count = 1 where id = '${triggered}'`, /counts the slots that have fired/],
    [
      'two slots wait',
      ({ waiting }) => `drop index schedule_slots_waiting; insert into schedule_slots (project_id, id, schedule_id, agent_id, slot, outcome)
        select project_id, gen_random_uuid(), schedule_id, agent_id, now(), outcome from schedule_slots where schedule_id = '${waiting}'`,
      /at most one slot of a schedule waits/,
    ],
    ['an active one has nothing to come', ({ active }) => `update schedules set next_fire_at = null where id = '${active}'`, /that goes on has a next slot/],
    ['an ended one has a slot that waits', ({ waiting }) => `update schedules set state = 'finished' where id = '${waiting}'`, /has neither/],
    [
      'a paused one has a slot that waits',
      ({ waiting }) => `update schedules set state = 'paused', next_fire_at = now() where id = '${waiting}'`,
      /has none that waits/,
    ],
    ['a slot is to come again', ({ active }) => `update schedules set next_fire_at = '2000-01-01' where id = '${active}'`, /is before the next one/],
    ['a firing was not announced', ({ active }) => `delete from events where subject_id = '${active}'`, /was announced once/],
    [
      'a slot that was passed by was not announced',
      ({ paused }) => `delete from events where subject_id = '${paused}' and type = 'schedule.skipped'`,
      /was announced once/,
    ],
    ['a firing was announced twice', ({ active }) => `insert into events ${EVENT} where subject_id = '${active}'`, /was announced once/],
    [
      'an end was not announced',
      ({ finished }) => `delete from events where subject_id = '${finished}' and type = 'schedule.finished'`,
      /the end of a schedule/,
    ],
    [
      'something came after the end',
      ({ deactivated }) => `insert into events ${EVENT} where subject_id = '${deactivated}' and type = 'schedule.fired'`,
      /nothing after it/,
    ],
  ])('are broken when %s', async (_, statement, claim) => {
    expect(await claimsBrokenBy(statement)).toMatch(claim)
  })
})

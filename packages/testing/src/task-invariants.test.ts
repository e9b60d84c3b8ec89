import { assignTask, cancelTask, completeTask, dispatchTask, injectSession, noteTask, reviseTask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drainOutbox, type Harness, invariants, makeTask, startHarness } from './index.ts'

interface Scene {
  /** Held by the session `holder`, which received its brief and one note, with another note on its way. */
  held: string
  /** Waits for `held`. */
  blocked: string
  /** Completed with an output. */
  done: string
  /** Run by a subtask. */
  run: string
}

let harness: Harness
let scene: Scene

beforeAll(async () => {
  harness = await startHarness()
  scene = await arrange(harness)
})

afterAll(() => harness.close())

/** Tasks in every state that the invariants speak of, and a claim that waits to be acknowledged. */
async function arrange({ ctx, deps }: Harness): Promise<Scene> {
  const auto = { ack: 'auto', messages: [] } as const
  const held = await makeTask(ctx, { required_outputs: ['count'] })
  const blocked = await makeTask(ctx, { depends_on: [held.id] })
  await assignTask(ctx, held.id, 'holder')
  await injectSession(ctx, 'holder', auto)
  await noteTask(ctx, held.id, 'told')
  await injectSession(ctx, 'holder', auto)
  await reviseTask(ctx, held.id, { title: 'Count all files' }, [1])
  const done = await makeTask(ctx, { required_outputs: ['count'] })
  await noteTask(ctx, done.id, 'too late')
  await completeTask(ctx, done.id, { outputs: { count: 3 } })
  const run = await makeTask(ctx)
  await dispatchTask(ctx, run.id, () => ({ runner: 'own' }))
  const lent = await makeTask(ctx)
  await assignTask(ctx, lent.id, 'careful')
  await injectSession(ctx, 'careful', { ack: 'manual', messages: [] })
  const given = await makeTask(ctx)
  await assignTask(ctx, given.id, 'first')
  await reviseTask(ctx, given.id, { title: 'Count them twice' }, [1])
  await assignTask(ctx, given.id, 'second')
  await cancelTask(ctx, given.id, 'Not needed.')
  await drainOutbox(deps)
  await noteTask(ctx, held.id, 'still in the outbox')
  return { held: held.id, blocked: blocked.id, done: done.id, run: run.id }
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

describe('invariants of tasks', () => {
  it('hold for tasks in every state', async () => {
    expect(await invariants(harness.admin)).toEqual([])
  })

  it.each<[string, (scene: Scene) => string, RegExp]>([
    ['an ended task is held', ({ done }) => `update assignments set task_id = '${done}' where session_id = 'holder'`, /by none once it has ended/],
    ['two hold a task', ({ held }) => `update assignments set task_id = '${held}' where session_id = 'careful'`, /held by one session at most/],
    ['another holds it than it says', ({ held }) => `update tasks set subagent_session_id = 'x' where id = '${held}'`, /the one that it names/],
    [
      'nobody holds what was given away',
      () => `update assignments set ended_at = now(), has_news = false, credential_hash = null`,
      /task is held, and a waiting/,
    ],
    ['a waiting task is held', ({ held }) => `update tasks set status = 'pending' where id = '${held}'`, /a waiting one is not/],
    [
      'the subtask of a running task has ended',
      () => `update subtasks set status = 'failed', final_outcome = 'errored', completed_at = now(), slot = false, slot_at = null, job_id = null`,
      /only until that subtask ends/,
    ],
    ['a subtask runs on for a cancelled task', ({ run }) => cancelled(run), /is asked to stop/],
    ['a task that waits is not blocked', ({ blocked }) => `update tasks set status = 'pending' where id = '${blocked}'`, /is blocked exactly as long/],
    ['a task is blocked by nothing', () => 'delete from task_dependencies', /is blocked exactly as long/],
    [
      'two wait for each other',
      ({ held, blocked }) =>
        `insert into task_dependencies (project_id, task_id, depends_on_id) select project_id, '${held}', '${blocked}' from task_dependencies`,
      /waits for itself/,
    ],
    ['an update is missing', ({ held }) => `delete from updates where task_id = '${held}' and seq = 2`, /numbered from 1 without gaps/],
    ['a revision is missing', ({ held }) => `delete from task_revisions where task_id = '${held}' and revision = 1`, /numbered from 1 without gaps/],
    [
      'a task asks for less than its revision',
      ({ held }) => `update tasks set required_outputs = '[]' where id = '${held}'`,
      /what its newest revision asks for/,
    ],
    ['a completed task lacks an output', ({ done }) => `update tasks set completion_outputs = '{"count": null}' where id = '${done}'`, /has every output/],
    ['news are not marked', () => `update assignments set has_news = false where session_id = 'holder'`, /marked as undelivered exactly/],
    ['a holder has been told what there is not', () => `update assignments set delivered_seq = 9 where session_id = 'holder'`, /marked as undelivered exactly/],
    ['a holder has passed by an update', () => `update assignments set delivered_seq = 2 where session_id = 'holder'`, /its holder has not got further/],
    ['an update waits for an ended task', ({ done }) => `update updates set status = 'queued' where task_id = '${done}'`, /only as long as its task goes on/],
    ['a holder is behind its receipts', () => `update assignments set delivered_seq = 0 where session_id = 'holder'`, /within its delivery cursor/],
    ['a stranger was told', () => `update updates set delivered_to = 'stranger' where delivered_to = 'holder'`, /went to a session that held the task/],
    [
      'two claims of a session are open',
      () => `drop index injection_claims_open; insert into injection_claims (project_id, id, session_id, held, lease_expires_at)
        select project_id, gen_random_uuid(), session_id, held, lease_expires_at from injection_claims`,
      /at most one injection that waits/,
    ],
    ['a terminal event is missing', ({ done }) => `delete from events where subject_id = '${done}' and type = 'task.completed'`, /end with its end/],
    ['a task ends twice', ({ done }) => `insert into events ${EVENT} where subject_id = '${done}' and type = 'task.completed'`, /of which there is one/],
    ['a task was never announced', ({ blocked }) => `delete from events where subject_id = '${blocked}'`, /begin with its creation/],
    ['a delivery is announced twice', () => `insert into events ${EVENT} where type = 'update.delivered' limit 1`, /announced once for each session/],
    [
      'an update was never announced',
      () => `delete from outbox where id in (select id from muster_system.waiting_events where type = 'update.queued')`,
      /was announced/,
    ],
  ])('are broken when %s', async (_, statement, claim) => {
    expect(await claimsBrokenBy(statement)).toMatch(claim)
  })
})

function cancelled(task: string): string {
  return `update tasks set status = 'cancelled', completed_at = now() where id = '${task}';
    update assignments set ended_at = now(), has_news = false where task_id = '${task}'`
}

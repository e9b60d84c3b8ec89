import { completeTask, dispatchTask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claimOne, completed, drainOutbox, type Harness, invariants, makeTask, settleOne, spawn, startHarness } from './index.ts'

interface Scene {
  /** Completed, and unrequested. */
  plain: string
  /** Failed. */
  failed: string
  /** Of a chain, whose first round was poor and whose second is still to come. */
  first: string
  second: string
}

let harness: Harness
let scene: Scene

beforeAll(async () => {
  harness = await startHarness()
  scene = await arrange(harness)
})

afterAll(() => harness.close())

async function arrange({ ctx, deps, admin }: Harness): Promise<Scene> {
  await spawn(ctx)
  const plain = await claimOne(ctx)
  await settleOne(ctx, plain)
  await spawn(ctx)
  const failed = await claimOne(ctx)
  await settleOne(ctx, failed, { kind: 'errored', error: 'No disk.', retryable: false, partialResult: null })
  const done = await makeTask(ctx)
  await completeTask(ctx, done.id, { outputs: {}, summary: 'Done.' })
  const task = await makeTask(ctx, { parent_session_id: 'boss', acceptance_criteria: ['It compiles'] })
  await dispatchTask(ctx, task.id, () => ({ runner: 'own', maxRevisions: 2 }))
  const first = await claimOne(ctx)
  await settleOne(ctx, first, completed('Here.\n<npl-block type="reflection">\n🐛 It does not compile.\n</npl-block>'))
  await drainOutbox(deps)
  const [second] = await admin<{ id: string }[]>`select id from subtasks where revision_of = ${first.id}`
  return { plain: plain.id, failed: failed.id, first: first.id, second: second?.id as string }
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

const COPY = `insert into evaluations (project_id, id, origin, task_id, subtask_id, message_id, session_id, score, recommendation, criteria_revision, detail, judge_of, is_judged)
  select project_id, gen_random_uuid(), origin, task_id, subtask_id, message_id, session_id, 0.5, recommendation, criteria_revision, detail, id, true from evaluations`

describe('invariants of evaluations and of chains', () => {
  it('hold for what was evaluated, and for a chain that goes on', async () => {
    expect(await invariants(harness.admin)).toEqual([])
  })

  it.each<[string, (scene: Scene) => string, RegExp]>([
    ['a result was not evaluated', ({ plain }) => `delete from evaluations where subtask_id = '${plain}'`, /exactly one evaluation without a judge/],
    [
      'a result was evaluated twice',
      ({ plain }) => `drop index evaluations_by_subtask; insert into evaluations (project_id, id, origin, subtask_id, recommendation, detail)
        select project_id, gen_random_uuid(), origin, subtask_id, recommendation, detail from evaluations where subtask_id = '${plain}'`,
      /exactly one evaluation without a judge/,
    ],
    [
      'what failed was evaluated',
      ({ plain, failed }) => `update evaluations set subtask_id = '${failed}' where subtask_id = '${plain}'`,
      /no other subtask has one/,
    ],
    [
      'an evaluation names another revision',
      ({ first }) => `update evaluations set criteria_revision = 2 where subtask_id = '${first}'`,
      /names the revision that was delivered/,
    ],
    ['a judge changes a score', ({ first }) => `${COPY} where subtask_id = '${first}'`, /only checks change the score/],
    ['an evaluation was not announced', () => `delete from events where type = 'evaluation.created'`, /was announced exactly once/],
    [
      'an evaluation was announced twice',
      () => `insert into events (seq, project_id, type, at, subject_kind, subject_id, data, actor_kind, actor_id)
        select 1000000, project_id, type, at, subject_kind, subject_id, data, actor_kind, actor_id from events where type = 'evaluation.created' limit 1`,
      /was announced exactly once/,
    ],
    ['a round is missing', ({ second }) => `update subtasks set revision_round = 2 where id = '${second}'`, /without gaps/],
    ['there are too many rounds', () => `update subtasks set max_revisions = 0`, /no more than it may have/],
    [
      'a round follows what is not poor',
      ({ first }) => `update evaluations set recommendation = 'approve' where subtask_id = '${first}'`,
      /of which the evaluation asks for it/,
    ],
    [
      'two rounds follow one',
      ({ first, failed }) => `update subtasks set revision_of = '${first}', revision_round = 1, max_revisions = 2 where id = '${failed}'`,
      /the only one/,
    ],
    ['a round is asked for in another way', ({ second }) => `update subtasks set timeout_seconds = 1 where id = '${second}'`, /in the same way/],
    ['the end of a round does not say what follows', ({ first }) => `update events set data = data - 'revised_by' where subject_id = '${first}'`, /says which/],
    [
      'the session that asked hears of a round that another one follows',
      ({ first }) =>
        `insert into inbox (project_id, id, session_id, subtask_id) select project_id, gen_random_uuid(), 'boss', id from subtasks where id = '${first}'`,
      /unless another revision round follows it/,
    ],
  ])('are broken when %s', async (_, statement, claim) => {
    expect(await claimsBrokenBy(statement)).toMatch(claim)
  })
})

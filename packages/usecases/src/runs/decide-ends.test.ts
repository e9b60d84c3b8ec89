import type { EndingRow, LockedTask } from '@muster/db'
import { type AttemptEnd, DEFAULT_EVALUATION_RULES, findBlocks, subtaskSessionId, type TaskStatus } from '@muster/domain'
import { describe, expect, it } from 'vitest'
import { decideRunEnd, type EndFacts } from './decide-ends.ts'
import { isSentBack } from './revision-round.ts'

const ROW: EndingRow = {
  id: '0198c9b1-0000-7000-8000-000000000001',
  agentId: 'writer',
  parentSessionId: 'parent',
  task: 'Write the guide.',
  taskId: '0198c9b1-0000-7000-8000-000000000002',
  taskRevision: 1,
  scheduleId: null,
  subagentName: null,
  subagentVersion: null,
  priority: 'normal',
  runner: 'own',
  jobId: '0198c9b1-0000-7000-8000-000000000003',
  attempt: 1,
  failures: 0,
  maxAttempts: 2,
  timeoutSeconds: 60,
  cancelRequested: false,
  requiredOutputs: [],
  revisionRound: 0,
  maxRevisions: 1,
  updateSeq: 0,
  workerId: 'worker-1',
  notify: true,
  leaseLapsed: false,
  hasProjectBudget: false,
  budgetMaxTokens: null,
  budgetMaxCostMicros: null,
  inputTokens: 0,
  outputTokens: 0,
  costMicros: 0,
  continuationBodyId: null,
}
const TASK_ID = ROW.taskId as string

/** A task that the subtask of `ROW` holds. Only what decisions read is set. */
const taskOf = (status: TaskStatus, more: Partial<LockedTask> = {}) =>
  ({
    id: TASK_ID,
    projectId: 'p',
    status,
    revision: 1,
    subtaskId: ROW.id,
    subagentSessionId: subtaskSessionId(ROW.id),
    requiredOutputs: [],
    ...more,
  }) as LockedTask

const CRITERIA = [{ id: '0198c9b1-0000-7000-8000-000000000004', text: 'The guide is written', source: 'acceptance', required: true, state: 'open' }] as const

function factsOf(task: LockedTask | null): EndFacts {
  let ids = 0
  return {
    projectId: 'p',
    tasks: new Map(task === null ? [] : [[task.id, task]]),
    rules: {
      rules: DEFAULT_EVALUATION_RULES,
      asking: new Set(),
      hasWaiting: false,
      judge: null,
      delivered: new Map([[ROW.id, { subtaskId: ROW.id, taskId: TASK_ID, revision: 1, criteria: [...CRITERIA] }]]),
      said: new Map(),
    },
    targets: new Map(),
    questions: new Map(),
    ageingSeconds: 60,
    newId: () => {
      ids += 1
      return `id-${ids}`
    },
  }
}

const completed = (result: string): AttemptEnd => ({ kind: 'completed', result, truncated: false, outputs: {}, summary: null })
const errored: AttemptEnd = { kind: 'errored', error: 'exit code 1', retryable: true, partialResult: null }
const GOOD = 'It has 12 pages.\n<npl-block type="check-in">\n- ✅ The guide is written: all links checked\n</npl-block>'
const POOR = `${GOOD}\n<npl-block type="reflection">\n🐛 It does not compile.\n</npl-block>`

const decide = (task: LockedTask | null, end: AttemptEnd, row: Partial<EndingRow> = {}) =>
  decideRunEnd(factsOf(task), { ...ROW, ...row }, { end, blocks: end.kind === 'completed' ? findBlocks(end.result) : [] })

describe('the end of a run', () => {
  it.each([
    [
      'a failed attempt with another one left returns',
      'in_progress',
      errored,
      {},
      { kind: 'return', failure: 'exit code 1', write: { failures: 1, outcome: 'errored' } },
    ],
    [
      'a released attempt returns without a failure',
      'in_progress',
      { kind: 'released' },
      {},
      { kind: 'return', failure: null, write: { failures: 0, error: null } },
    ],
    [
      'the last failed attempt returns the task',
      'in_progress',
      errored,
      { failures: 1 },
      { kind: 'terminal', effect: { kind: 'return', lastError: 'exit code 1' } },
    ],
    [
      'a result completes the task',
      'in_progress',
      completed(GOOD),
      {},
      { kind: 'terminal', effect: { kind: 'complete' }, write: { inboxId: expect.any(String) } },
    ],
    ['a poor result starts a revision round', 'in_progress', completed(POOR), {}, { kind: 'terminal', effect: { kind: 'revise' }, write: { inboxId: null } }],
    [
      'a poor result of the last round completes the task',
      'in_progress',
      completed(POOR),
      { revisionRound: 1 },
      { kind: 'terminal', effect: { kind: 'complete' } },
    ],
    ['a task that was sent back during the run leaves its session', 'revision_requested', completed(GOOD), {}, { kind: 'terminal', effect: { kind: 'leave' } }],
    ['a task that has ended stays as it is', 'completed', completed(GOOD), {}, { kind: 'terminal', effect: { kind: 'none' } }],
  ] as [string, TaskStatus, AttemptEnd, Partial<EndingRow>, object][])('%s', (_, status, end, row, expected) => {
    expect(decide(taskOf(status), end, row)).toMatchObject(expected)
  })

  it('has no effect on a task that another session holds', () => {
    expect(decide(taskOf('in_progress', { subagentSessionId: 'other' }), completed(GOOD))).toMatchObject({ effect: { kind: 'none' }, checkIn: null })
  })

  it('names the next subtask of the chain in its event, before that one is announced', () => {
    const plan = decide(taskOf('in_progress'), completed(POOR))
    const round = plan.kind === 'terminal' && plan.effect.kind === 'revise' ? plan.effect.round.row : null
    expect(plan.events.map(({ type }) => type)).toEqual(['evaluation.created', 'subtask.completed', 'subtask.created'])
    expect(plan.events[1]?.data).toMatchObject({ revised_by: round?.id, evaluation: { recommendation: 'request_revision' } })
    expect(round).toMatchObject({ revisionOf: ROW.id, taskRevision: 1, rankSeconds: 120 })
  })

  it('stores a long result apart from its row', () => {
    const text = `${GOOD}\n${'x'.repeat(70_000)}`
    const plan = decide(null, completed(text))
    expect(plan).toMatchObject({ kind: 'terminal', body: { text }, write: { result: null, resultTruncated: false } })
    expect(plan.kind === 'terminal' && plan.write.resultBodyId).toBe(plan.kind === 'terminal' && plan.body?.id)
  })
})

describe('a poor result', () => {
  it.each([
    ['is sent back while rounds remain', {}, true],
    ['is not sent back after the last round', { revisionRound: 1 }, false],
    ['is not sent back once cancellation was requested', { cancelRequested: true }, false],
  ])('%s', (_, row, expected) => {
    expect(isSentBack({ ...ROW, ...row }, 'request_revision')).toBe(expected)
    expect(isSentBack({ ...ROW, ...row }, 'approve')).toBe(false)
  })
})

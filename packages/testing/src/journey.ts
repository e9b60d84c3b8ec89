import { outbox, transaction } from '@muster/db'
import type { AttemptEnd, BriefFields, FairShares, LoggedEvent, Subtask, Task } from '@muster/domain'
import { runQueue } from '@muster/jobs'
import {
  type ClaimedRun,
  type Ctx,
  claimRuns,
  createSubtask,
  createTask,
  type Deps,
  type NewSubtask,
  readEvents,
  relayOutbox,
  type Settlement,
  settleRuns,
} from '@muster/usecases'
import type postgres from 'postgres'
import { TEST_RUNNERS } from './harness.ts'

/** Spawns a subtask, by default for the runner `own`. */
export function spawn(ctx: Ctx, input: Partial<NewSubtask> = {}): Promise<Subtask> {
  return createSubtask(ctx, { task: 'Count the files.', runner: 'own', ...input })
}

/** Spawns several, one after the other, so that their order is known. */
export async function spawnMany(ctx: Ctx, count: number, input: Partial<NewSubtask> = {}): Promise<Subtask[]> {
  const spawned: Subtask[] = []
  for (let place = 1; place <= count; place += 1) spawned.push(await spawn(ctx, { task: `Task ${place}.`, ...input }))
  return spawned
}

/** Creates a task, by default without requirements. */
export function makeTask(ctx: Ctx, fields: BriefFields = {}): Promise<Task> {
  return createTask(ctx, { title: 'Count the files', instructions: 'Count the files of src/.', ...fields })
}

export interface ClaimOptions {
  workerId?: string
  runners?: readonly string[]
  /** Whose external queue is meant; of no meaning for other runners. */
  projectId?: string
  limit?: number
  subtaskIds?: readonly string[]
  looksFirst?: boolean
  leaseSeconds?: number
  shares?: FairShares
  reached?: Parameters<typeof claimRuns>[1]['reached']
}

/** Claims as a worker of ours does, for all its free capacity at once. */
export function claimAll(ctx: Ctx, options: ClaimOptions = {}): Promise<ClaimedRun[]> {
  const projectId = options.projectId ?? ctx.actor.projectId
  const queues = (options.runners ?? ['own']).map((runner) => runQueue(runner, projectId))
  return claimRuns(ctx, {
    workerId: options.workerId ?? 'worker-1',
    queues,
    limit: options.limit ?? 100,
    leaseSeconds: options.leaseSeconds ?? 30,
    withLeaseToken: false,
    ...(options.subtaskIds && { subtaskIds: new Map(queues.map((queue) => [queue, options.subtaskIds ?? []])) }),
    ...(options.shares && { shares: options.shares }),
    looksFirst: options.looksFirst === true,
    reached: options.reached,
  })
}

/** Claims the best waiting subtask. @throws Error when there is none */
export async function claimOne(ctx: Ctx, options: Omit<ClaimOptions, 'limit'> = {}): Promise<ClaimedRun> {
  const [run] = await claimAll(ctx, { ...options, limit: 1 })
  if (run === undefined) throw new Error('There was nothing to claim.')
  return run
}

/** The end of an attempt that delivers a real result. */
export function completed(result = 'There are 3 files.', outputs: Record<string, unknown> = {}): AttemptEnd {
  return { kind: 'completed', result, truncated: false, outputs, summary: null }
}

/** Brings one claimed run to an end. */
export async function settleOne(
  deps: Deps,
  run: Pick<ClaimedRun, 'id' | 'attempt' | 'projectId'>,
  end: AttemptEnd = completed(),
): Promise<Settlement | undefined> {
  const settlements = await settleRuns(deps, run.projectId, [{ subtaskId: run.id, attempt: run.attempt, end }])
  return settlements.get(run.id)
}

/** Claims and completes until nothing waits any more, in the projects of these contexts. Answers how many runs it completed. */
export async function drain(...contexts: Ctx[]): Promise<number> {
  let ended = 0
  for (const ctx of contexts) {
    for (;;) {
      const runs = await claimAll(ctx, { workerId: 'drain', runners: TEST_RUNNERS })
      if (runs.length === 0) break
      for (const [projectId, group] of Map.groupBy(runs, (run) => run.projectId)) {
        const ends = group.map((run) => ({ subtaskId: run.id, attempt: run.attempt, end: completed() }))
        ended += [...(await settleRuns(ctx, projectId, ends)).values()].filter((settlement) => settlement === 'settled').length
      }
    }
  }
  return ended
}

/** Moves every waiting event into the log. */
export async function drainOutbox(deps: Deps): Promise<void> {
  while (await relayOutbox(deps));
}

/** Announces ends of subtasks in a project, without subtasks: for what only follows events. */
export async function publishCompleted(ctx: Ctx, count: number): Promise<void> {
  const { projectId } = ctx.actor
  const events = Array.from({ length: count }, () => ({
    type: 'subtask.completed' as const,
    subject: { kind: 'subtask' as const, id: ctx.newId() },
    data: {},
    actor: { kind: 'system' as const, id: 'test' },
  }))
  await transaction(ctx.db, projectId, (tx) => outbox.publish(tx, projectId, events))
  await drainOutbox(ctx)
}

/** The whole log of a project, as far as the relay has brought it. */
export async function allEvents(ctx: Ctx, subjectId?: string): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = []
  for (;;) {
    const page = await readEvents(ctx, { afterSeq: events.at(-1)?.id ?? 0, subjectId, limit: 500 })
    events.push(...page)
    if (page.length < 500) return events
  }
}

/** A row of `subtasks` as it is stored, for assertions on what no answer shows. */
export interface SubtaskRow {
  id: string
  project_id: string
  agent_id: string
  status: string
  final_outcome: string | null
  slot: boolean
  slot_at: Date | null
  job_id: string | null
  attempt: number
  failures: number
  feedback: string | null
  worker_id: string | null
  continuation_body_id: string | null
  lease_expires_at: Date | null
  lease_token_hash: Buffer | null
  credential_hash: Buffer | null
  cancel_requested_at: Date | null
  result: string | null
  result_body_id: string | null
  completed_at: Date | null
}

/** Reads a row past row-level security. @throws Error when there is none */
export async function readSubtaskRow(admin: postgres.Sql, id: string): Promise<SubtaskRow> {
  const [row] = await admin<SubtaskRow[]>`select * from subtasks where id = ${id}`
  if (row === undefined) throw new Error(`There is no subtask ${id}.`)
  return row
}

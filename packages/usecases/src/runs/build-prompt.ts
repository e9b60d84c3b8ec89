import {
  bodies,
  checkpoints,
  type injections,
  type LockedTask,
  outbox,
  steps,
  subagents,
  subtasks,
  type Tx,
  tasks,
  transaction,
  tsgNotices,
  type Update,
  updates,
} from '@muster/db'
import {
  definitionOfRun,
  type EarlierWork,
  fenceOf,
  type NewEvent,
  renderPrompt,
  renderTaskUpdate,
  renderTsgNotice,
  type SubagentDefinition,
  subtaskSessionId,
  taskOfBrief,
} from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { hashToken } from '../core/secrets.ts'
import { updateEvent } from '../events/event-data.ts'
import { briefOfTask, recordDeliveries, renderBriefOfTask, subjectOfRun, toUpdateText } from '../tasks/undelivered-updates.ts'
import { holderOf } from './checkpoint-run.ts'
import type { ClaimedRun } from './claim-runs.ts'
import { readContinuation } from './continuation.ts'

/** The prompt of a run, with everything it is made of. */
export interface RunPrompt {
  text: string
  task: string
  criteria: { id: string; text: string }[]
  requiredOutputs: ClaimedRun['requiredOutputs']
  revision: number | null
  feedback: string | null
  sessionId: string
  /** The sub-agent that it is a run of, without what the background takes from it. */
  subagent: SubagentDefinition | null
  /** Whether the run holds the task, and so receives its updates. */
  runsTask: boolean
  /** Of the brief that it runs: where its author has the files; null for every other run. */
  clientCwd: string | null
  /** Whether an attempt before this one ended to wait for an answer. This one works in the folder that it left. */
  hasWaited: boolean
  /** What that attempt left to go on from; null if nothing. */
  continuation: { state: string; updates: string } | null
  /** Numbers of the last note, and of the last update of the task, that are part of it: neither comes again. */
  delivered: { noteSeq: number; taskSeq: number }
}

/** Renders the brief of a claimed run, with every note sent to it so far. Notes still queued count as delivered by it. */
export async function buildPrompt(deps: Deps, run: ClaimedRun): Promise<RunPrompt> {
  if (run.attempt === 1 && isAllThereIs(run)) return compose(deps, run, NO_ROLE, [], 0, null, [])
  return await transaction(deps.db, run.projectId, (tx) => buildPromptInTransaction(deps, tx, run))
}

/** The same in a caller's transaction, which must hold no lock of the run's row. */
export async function buildPromptInTransaction(deps: Deps, tx: Tx, run: ClaimedRun): Promise<RunPrompt> {
  if (isAllThereIs(run)) return { ...compose(deps, run, NO_ROLE, [], 0, null, await takeGuides(tx, run)), ...(await continuationOf(deps, tx, run, [], null)) }
  const role = await roleOf(tx, run)
  const task = run.taskId === null ? null : await tasks.lockTask(tx, run.taskId)
  // The lock of the row puts a note that arrives now either into the prompt or into the queue, never both. An outside worker that lost the
  // answer and has claimed again already has a prompt: this one is never read, so it records no deliveries.
  const held = await checkpoints.lockRun(tx, { subtaskId: run.id, attempt: run.attempt }, hashToken(run.credential))
  if (held === null) return compose(deps, run, role, [], 0, null, [])
  const fresh = await updates.takeQueuedUpdates(tx, run.projectId, run.id, holderOf(run.id, run.attempt))
  const notes = await updates.listNotesForBrief(tx, run.projectId, run.id, held.updateSeq)
  const actor = { kind: 'system', id: 'brief' }
  const events: NewEvent[] = fresh.map((update) =>
    updateEvent('update.delivered', update.updateId, run.id, actor, { delivered_to: holderOf(run.id, run.attempt) }),
  )
  await outbox.publish(tx, run.projectId, events)
  if (events.length > 0) tx.afterCommit(() => deps.notifier.notify('outbox'))
  const guides = await takeGuides(tx, run)
  const dispatched = task === null ? null : await deliverBrief(deps, tx, run, task, actor)
  const prompt = compose(deps, run, role, notes, held.updateSeq, dispatched, guides)
  return { ...prompt, ...(await continuationOf(deps, tx, run, notes, dispatched)) }
}

/**
 * What the last attempt that waited has left, with what has reached the subtask since: the answer, other notes, and the brief if it has changed.
 * What was delivered to a later attempt, which failed, is repeated.
 */
async function continuationOf(
  deps: Pick<Deps, 'newId'>,
  tx: Tx,
  run: ClaimedRun,
  notes: readonly Update[],
  dispatched: Awaited<ReturnType<typeof deliverBrief>>,
): Promise<Pick<RunPrompt, 'hasWaited' | 'continuation'>> {
  if (run.continuationBodyId === null) return NOTHING_LEFT
  const text = await bodies.readBody(tx, run.continuationBodyId)
  if (text === null) return NOTHING_LEFT
  const { attempt, state } = readContinuation(text)
  if (state === null) return { hasWaited: true, continuation: null }
  const later = new Set(Array.from({ length: run.attempt - attempt }, (_, index) => holderOf(run.id, attempt + 1 + index)))
  const since = notes.filter(({ deliveredTo }) => deliveredTo !== null && later.has(deliveredTo))
  const fence = fenceOf(deps.newId())
  const hasNewBrief = dispatched !== null && dispatched.task.revision !== run.taskRevision
  const parts = [...since.map((note) => renderTaskUpdate(toUpdateText(note, subjectOfRun(run)), fence)), ...(hasNewBrief ? [dispatched.text] : [])]
  return { hasWaited: true, continuation: { state, updates: parts.join('\n\n') } }
}

const NOTHING_LEFT = { hasWaited: false, continuation: null }

/** Of guides that know why the attempt before this one failed. */
async function takeGuides(tx: Tx, run: ClaimedRun): Promise<tsgNotices.TsgNotice[]> {
  return run.attempt === 1 ? [] : await tsgNotices.takeTsgNotices(tx, run.projectId, subtaskSessionId(run.id), { subtaskId: run.id, attempt: run.attempt })
}

/** Whether a run's row says everything, guides apart: of a subtask that was sent nothing, is about no task, and so no revision, and of no sub-agent. */
const isAllThereIs = (run: ClaimedRun) => run.updateSeq === 0 && run.taskId === null && run.subagentName === null

/** Whom the agent is to be, and what it goes on from. */
interface Role {
  subagent: SubagentDefinition | null
  earlier: EarlierWork | null
}

const NO_ROLE: Role = { subagent: null, earlier: null }
/** More than the brief has room for, so that it is the brief that decides. */
const EARLIER_STEPS_MAX = 50

async function roleOf(tx: Tx, run: ClaimedRun): Promise<Role> {
  // The poor result, so that the next revision round keeps its good parts, or the subtask that this one continues.
  const earlierId = run.revisionOf ?? run.resumeOf
  const earlier = earlierId === null ? null : await earlierWork(tx, run.projectId, earlierId)
  if (run.subagentName === null) return { subagent: null, earlier }
  const version = run.subagentVersion as number
  const definition = await subagents.findSubagentVersion(tx, run.projectId, run.subagentName, version)
  if (definition === null) throw new Error(`version ${version} of the sub-agent ${run.subagentName} is not stored`)
  return { subagent: definitionOfRun(definition, run.background), earlier }
}

/** Null where it is not kept any more. */
async function earlierWork(tx: Tx, projectId: string, subtaskId: string): Promise<EarlierWork | null> {
  const earlier = await subtasks.findSubtask(tx, subtaskId)
  if (earlier === null) return null
  const { task, status, finalOutcome, result, error, completedAt } = earlier
  const transcript = await steps.listLastSteps(tx, projectId, { id: subtaskId, completedAt }, EARLIER_STEPS_MAX)
  return { subtaskId, task, status, finalOutcome, result, error, steps: transcript }
}

/** The current brief of the task that a run holds, recorded as delivered; null if the subtask only mentions the task. */
async function deliverBrief(deps: Deps, tx: Tx, run: ClaimedRun, task: LockedTask, actor: NewEvent['actor']) {
  const sessionId = subtaskSessionId(run.id)
  const delivery: injections.Delivery = { taskId: task.id, seq: task.updateSeq, revision: task.revision, isBrief: true }
  const [isHeld] = await recordDeliveries(deps, tx, run.projectId, sessionId, [delivery], actor)
  if (isHeld === undefined) return null
  await checkpoints.writeTaskRevision(tx, run.id, run.attempt, task.revision)
  const { brief, notes } = await briefOfTask(tx, task)
  return { task: brief, seq: task.updateSeq, text: renderBriefOfTask(brief, notes, fenceOf(deps.newId())) }
}

function compose(
  deps: Pick<Deps, 'newId'>,
  run: ClaimedRun,
  { subagent, earlier }: Role,
  notes: readonly Update[],
  noteSeq: number,
  dispatched: Awaited<ReturnType<typeof deliverBrief>>,
  guides: readonly tsgNotices.TsgNotice[],
): RunPrompt {
  const requiredOutputs = dispatched?.task.requiredOutputs ?? run.requiredOutputs
  return {
    text: [
      renderPrompt(
        {
          task: run.task,
          assignment: dispatched?.text ?? null,
          parentSessionId: run.parentSessionId,
          background: run.background,
          requiredOutputs,
          updates: notes.map((note) => toUpdateText(note, subjectOfRun(run))),
          feedback: run.feedback,
          subagent,
          earlier,
        },
        fenceOf(deps.newId()),
      ),
      ...guides.map(({ tsgId, title, matchedPattern }) => renderTsgNotice({ tsgId, title, pattern: matchedPattern })),
    ].join('\n\n'),
    // Not the dispatched revision: an earlier attempt may have received changes.
    task: dispatched === null ? run.task : taskOfBrief(dispatched.task),
    criteria: dispatched?.task.criteria.map(({ id, text }) => ({ id, text })) ?? [],
    requiredOutputs,
    revision: dispatched?.task.revision ?? run.taskRevision,
    feedback: run.feedback,
    sessionId: subtaskSessionId(run.id),
    subagent,
    runsTask: dispatched !== null,
    clientCwd: dispatched?.task.clientCwd ?? null,
    ...NOTHING_LEFT,
    delivered: { noteSeq, taskSeq: dispatched?.seq ?? 0 },
  }
}

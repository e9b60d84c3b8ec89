import { checkIns, type LockedTask, outbox, type Tx, taskRevisions, tasks, taskUpdates } from '@muster/db'
import {
  type CheckIn,
  type Criterion,
  type CriterionReport,
  checkInProblem,
  DomainError,
  isChecked,
  matchLines,
  type NewEvent,
  type NplBlock,
  parseCheckIns,
  readCheckIn,
  requireFound,
  requireOpenTask,
  requireOwnTask,
  requireScope,
} from '@muster/domain'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'
import { taskEvent, taskUpdateEvent } from '../events/event-data.ts'

export interface CheckedIn {
  checkInId: string
  /** The revision that it speaks of. */
  revision: number
  criteria: (CriterionReport & { text: string })[]
  unmatched: string[]
  nextSteps: string[]
  acknowledgedUpdateIds: string[]
  /** Why it cannot mean what it says; null where nothing is wrong. */
  problem: string | null
}

/**
 * Stores a check-in of the assignee: the state of each criterion, the next steps, and, by the revision that it names, which updates it
 * acknowledges. The first one moves an assigned task to in progress. [D2] Check-in Convention
 *
 * @throws DomainError `not_found`, `validation_failed` without a check-in of this task in the text, `invalid_transition` once it has ended
 */
export async function checkIn(
  ctx: Ctx,
  taskId: string,
  input: { content: string; sessionId?: string | undefined; revision?: number | undefined },
): Promise<CheckedIn> {
  requireScope(ctx.actor, 'tasks:write')
  const blocks = parseCheckIns(input.content).filter((block) => isAbout(taskId, block))
  return await inProject(ctx, async (tx) => {
    const task = requireFound(await tasks.lockTask(tx, taskId), 'task')
    requireOwnTask(ctx.actor, task)
    requireOpenTask(task)
    if (blocks.length === 0) throw withoutCheckIn(taskId)
    return await takeCheckIn(ctx, tx, task, blocks, {
      content: input.content,
      sessionId: ctx.actor.lineage?.sessionId ?? reportingSession(input.sessionId, task.subagentSessionId),
      revision: input.revision,
    })
  })
}

/** All sub-agents inside of Claude Code share one connection, which can only name the session around them: theirs begins with it. */
function reportingSession(named: string | undefined, holder: string | null): string | null {
  return named === undefined || holder?.startsWith(`${named}:`) ? holder : named
}

/** A block that names no task is about the one that it was sent for. */
export function isAbout(taskId: string, block: Pick<CheckIn, 'taskId'>): boolean {
  return block.taskId === null || block.taskId.toLowerCase() === taskId.toLowerCase()
}

/** The check-ins of an output that are about one task, as `takeCheckIn` wants them. */
export interface SaidOfTask {
  blocks: CheckIn[]
  /** What stands in the blocks; the output itself has the rest. */
  text: string
}

/** As much as a check-in that is sent by itself may be long. */
const CHECK_IN_LENGTH_MAX = 100_000

/** Null where an output has none about the task, or too much of it. */
export function saidOfTask(taskId: string, blocks: readonly NplBlock[]): SaidOfTask | null {
  const found = blocks
    .filter(({ kind }) => kind === 'check_in')
    .map((block) => ({ checkIn: readCheckIn(block), text: block.text }))
    .filter(({ checkIn }) => isAbout(taskId, checkIn))
  const text = found.map((block) => block.text).join('\n')
  return found.length === 0 || text.length > CHECK_IN_LENGTH_MAX ? null : { blocks: found.map(({ checkIn }) => checkIn), text }
}

/**
 * The same in a caller's transaction, of a task that is locked and open.
 *
 * @param blocks the check-ins about it, at least one, oldest first
 */
export async function takeCheckIn(
  ctx: Pick<Deps, 'newId' | 'notifier'> & { actor: NewEvent['actor'] },
  tx: Tx,
  task: LockedTask,
  blocks: readonly CheckIn[],
  from: { content: string; sessionId: string | null; revision?: number | undefined },
): Promise<CheckedIn> {
  const said = asOne(blocks, from.revision)
  const { revision, criteria } = await revisionOf(tx, task.id, said.revision, task)
  const { reports, unmatched } = matchLines(said.lines, criteria)
  const checkInId = ctx.newId()
  await checkIns.insertCheckIn(tx, {
    projectId: task.projectId,
    id: checkInId,
    taskId: task.id,
    sessionId: from.sessionId,
    revision,
    content: from.content,
    verdicts: reports,
    unmatched,
    nextSteps: said.nextSteps,
    authorKind: ctx.actor.kind,
    authorId: ctx.actor.id,
  })
  await tasks.writeProgress(tx, task.id, {
    criteria: withStates(task.criteria, criteria, reports),
    nextSteps: said.nextSteps.length > 0 ? said.nextSteps : task.nextSteps,
  })
  if (task.status === 'assigned') await tasks.writeTransition(tx, task.id, { status: 'in_progress' })
  const acknowledgedUpdateIds = said.revision === null ? [] : await taskUpdates.acknowledgeTaskUpdates(tx, task.projectId, task.id, said.revision)
  await outbox.publish(tx, task.projectId, [
    taskEvent('task.checked_in', { ...task, status: task.status === 'assigned' ? 'in_progress' : task.status }, ctx.actor, { check_in_id: checkInId }),
    ...acknowledgedUpdateIds.map((updateId) => taskUpdateEvent('update.acknowledged', updateId, task.id, ctx.actor, { check_in_id: checkInId })),
  ])
  tx.afterCommit(() => ctx.notifier.notify('outbox'))
  const texts = new Map(criteria.map((criterion) => [criterion.id, criterion.text]))
  return {
    checkInId,
    revision,
    criteria: reports.map((report) => ({ ...report, text: texts.get(report.criterionId) ?? '' })),
    unmatched: unmatched.map(({ text }) => text),
    nextSteps: said.nextSteps,
    acknowledgedUpdateIds,
    problem: checkInProblem({ named: said.revision, now: task.revision, lines: said.lines, criteria: criteria.length, matched: reports.length }),
  }
}

function withoutCheckIn(taskId: string): DomainError {
  const reason = `Has no check-in of this task: write <npl-block type="check-in" task-id="${taskId}"> … </npl-block>`
  return new DomainError('validation_failed', `The request has a problem: content ${reason}.`, { errors: [{ pointer: '/content', field: 'content', reason }] })
}

/** All check-ins of a text that are about one task, as one: the newest line about a criterion counts, the last next steps, and of revisions the highest. */
function asOne(blocks: readonly CheckIn[], named?: number): Pick<CheckIn, 'lines' | 'revision' | 'nextSteps'> {
  const revisions = [...blocks.flatMap((block) => block.revision ?? []), ...(named === undefined ? [] : [named])]
  return {
    lines: blocks.flatMap((block) => block.lines),
    revision: revisions.length === 0 ? null : Math.max(...revisions),
    nextSteps: blocks.findLast((block) => block.nextSteps.length > 0)?.nextSteps ?? [],
  }
}

/** The criteria as they were in the revision that is named; those of now where none is, or one that there is not. */
async function revisionOf(
  tx: Tx,
  taskId: string,
  named: number | null,
  now: { revision: number; criteria: Criterion[] },
): Promise<{ revision: number; criteria: Criterion[] }> {
  if (named === null || named >= now.revision) return now
  return (await taskRevisions.findRevision(tx, taskId, named)) ?? now
}

/** What is known of the criteria now. A criterion that was reworded since has not been spoken of. */
function withStates(criteria: readonly Criterion[], spokenOf: readonly Criterion[], reports: readonly CriterionReport[]): Criterion[] {
  const texts = new Map(spokenOf.map((criterion) => [criterion.id, criterion.text]))
  const states = new Map(reports.map((report) => [report.criterionId, report.state]))
  return criteria.map((criterion) => {
    // What a check decides, a report does not.
    const state = isChecked(criterion) ? undefined : states.get(criterion.id)
    return state === undefined || texts.get(criterion.id) !== criterion.text ? criterion : { ...criterion, state }
  })
}

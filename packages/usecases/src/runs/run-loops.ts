import { checkpoints, outbox, projects, steps, type Tx, transaction, tsgNotices, updates } from '@muster/db'
import {
  CALL_DISTANCE_MAX,
  findLoops,
  LOOP_STEPS,
  loopReason,
  loopRules,
  quietReason,
  renderLoopNotice,
  renderQuietNotice,
  renderTsgNotice,
  type StepKind,
  subtaskSessionId,
  toolEnds,
} from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { updateEvent } from '../events/event-data.ts'
import { findMatchingTsgs, recordSurfaced } from '../guides/surface-tsgs.ts'

/** Who tells an agent that it goes in circles. */
const SENDER = { kind: 'system', id: 'loops' }

/** Whether one of these steps is a tool that failed. Without one, there is no loop to look for. */
export function hasFailure(reported: readonly { kind: StepKind; content: unknown }[]): boolean {
  return reported.some(({ kind, content }) => kind === 'tool_result' && (content as { is_error?: unknown } | null)?.is_error === true)
}

/** What the steps of a checkpoint show. */
export interface RunLoops {
  /** How many notices were queued. */
  notices: number
  /** Why the run has to end as blocked; null if it goes on. */
  blocked: string | null
}

/**
 * Looks for loops that the last steps of a run begin or go on with, and queues a notice for each that is long enough, with the guides that match its failure. The run's
 * row must be locked by the checkpoint that has stored the steps.
 *
 * @param stored the number of the last step, and how many of the last are new; `isFresh` is false for a repeated checkpoint, which queues nothing again
 */
export async function watchLoops(
  deps: Deps,
  tx: Tx,
  projectId: string,
  run: { subtaskId: string; attempt: number },
  stored: { stepSeq: number; count: number; isFresh: boolean },
): Promise<RunLoops> {
  const before = stored.stepSeq - stored.count
  const read = await steps.listToolSteps(tx, projectId, { ...run, afterSeq: before - LOOP_STEPS - CALL_DISTANCE_MAX })
  const rules = loopRules(read.loops ?? undefined)
  const { notices, block } = findLoops(toolEnds(read.steps), before, rules)
  const due = stored.isFresh ? notices : []
  for (const loop of due)
    await queueNotice(deps, tx, projectId, run.subtaskId, { id: deps.newId(), text: renderLoopNotice(loop, rules), failure: loop.failure })
  return { notices: due.length, blocked: block === null ? null : loopReason(block) }
}

/** Queues a note for a run whose row is locked. The guides that match come with it, so they are not announced to its session again. */
async function queueNotice(
  deps: Deps,
  tx: Tx,
  projectId: string,
  subtaskId: string,
  { id, text, failure }: { id: string; text: string; failure: string | null },
): Promise<void> {
  const sessionId = subtaskSessionId(subtaskId)
  const hits = await findMatchingTsgs(deps, tx, projectId, failure === null ? [] : [failure])
  await recordSurfaced(deps, tx, { projectId, actor: SENDER, sessionId }, hits)
  const tsgIds = hits.map(({ tsgId }) => tsgId)
  if (tsgIds.length > 0) await tsgNotices.markTsgNoticesDelivered(tx, projectId, sessionId, tsgIds)
  const content = [text, ...hits.map(renderTsgNotice)].join('\n\n')
  await updates.insertNote(tx, { id, projectId, subtaskId, content, sender: SENDER, delivery: 'next_step' })
  await outbox.publish(tx, projectId, [updateEvent('update.queued', id, subtaskId, SENDER)])
  tx.afterCommit(() => deps.notifier.notify('outbox'))
}

/** A run that has made no step for a while, as its worker sees it. */
export interface QuietRun {
  projectId: string
  subtaskId: string
  attempt: number
  quietSeconds: number
  /** Of the notice of this silence: the same until there is a step, so that it is sent once. */
  noticeId: string
}

/** `notice`: one was queued now or before. */
export type QuietAnswer = { kind: 'nothing' } | { kind: 'notice' } | { kind: 'blocked'; reason: string }

/** Decides about the silence of a run by the rules of its project. A silence ends in a block only after its notice. */
export async function judgeSilence(deps: Deps, { projectId, subtaskId, attempt, quietSeconds, noticeId }: QuietRun): Promise<QuietAnswer> {
  return await transaction(deps.db, projectId, async (tx): Promise<QuietAnswer> => {
    const rules = loopRules((await projects.findProject(tx, projectId))?.settings.loops)
    if (rules.action === 'off' || rules.quietSeconds === null || quietSeconds < rules.quietSeconds) return { kind: 'nothing' }
    const row = await checkpoints.lockAttempt(tx, { subtaskId, attempt })
    if (row === null) return { kind: 'nothing' }
    if (!(await updates.isSent(tx, projectId, noticeId))) {
      await queueNotice(deps, tx, projectId, subtaskId, { id: noticeId, text: renderQuietNotice(rules.quietSeconds, rules), failure: null })
      tx.afterCommit(() => deps.notifier.notify('cancel', subtaskId))
      return { kind: 'notice' }
    }
    if (rules.action === 'notice' || quietSeconds < 2 * rules.quietSeconds) return { kind: 'notice' }
    return { kind: 'blocked', reason: quietReason(quietSeconds, row.stepSeq) }
  })
}

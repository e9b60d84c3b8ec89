import { hooks, type Tx, tasks, toolUses } from '@muster/db'
import { cutToCodePoints, findLoops, type HookCall, type Loop, loopReason, loopRules, renderLoopNotice, renderTsgNotice, toStorableText } from '@muster/domain'
import { blockTask } from '../assignments/unassign-task.ts'
import { type Ctx, inProject } from '../core/ctx.ts'
import { findMatchingTsgs } from '../guides/surface-tsgs.ts'
import { digestOf } from '../questions/ask-question.ts'
import { queueTaskUpdate } from '../tasks/send-task-update.ts'

/** Who says that an agent goes in circles. */
const SENDER = { kind: 'system', id: 'loops' }
/** After so many successes in a row all goes well, and nothing is kept any more. */
const SUCCESSES_MAX = 20
const USES_MAX = 100
const TEXT_LENGTH_MAX = 500

/**
 * Records a failed use of a tool by a session that holds a task. A session that goes in circles gets a note about its task; if it goes on, the task is taken from it and blocked, with
 * the evidence as `last_error`. A run is not watched here: its checkpoints are (`watchLoops`).
 *
 * Takes the lock of the session's uses, then those of its tasks.
 *
 * @returns why its task was taken from the session; null if it was not
 */
export async function watchFailure(ctx: Ctx, tx: Tx, sessionId: string, call: HookCall): Promise<string | null> {
  if (!(await toolUses.watchSession(tx, ctx.actor.projectId, sessionId))) return null
  return await takeUse(ctx, tx, sessionId, call, toStorableText(call.error ?? ''))
}

/** Records a successful use of a tool by a session that is watched since one failed. */
export async function watchSuccess(ctx: Ctx, sessionId: string, call: HookCall): Promise<void> {
  await inProject(ctx, (tx) => takeUse(ctx, tx, sessionId, call, null))
}

async function takeUse(ctx: Ctx, tx: Tx, sessionId: string, call: HookCall, failure: string | null): Promise<string | null> {
  const { projectId } = ctx.actor
  const { toolName: tool, toolUseId: id = null, toolInput } = call
  const watched = tool === null ? null : await toolUses.lockToolUses(tx, projectId, sessionId)
  if (watched === null || tool === null || (id !== null && watched.uses.some((use) => use.id === id))) return null
  const step = (watched.uses.at(-1)?.step ?? 0) + 1
  const use = {
    id,
    step,
    tool: cutToCodePoints(toStorableText(tool), TEXT_LENGTH_MAX),
    argumentsDigest: digestOf({ input: toolInput }),
    shownArguments: cutToCodePoints(toStorableText(JSON.stringify(toolInput ?? null)), TEXT_LENGTH_MAX),
    failure: failure === null ? null : cutToCodePoints(failure, TEXT_LENGTH_MAX),
  }
  const uses = [...watched.uses, use].slice(-USES_MAX)
  if (uses.length >= SUCCESSES_MAX && uses.slice(-SUCCESSES_MAX).every((each) => each.failure === null)) {
    await toolUses.forgetToolUses(tx, projectId, sessionId)
    return null
  }
  await toolUses.writeToolUses(tx, projectId, sessionId, uses)
  const rules = loopRules(watched.loops ?? undefined)
  const { notices, block } = findLoops(uses, step - 1, rules)
  const [notice] = notices
  if (notice === undefined && block === null) return null
  const task = await lockTaskInProgress(tx, projectId, sessionId)
  if (task === null) return null
  if (block !== null) {
    const reason = loopReason(block)
    await blockTask(ctx, tx, task, reason, SENDER)
    await toolUses.forgetToolUses(tx, projectId, sessionId)
    return `Your task ${task.id} was taken from you and is blocked. ${reason}\nStop working on it.`
  }
  const content = [renderLoopNotice(notice as Loop, rules), ...(await guidesFor(ctx, tx, failure ?? ''))].join('\n\n')
  await queueTaskUpdate(ctx, tx, task, { type: 'note', content, revision: task.revision, actor: SENDER })
  return null
}

/** Of the tasks that a session holds, the first that it works on. */
async function lockTaskInProgress(tx: Tx, projectId: string, sessionId: string) {
  const held = await hooks.listTasksOfSession(tx, projectId, sessionId)
  const locked = await tasks.lockTasks(tx, held)
  const inProgress = locked.filter(({ status, subagentSessionId }) => status === 'in_progress' && subagentSessionId === sessionId)
  return inProgress.sort((one, other) => held.indexOf(one.id) - held.indexOf(other.id))[0] ?? null
}

async function guidesFor(ctx: Ctx, tx: Tx, failure: string): Promise<string[]> {
  return (await findMatchingTsgs(ctx, tx, ctx.actor.projectId, [failure])).map(renderTsgNotice)
}

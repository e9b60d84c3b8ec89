import { bodies, readOnce, settle, writeOnce } from '@muster/db'
import { type RunJobs, runQueue } from '@muster/jobs'
import type { Deps } from '../core/ctx.ts'
import { rulesWithoutTasks } from '../evaluations/evaluate-output.ts'
import { decideRunEnd, type TerminalPlan } from './decide-ends.ts'
import type { PreparedEnd } from './prepare-ends.ts'

/** The projects in which a subtask waited for a permit when this process last read what decides about an end there. */
const waiting = new WeakMap<RunJobs, Set<string>>()

function waitingOf({ runJobs }: Pick<Deps, 'runJobs'>): Set<string> {
  const known = waiting.get(runJobs) ?? new Set()
  waiting.set(runJobs, known)
  return known
}

/** Remembers whether a subtask of a project waits for a permit: the ends of its runs take a transaction then, which grants it. */
export function noteWaiting(deps: Pick<Deps, 'runJobs'>, projectId: string, isWaiting: boolean): void {
  if (isWaiting) waitingOf(deps).add(projectId)
  else waitingOf(deps).delete(projectId)
}

/**
 * Stores the result of one run in two statements instead of a transaction: one reads what decides about it, without locks, and the other stores it unless any of
 * that has changed. Only for a subtask that ends with it and has no task, sub-agent, updates or open question, and no judge to ask, in a project where no subtask
 * waits for a permit. False for everything else; nothing has changed then.
 */
export async function settleAlone(deps: Deps, projectId: string, reported: PreparedEnd): Promise<boolean> {
  if (!mayBeAlone(reported) || waitingOf(deps).has(projectId)) return false
  const found = await readOnce(deps.db, projectId, (tx) => settle.readAlone(tx, projectId, reported))
  if (found === null) return false
  noteWaiting(deps, projectId, found.context.hasWaiting)
  const plan = planOf(deps, projectId, found, reported)
  if (plan === null) return false
  const { row, write, evaluation, events } = plan
  const notification = deps.notifier.withCommit('ended', [row.id])
  const lone: settle.LoneEnd = {
    version: found.version,
    row: write,
    evaluation: evaluation?.row ?? null,
    events,
    agentId: row.agentId,
    queue: runQueue(row.runner, projectId),
    jobId: row.jobId,
    notice: notification,
  }
  if (!(await writeOnce(deps.db, projectId, (tx) => settle.endAlone(tx, projectId, lone)))) return false
  notification.committed()
  deps.notifier.notify('outbox')
  if (evaluation !== null) reported.onEvaluated?.({ score: evaluation.row.score, label: evaluation.row.recommendation })
  return true
}

/** As far as the report of an end says it. */
function mayBeAlone({ end, taskId, subagentName, onlyIfLapsed = false, undeliveredUpdateIds = [] }: PreparedEnd): boolean {
  if (end.kind !== 'completed' || bodies.needsBody(end.result)) return false
  return taskId == null && subagentName == null && !onlyIfLapsed && undeliveredUpdateIds.length === 0
}

/** As far as its row says it, and what the end means. Null where it takes more than one statement. */
function planOf(deps: Deps, projectId: string, { row, context }: settle.LoneRow, reported: PreparedEnd): TerminalPlan | null {
  const isPlain = row.taskId === null && row.subagentName === null && row.updateSeq === 0 && row.continuationBodyId === null
  if (!isPlain || context.hasWaiting || context.asking.size > 0) return null
  const facts = {
    projectId,
    tasks: new Map(),
    rules: rulesWithoutTasks(context),
    targets: new Map(),
    questions: new Map(),
    ageingSeconds: deps.settings.SUBTASK_AGEING_SECONDS,
    newId: deps.newId,
  }
  const plan = decideRunEnd(facts, row, reported)
  return plan.kind === 'terminal' && plan.effect.kind === 'none' && plan.body === null && plan.evaluation?.judge == null ? plan : null
}

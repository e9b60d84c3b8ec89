import { type CheckRun, checkRuns, evaluationReads, evaluations, judgements, outbox, type StoredEvaluation, type Tx, tasks, transaction } from '@muster/db'
import {
  type Evaluation,
  isChecked,
  isForJudge,
  type Judge,
  type JudgeAnswer,
  type JudgeQuestion,
  type NewEvent,
  noteEvaluation,
  type Span,
  summarize,
  withJudge,
} from '@muster/domain'
import type { HeldJudgeJob, JudgeJob } from '@muster/jobs'
import { addChecks, storeChecked } from '../checks/conclude-checks.ts'
import type { Deps } from '../core/ctx.ts'
import { startSpanAfter, THREW } from '../core/spans.ts'
import { storeUntil } from '../core/store-until.ts'
import { evaluationEvent } from '../evaluations/evaluate-output.ts'
import { decideReview } from '../tasks/review-task.ts'
import { reserveJudgement } from './judge-budget.ts'

const JUDGE: NewEvent['actor'] = { kind: 'system', id: 'judge' }

/** `nothing`: it had already ended. `later`: the model was not available; another try follows. `given_back`: the worker stopped before the answer. */
export type JudgementEnd = 'judged' | 'failed' | 'later' | 'given_back' | 'nothing'

/**
 * Does one job of the judge: asks for verdicts outside of every transaction, and stores them in one commit as a separate evaluation, with the
 * decision about a task that waited for them. It is stored at most once, because a second run finds the judgement finished, and at least
 * once, because the job stays until the commit.
 *
 * An answer costs money, so during an outage it is kept until it can be stored.
 *
 * @param signal to break the question off, and give the job back
 */
export async function judgeEvaluation(deps: Deps, judge: Judge, job: HeldJudgeJob, signal: AbortSignal): Promise<JudgementEnd> {
  const begun = await transaction(deps.db, job.projectId, (tx) => begin(deps, tx, judge, job))
  if ('end' in begun) return begun.end
  const { taskId, subtaskId, projectId } = begun.evaluation
  const span = await startSpanAfter(deps, { projectId, subtaskId }, 'judge', {
    attributes: { 'muster.evaluation.id': job.evaluationId, 'muster.attempt': job.attempt, ...(taskId === null ? {} : { 'muster.task.id': taskId }) },
  })
  let error: string | undefined = THREW
  try {
    const end = await judgeBegun(deps, judge, job, begun, signal, span)
    span?.set({ 'muster.end': end })
    error = end === 'failed' || end === 'later' ? end : undefined
    return end
  } finally {
    span?.end(error)
  }
}

async function judgeBegun(deps: Deps, judge: Judge, job: HeldJudgeJob, begun: Begun, signal: AbortSignal, span: Span | undefined): Promise<JudgementEnd> {
  const answer = await askJudge(deps, judge, begun.question, signal, span)
  if (answer.kind === 'aborted') {
    await deps.judgeJobs.release(job)
    return 'given_back'
  }
  // Before the transaction: it takes time in proportion to the output.
  const judged = answer.kind === 'judged' ? judgedRow(deps, begun, answer) : null
  const end = await storeUntil(signal, () =>
    transaction(deps.db, job.projectId, async (tx) => {
      if (!(await judgements.lockPending(tx, job))) return await dropJob(deps, tx, job)
      await judgements.addUsage(tx, job, answer.usage)
      return answer.kind === 'failed' ? await noteFailure(deps, tx, job, answer) : await addVerdicts(deps, tx, job, judged as JudgedRow)
    }),
  )
  if (end === 'judged' && judged !== null) noteEvaluation(span, 'judge', { score: judged.row.score, label: judged.row.recommendation })
  return end
}

/** Asks the model, in a span of its own. */
async function askJudge(deps: Deps, judge: Judge, question: JudgeQuestion, signal: AbortSignal, parent: Span | undefined): Promise<JudgeAnswer> {
  const model = question.model ?? deps.settings.JUDGE_MODEL ?? 'default'
  const span =
    parent &&
    deps.tracing?.start(`chat ${model}`, {
      kind: 'client',
      parent: parent.traceparent,
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model },
    })
  let error: string | undefined = THREW
  try {
    const answer = await judge.judge(question, signal)
    if (answer.kind !== 'aborted') {
      const { inputTokens, outputTokens } = answer.usage
      span?.set({ 'gen_ai.usage.input_tokens': inputTokens, 'gen_ai.usage.output_tokens': outputTokens })
    }
    error = answer.kind === 'failed' ? 'model_call_failed' : undefined
    return answer
  } finally {
    span?.end(error)
  }
}

interface Begun {
  evaluation: StoredEvaluation
  /** The same, with the verdicts of its checks. */
  given: Evaluation
  question: JudgeQuestion
}

async function begin(deps: Deps, tx: Tx, judge: Judge, job: HeldJudgeJob): Promise<Begun | { end: JudgementEnd }> {
  const { projectId, evaluationId } = job
  const row = await judgements.beginTry(tx, job)
  if (row === null) return { end: await dropJob(deps, tx, job) }
  const [evaluation, found] = await Promise.all([
    evaluationReads.findEvaluation(tx, projectId, evaluationId),
    evaluationReads.findOutput(tx, projectId, evaluationId),
  ])
  const output = found?.output ?? null
  if (evaluation === null || output === null) return { end: await fail(deps, tx, job, 'The output is not kept any more.') }
  const task = evaluation.taskId === null ? null : await tasks.findTask(tx, evaluation.taskId)
  const criteria = evaluation.detail.criteria.filter(isForJudge)
  const reserved = await reserveJudgement(deps, tx, judge, {
    evaluation,
    task,
    question: { criteria, output, taskTitle: task?.title ?? null, model: row.model },
  })
  if ('refusal' in reserved) {
    const { reason, isPermanent } = reserved.refusal
    // Room comes back with the ends of runs and with the next day, so it is tried again as often as an unavailable model.
    return { end: await noteFailure(deps, tx, job, { error: reason, retryable: !isPermanent, retryAfterMs: null }) }
  }
  const checks = await endedChecksOf(tx, evaluation)
  return { evaluation, given: addChecks(evaluation, checks), question: reserved.question }
}

type JudgedRow = ReturnType<typeof judgedRow>

/** The evaluation with the verdicts: made of what is stored of the first, which knows by what it was judged. */
function judgedRow(deps: Deps, { evaluation, given, question }: Begun, { verdicts, model, usage }: Extract<JudgeAnswer, { kind: 'judged' }>) {
  const { id: judgeOf, detail, projectId, origin, taskId, subtaskId, messageId, sessionId, subagentName, criteriaRevision } = evaluation
  const { threshold, approveAt, gates } = detail
  const { trust } = given
  const judged = withJudge(given, { threshold, approveAt, gates }, question.output, verdicts)
  const { score, recommendation, warnings, reflection, dimensions, criteria, closedGates } = judged
  return {
    judged,
    row: {
      ...{ projectId, origin, taskId, subtaskId, messageId, sessionId, subagentName, criteriaRevision, score, recommendation, judgeOf },
      id: deps.newId(),
      // Its score is of that rule.
      ruleVersion: evaluation.ruleVersion,
      detail: { warnings, reflection, dimensions, criteria, threshold, approveAt, gates, closedGates, trust },
      summary: recommendation === 'request_revision' ? summarize(judged, question.output) : null,
      judge: { model, inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, costUsdMicros: usage.costUsdMicros },
      output: null,
      outputBodyId: null,
    },
  }
}

async function addVerdicts(deps: Deps, tx: Tx, job: HeldJudgeJob, { judged, row }: JudgedRow): Promise<JudgementEnd> {
  const { projectId, evaluationId } = job
  await evaluations.insertEvaluations(tx, projectId, [row])
  await outbox.publish(tx, projectId, [evaluationEvent(row, JUDGE)])
  if (row.taskId !== null) await decideReview(deps, tx, { projectId, taskId: row.taskId, evaluationId, evaluation: judged })
  await judgements.endJudgement(tx, job, null)
  await deps.judgeJobs.remove(tx, job)
  tx.afterCommit(() => deps.notifier.notify('outbox'))
  return 'judged'
}

async function noteFailure(
  deps: Deps,
  tx: Tx,
  job: HeldJudgeJob,
  failure: Pick<Extract<JudgeAnswer, { kind: 'failed' }>, 'error' | 'retryable' | 'retryAfterMs'>,
): Promise<JudgementEnd> {
  if (!failure.retryable || job.isLast) return await fail(deps, tx, job, failure.error)
  await deps.judgeJobs.retry(tx, job, failure.retryAfterMs === null ? null : failure.retryAfterMs / 1_000)
  return 'later'
}

async function fail(deps: Deps, tx: Tx, job: HeldJudgeJob, error: string): Promise<JudgementEnd> {
  await storeChecksAlone(deps, tx, job)
  await judgements.endJudgement(tx, job, error)
  await deps.judgeJobs.remove(tx, job)
  return 'failed'
}

/** Without a judge, the checks of an evaluation still have their verdicts. A person or a controller decides about the task. */
async function storeChecksAlone(deps: Deps, tx: Tx, { projectId, evaluationId }: JudgeJob): Promise<void> {
  const evaluation = await evaluationReads.findEvaluation(tx, projectId, evaluationId)
  const checks = evaluation === null ? [] : await endedChecksOf(tx, evaluation)
  if (evaluation !== null && checks.length > 0) await storeChecked(deps, tx, evaluation, addChecks(evaluation, checks))
}

async function endedChecksOf(tx: Tx, { projectId, id, taskId, detail }: StoredEvaluation): Promise<CheckRun[]> {
  return taskId === null || !detail.criteria.some(isChecked) ? [] : await checkRuns.listEndedOf(tx, projectId, taskId, id)
}

async function dropJob(deps: Deps, tx: Tx, job: HeldJudgeJob): Promise<JudgementEnd> {
  await deps.judgeJobs.remove(tx, job)
  return 'nothing'
}

const BATCH = 100

/**
 * Gives the judgements of lost workers to others. A judgement that no worker could finish in all its tries has failed.
 */
export async function takeLostJudgements(deps: Deps): Promise<void> {
  if ((await deps.judgeJobs.retryLost()) > 0) deps.notifier.notify('judge')
  for (const job of await deps.judgeJobs.findExhausted(BATCH)) {
    await transaction(deps.db, job.projectId, async (tx) => {
      if (await judgements.lockPending(tx, job)) {
        await storeChecksAlone(deps, tx, job)
        await judgements.endJudgement(tx, job, 'Each worker that asked the model ended before it had the answer.')
      }
      await deps.judgeJobs.remove(tx, job)
    })
  }
}

/** Gives judgements without a job a new one: the job was removed, or a backup restored only the rows. */
export async function renewJudgementJobs(deps: Deps): Promise<number> {
  let count = 0
  for (const projectId of await deps.judgeJobs.findProjects()) {
    count += await transaction(deps.db, projectId, async (tx) => {
      const unfinished = await judgements.findUnfinished(tx, projectId, BATCH)
      if (unfinished.length === 0) return 0
      const missing = await deps.judgeJobs.findMissing(tx, unfinished)
      await deps.judgeJobs.insert(
        tx,
        missing.map((evaluationId) => ({ projectId, evaluationId })),
      )
      return missing.length
    })
  }
  if (count > 0) deps.notifier.notify('judge')
  return count
}

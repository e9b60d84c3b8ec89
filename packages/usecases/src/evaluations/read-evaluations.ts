import { type EvaluatedOutput, type EvaluationSummary, evaluationReads, type StoredEvaluation, subtasks, type Tx, tasks } from '@muster/db'
import { DomainError, notFound, requireFound, requireScope } from '@muster/domain'
import { type Ctx, reading, readingMany } from '../core/ctx.ts'
import { idInCursor, type Page, page } from '../core/page.ts'

/** @throws DomainError `not_found` */
export async function getEvaluation(ctx: Ctx, id: string): Promise<StoredEvaluation> {
  requireScope(ctx.actor, 'evaluations:read')
  return requireFound(await reading(ctx, (tx) => evaluationReads.findEvaluation(tx, ctx.actor.projectId, id)), 'evaluation')
}

export interface EvaluationQuery {
  taskId?: string | undefined
  subtaskId?: string | undefined
  limit: number
  cursor?: string | undefined
}

/** Newest first, without what they say in detail. */
export async function listEvaluations(ctx: Ctx, query: EvaluationQuery): Promise<Page<EvaluationSummary>> {
  requireScope(ctx.actor, 'evaluations:read')
  const { taskId, subtaskId, limit } = query
  const beforeId = idInCursor(query.cursor)
  const items = await readingMany(ctx, (tx) => evaluationReads.listEvaluations(tx, ctx.actor.projectId, { taskId, subtaskId, beforeId, limit: limit + 1 }))
  return page(items, limit, (last) => last.id)
}

/** An output that has been evaluated, whole. */
export type Payload = Omit<EvaluatedOutput, 'output'> & { output: string }

/** What the id of an evaluated output is of; `evaluation` where it is of no task and of no subtask. */
export async function kindOfEvaluated(ctx: Ctx, id: string): Promise<'task' | 'subtask' | 'evaluation'> {
  requireScope(ctx.actor, 'evaluations:read')
  return await reading(ctx, async (tx) => {
    if ((await tasks.findTask(tx, id)) !== null) return 'task'
    return (await subtasks.subtaskExists(tx, id)) ? 'subtask' : 'evaluation'
  })
}

/** The output that an evaluation is of. @throws DomainError `not_found`, also where the output is not kept any more */
export async function getEvaluationPayload(ctx: Ctx, id: string): Promise<Payload> {
  requireScope(ctx.actor, 'evaluations:read')
  return await reading(ctx, (tx) => payloadOf(ctx, tx, id))
}

/** The output of a task that was evaluated last. @throws DomainError `not_found`, saying so where none was */
export async function getTaskPayload(ctx: Ctx, taskId: string): Promise<Payload> {
  requireScope(ctx.actor, 'evaluations:read')
  return await reading(ctx, async (tx) => {
    if ((await tasks.findTask(tx, taskId)) === null) throw notFound('task')
    return await payloadOf(ctx, tx, await evaluationReads.findLatestEvaluation(tx, ctx.actor.projectId, { taskId }), 'task')
  })
}

/** The result of a subtask, as it was evaluated. @throws DomainError `not_found`, saying so where it was not */
export async function getSubtaskPayload(ctx: Ctx, subtaskId: string): Promise<Payload> {
  requireScope(ctx.actor, 'evaluations:read')
  return await reading(ctx, async (tx) => {
    if (!(await subtasks.subtaskExists(tx, subtaskId))) throw notFound('subtask')
    return await payloadOf(ctx, tx, await evaluationReads.findLatestEvaluation(tx, ctx.actor.projectId, { subtaskId }), 'subtask')
  })
}

async function payloadOf(ctx: Ctx, tx: Tx, evaluationId: string | null, what: 'task' | 'subtask' | null = null): Promise<Payload> {
  if (evaluationId === null) throw new DomainError('not_found', `No output of this ${what} has been evaluated yet.`)
  const found = requireFound(await evaluationReads.findOutput(tx, ctx.actor.projectId, evaluationId), 'evaluation')
  if (found.output === null) throw new DomainError('not_found', 'The output that was evaluated is not kept any more.')
  return { ...found, output: found.output }
}

import { evaluationReads, subtasks, type Tx, tasks, training } from '@muster/db'
import {
  type Quality,
  type QualityFlag,
  requireScope,
  type TrainingExample,
  type TrainingFormat,
  type TrainingMessage,
  taskOfBrief,
  trainingRecord,
} from '@muster/domain'
import { type Ctx, reading } from '../core/ctx.ts'

export interface TrainingQuery {
  format: TrainingFormat
  /** Only of this quality; without it, only what is to be learnt from. */
  quality?: Quality | undefined
  /** All of them have to be there. */
  tags: readonly string[]
}

const FLAGS_AT_ONCE = 100

/**
 * Flagged items as training examples, one per line. The reader sets the pace: the database is queried only after the previous line was
 * read, and no transaction stays open in between. So items that are flagged during the export may be included.
 *
 * @throws DomainError `forbidden`
 */
export async function* exportTraining(ctx: Ctx, { format, quality, tags }: TrainingQuery): AsyncGenerator<string, void, undefined> {
  requireScope(ctx.actor, 'evaluations:read')
  const { projectId } = ctx.actor
  let after: QualityFlag['subject'] | undefined
  for (;;) {
    const flags = await reading(ctx, (tx) => training.listFlagged(tx, projectId, { quality, tags, after, limit: FLAGS_AT_ONCE }))
    for (const flag of flags) {
      // One by one: each may have megabytes.
      const example = await reading(ctx, (tx) => exampleOf(tx, projectId, flag))
      const record = example === null ? null : trainingRecord(format, example)
      if (record !== null) yield `${record}\n`
    }
    after = flags.at(-1)?.subject
    if (flags.length < FLAGS_AT_ONCE) return
  }
}

async function exampleOf(tx: Tx, projectId: string, flag: QualityFlag): Promise<TrainingExample | null> {
  const { subject, quality, tags } = flag
  const of = subject.kind === 'task' ? { taskId: subject.id } : { subtaskId: subject.id }
  const evaluationId = await evaluationReads.findLatestEvaluation(tx, projectId, of)
  const messages = 'taskId' in of ? await saidOfTask(tx, projectId, of.taskId, evaluationId) : await saidBySubtask(tx, of.subtaskId)
  if (messages === null) return null
  const found = evaluationId === null ? null : await evaluationReads.findEvaluation(tx, projectId, evaluationId)
  return {
    messages,
    evaluation:
      found === null
        ? null
        : {
            score: found.score,
            recommendation: found.recommendation,
            criteriaRevision: found.criteriaRevision,
            dimensions: found.detail.dimensions,
            criteria: found.detail.criteria,
          },
    quality,
    tags,
  }
}

/** What it was to do, and what came of it; null where nothing did. */
async function saidBySubtask(tx: Tx, id: string): Promise<TrainingMessage[] | null> {
  const subtask = await subtasks.findSubtask(tx, id)
  return subtask === null || subtask.result === null ? null : answered(subtask.task, subtask.result)
}

/** What was said about a task; the output that was evaluated last where the assistant has said nothing. Null where there is neither. */
async function saidOfTask(tx: Tx, projectId: string, id: string, evaluationId: string | null): Promise<TrainingMessage[] | null> {
  const task = await tasks.findTask(tx, id)
  if (task === null) return null
  const said = await training.listTaskMessages(tx, projectId, id)
  if (said.some(({ role }) => role === 'assistant')) {
    // Hooks report only the agent's messages. The brief stands for the request.
    return said.some(({ role }) => role === 'user') ? said : [{ role: 'user', content: taskOfBrief(task) }, ...said]
  }
  const output = evaluationId === null ? null : ((await evaluationReads.findOutput(tx, projectId, evaluationId))?.output ?? null)
  return output === null ? null : answered(taskOfBrief(task), output)
}

function answered(asked: string, answer: string): TrainingMessage[] {
  return [
    { role: 'user', content: asked },
    { role: 'assistant', content: answer },
  ]
}

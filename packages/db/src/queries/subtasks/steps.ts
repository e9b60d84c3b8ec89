import type { LoopSettings, StepKind, ToolStep } from '@muster/domain'
import { and, asc, desc, eq, gt, gte, lt, type SQL, sql } from 'drizzle-orm'
import { pipeline, type Tx } from '../../client.ts'
import { steps } from '../../schema/steps.ts'
import { planForValues } from '../core/lists.ts'

export interface Step {
  seq: number
  attempt: number
  kind: StepKind
  content: unknown
  at: Date
}

const DAY_MS = 86_400_000

/** The clocks that make ids and that date steps may differ by this. */
const CLOCKS_APART_MS = DAY_MS

/** What the runner of an attempt sent first, as far as it is kept. */
export interface SentPrompt {
  attempt: number
  system: string | null
  message: string | null
  isContinued: boolean
  /** Whether a text was longer than what is kept of it. */
  isCut: boolean
  at: Date
}

/**
 * Stores the prompt of an attempt, once. It shares the partitions of the steps, and so their retention, quotas, erasing and export. Its number is the attempt's below zero:
 * transcripts begin with 1.
 */
export async function insertPrompt(
  tx: Tx,
  projectId: string,
  run: { subtaskId: string; attempt: number },
  content: Omit<SentPrompt, 'attempt' | 'at'>,
): Promise<void> {
  await tx.orm.execute(sql`
    insert into steps (project_id, subtask_id, seq, attempt, kind, content)
    select ${projectId}, ${run.subtaskId}, ${-run.attempt}, ${run.attempt}, 'prompt', ${JSON.stringify(content)}::jsonb
    where not exists (
      select from steps where project_id = ${projectId} and subtask_id = ${run.subtaskId} and seq = ${-run.attempt} and at > muster_now() - interval '1 day'
    )`)
}

/** The prompts of a subtask, in the order of its attempts. */
export async function listPrompts(
  tx: Tx,
  projectId: string,
  subtask: { id: string; completedAt: Date | null },
  afterAttempt: number,
  limit: number,
): Promise<SentPrompt[]> {
  const [, rows] = await pipeline([
    planForValues(tx),
    tx.orm
      .select({ attempt: steps.attempt, content: steps.content, at: steps.at })
      .from(steps)
      .where(and(rowsOfSubtask(projectId, subtask.id, subtask.completedAt), lt(steps.seq, -afterAttempt)))
      .orderBy(desc(steps.seq))
      .limit(limit),
  ])
  return rows.map(({ attempt, content, at }) => ({ attempt, ...(content as Omit<SentPrompt, 'attempt' | 'at'>), at }))
}

function ofSubtask(projectId: string, subtaskId: string, completedAt: Date | null): SQL | undefined {
  return and(rowsOfSubtask(projectId, subtaskId, completedAt), gt(steps.seq, 0))
}

/**
 * Steps of one subtask and its prompts, from the days in which it can have made any: a statement locks the partitions of these days, and no others. A subtask has made
 * none before its id, a UUIDv7 that begins with its time, and none after its end.
 */
function rowsOfSubtask(projectId: string, subtaskId: string, completedAt: Date | null): SQL | undefined {
  const madeMs = subtaskId[14] === '7' ? Number.parseInt(subtaskId.slice(0, 8) + subtaskId.slice(9, 13), 16) : 0
  return and(
    eq(steps.projectId, projectId),
    eq(steps.subtaskId, subtaskId),
    gte(steps.at, new Date(madeMs - CLOCKS_APART_MS)),
    completedAt === null ? undefined : lt(steps.at, new Date(completedAt.getTime() + DAY_MS)),
  )
}

/** A transcript in its order. `completedAt` is that of the subtask, if it has ended. */
export async function listSteps(
  tx: Tx,
  projectId: string,
  subtask: { id: string; completedAt: Date | null },
  afterSeq: number,
  limit: number,
): Promise<Step[]> {
  const [, rows] = await pipeline([
    planForValues(tx),
    tx.orm
      .select({ seq: steps.seq, attempt: steps.attempt, kind: steps.kind, content: steps.content, at: steps.at })
      .from(steps)
      .where(and(ofSubtask(projectId, subtask.id, subtask.completedAt), gt(steps.seq, afterSeq)))
      .orderBy(asc(steps.seq))
      .limit(limit),
  ])
  return rows
}

/** The last step of an attempt, and how long ago it was stored, in seconds; null if it has made none. */
export async function findLastStep(
  tx: Tx,
  projectId: string,
  run: { subtaskId: string; attempt: number },
): Promise<{ seq: number; ageSeconds: number } | null> {
  const [, [row]] = await pipeline([
    planForValues(tx),
    tx.orm
      .select({ seq: steps.seq, attempt: steps.attempt, ageSeconds: sql<number>`floor(extract(epoch from muster_now() - ${steps.at}))::int` })
      .from(steps)
      .where(ofSubtask(projectId, run.subtaskId, null))
      .orderBy(desc(steps.seq))
      .limit(1),
  ])
  return row === undefined || row.attempt !== run.attempt ? null : { seq: row.seq, ageSeconds: Math.max(0, row.ageSeconds) }
}

/** The end of the transcript of an ended subtask, oldest first. */
export async function listLastSteps(
  tx: Tx,
  projectId: string,
  subtask: { id: string; completedAt: Date | null },
  limit: number,
): Promise<Pick<Step, 'kind' | 'content'>[]> {
  const [, rows] = await pipeline([
    planForValues(tx),
    tx.orm
      .select({ kind: steps.kind, content: steps.content })
      .from(steps)
      .where(ofSubtask(projectId, subtask.id, subtask.completedAt))
      .orderBy(desc(steps.seq))
      .limit(limit),
  ])
  return rows.reverse()
}

/**
 * How many answers of a model a transcript shows. Messages and calls in a row are one answer: results of tools, updates or errors stand between two
 * answers.
 */
export async function countAnswers(tx: Tx, projectId: string, subtaskId: string): Promise<number> {
  const counted = tx.orm.execute<{ answers: number }>(sql`
    select count(*) filter (where is_said and (was_said is not true or attempt is distinct from attempt_before))::int as answers
    from (
      select attempt, is_said, lag(is_said) over w as was_said, lag(attempt) over w as attempt_before
      from (
        select seq, attempt, kind in ('message', 'tool_call') as is_said from steps where ${ofSubtask(projectId, subtaskId, null)}
      ) said
      window w as (order by seq)
    ) entries`)
  const [, [row]] = await pipeline([planForValues(tx), counted])
  return row?.answers ?? 0
}

/** Of a failure, only so many characters are compared and shown. */
const FAILURE_LENGTH_MAX = 2_000
const ARGUMENTS_SHOWN = 400

/**
 * The uses of tools among the last steps of an attempt, and the loop rules of its project, if it has its own. The server digests arguments and cuts texts, because a
 * transcript may have megabytes of them.
 *
 * @param afterSeq of the step before the first that is read
 */
export async function listToolSteps(
  tx: Tx,
  projectId: string,
  { subtaskId, attempt, afterSeq }: { subtaskId: string; attempt: number; afterSeq: number },
): Promise<{ steps: ToolStep[]; loops: LoopSettings | null }> {
  const read = tx.orm.execute<ToolStepRow>(sql`
    select p.settings -> 'loops' as loops, s.seq, s.kind, s.content ->> 'id' as id, s.content ->> 'name' as tool,
      case when s.kind = 'tool_call' then md5(coalesce(s.content ->> 'input', '')) end as digest,
      case when s.kind = 'tool_call' then left(coalesce(s.content ->> 'input', ''), ${ARGUMENTS_SHOWN}) end as shown,
      case when s.kind = 'tool_result' and s.content -> 'is_error' = 'true' then left(coalesce(s.content ->> 'output', ''), ${FAILURE_LENGTH_MAX}) end as failure
    from projects p
    left join (select * from steps where ${ofSubtask(projectId, subtaskId, null)}) s on s.seq > ${afterSeq} and s.attempt = ${attempt}
      and s.kind in ('tool_call', 'tool_result') and jsonb_typeof(s.content) = 'object'
    where p.id = ${projectId}
    order by s.seq`)
  const [, rows] = await pipeline([planForValues(tx), read])
  const steps = rows.flatMap(({ seq, kind, id, tool, digest, shown, failure }) =>
    seq === null ? [] : [{ seq, kind, id, tool, argumentsDigest: digest, shownArguments: shown, failure }],
  )
  return { steps, loops: rows[0]?.loops ?? null }
}

type ToolStepRow = {
  loops: LoopSettings | null
  seq: number | null
  kind: ToolStep['kind']
  id: string | null
  tool: string | null
  digest: string | null
  shown: string | null
  failure: string | null
}

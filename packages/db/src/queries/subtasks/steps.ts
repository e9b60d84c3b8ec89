import type { LoopSettings, StepKind, ToolStep } from '@muster/domain'
import { and, asc, desc, eq, gt, sql } from 'drizzle-orm'
import type { Tx } from '../../client.ts'
import { steps } from '../../schema/steps.ts'

export interface Step {
  seq: number
  attempt: number
  kind: StepKind
  content: unknown
  at: Date
}

/** A transcript in its order. */
export async function listSteps(tx: Tx, projectId: string, subtaskId: string, afterSeq: number, limit: number): Promise<Step[]> {
  return await tx.orm
    .select({ seq: steps.seq, attempt: steps.attempt, kind: steps.kind, content: steps.content, at: steps.at })
    .from(steps)
    .where(and(eq(steps.projectId, projectId), eq(steps.subtaskId, subtaskId), gt(steps.seq, afterSeq)))
    .orderBy(asc(steps.seq))
    .limit(limit)
}

/** The last step of an attempt, and how long ago it was stored, in seconds; null if it has made none. */
export async function findLastStep(
  tx: Tx,
  projectId: string,
  run: { subtaskId: string; attempt: number },
): Promise<{ seq: number; ageSeconds: number } | null> {
  const [row] = await tx.orm
    .select({ seq: steps.seq, attempt: steps.attempt, ageSeconds: sql<number>`floor(extract(epoch from muster_now() - ${steps.at}))::int` })
    .from(steps)
    .where(and(eq(steps.projectId, projectId), eq(steps.subtaskId, run.subtaskId)))
    .orderBy(desc(steps.seq))
    .limit(1)
  return row === undefined || row.attempt !== run.attempt ? null : { seq: row.seq, ageSeconds: Math.max(0, row.ageSeconds) }
}

/** The end of a transcript, oldest first. */
export async function listLastSteps(tx: Tx, projectId: string, subtaskId: string, limit: number): Promise<Pick<Step, 'kind' | 'content'>[]> {
  const rows = await tx.orm
    .select({ kind: steps.kind, content: steps.content })
    .from(steps)
    .where(and(eq(steps.projectId, projectId), eq(steps.subtaskId, subtaskId)))
    .orderBy(desc(steps.seq))
    .limit(limit)
  return rows.reverse()
}

/**
 * How many answers of a model a transcript shows. Messages and calls in a row are one answer: results of tools, updates or errors stand between two
 * answers.
 */
export async function countAnswers(tx: Tx, projectId: string, subtaskId: string): Promise<number> {
  const [row] = await tx.orm.execute<{ answers: number }>(sql`
    select count(*) filter (where is_said and (was_said is not true or attempt is distinct from attempt_before))::int as answers
    from (
      select attempt, is_said, lag(is_said) over w as was_said, lag(attempt) over w as attempt_before
      from (
        select seq, attempt, kind in ('message', 'tool_call') as is_said from steps where project_id = ${projectId} and subtask_id = ${subtaskId}
      ) said
      window w as (order by seq)
    ) entries`)
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
  const rows = await tx.orm.execute<ToolStepRow>(sql`
    select p.settings -> 'loops' as loops, s.seq, s.kind, s.content ->> 'id' as id, s.content ->> 'name' as tool,
      case when s.kind = 'tool_call' then md5(coalesce(s.content ->> 'input', '')) end as digest,
      case when s.kind = 'tool_call' then left(coalesce(s.content ->> 'input', ''), ${ARGUMENTS_SHOWN}) end as shown,
      case when s.kind = 'tool_result' and s.content -> 'is_error' = 'true' then left(coalesce(s.content ->> 'output', ''), ${FAILURE_LENGTH_MAX}) end as failure
    from projects p
    left join steps s on s.project_id = p.id and s.subtask_id = ${subtaskId} and s.seq > ${afterSeq} and s.attempt = ${attempt}
      and s.kind in ('tool_call', 'tool_result') and jsonb_typeof(s.content) = 'object'
    where p.id = ${projectId}
    order by s.seq`)
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

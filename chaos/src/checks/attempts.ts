import { checkRows, type Evidence } from './check.ts'

const RESULTS = `
  select s.id, s.attempt, s.status, s.runner, s.final_outcome, coalesce(s.result, convert_from(substring(b.bytes from 1 for 400), 'UTF8')) as result
  from subtasks s left join bodies b on b.id = s.result_body_id`

/** What a fenced attempt did left nothing behind, and attempts came one after the other. */
export async function checkAttempts(evidence: Evidence): Promise<void> {
  const { admin, ledger, findings } = evidence
  const results = admin.unsafe(`(${RESULTS}) as r`)
  const rows = await admin<
    { id: string; attempt: number; status: string; runner: string; result: string | null; made_by: string | null; nonce: string | null }[]
  >`
    select id, attempt, status, runner, left(result, 200) as result, substring(result from 'made-by ([0-9a-f-]+#[0-9]+)') as made_by,
      substring(result from 'nonce (\\S+)') as nonce
    from ${results} where result is not null`
  findings.none(
    "a stored result is its row's last attempt's own",
    rows.length,
    rows
      .filter((row) => row.made_by !== `${row.id}#${row.attempt}`)
      .map((row) => `${row.id}#${row.attempt} (${row.runner}, ${row.status}) holds "${row.result?.slice(0, 120)}"`),
  )

  const nonces = new Map(rows.flatMap((row) => (row.nonce === null ? [] : [[row.nonce, row] as const])))
  const refused = ledger.claims.filter((claim) => claim.end === 'refused')
  findings.none(
    'what an outside worker was refused (412) left no result',
    refused.length,
    refused.filter((claim) => nonces.has(claim.nonce)).map((claim) => `${claim.subtaskId}#${claim.attempt} ${claim.nonce} (${claim.did})`),
  )
  const ends = new Map(
    (
      await admin<{ id: string; status: string; attempt: number; is_brief: boolean }[]>`
      select id, status, attempt, task_id is not null as is_brief from subtasks where runner = 'external'`
    ).map((row) => [row.id, row]),
  )
  // Outputs that its brief has come to ask for meanwhile are missing: such a result is not accepted, which the answer says.
  const completed = ledger.claims.filter(
    (claim) => claim.end === 'settled' && claim.verb === 'complete' && (claim.status === 'completed' || ends.get(claim.subtaskId)?.is_brief !== true),
  )
  findings.none(
    'what an outside worker handed in (200) is the result',
    completed.length,
    completed
      .filter((claim) => !nonces.has(claim.nonce))
      .map((claim) => `${claim.subtaskId}#${claim.attempt} ${claim.nonce} (${claim.did}): ${JSON.stringify(ends.get(claim.subtaskId))}`),
  )
  findings.none(
    'an attempt is given to one outside worker only',
    ledger.claims.length,
    [...Map.groupBy(ledger.claims, (claim) => `${claim.subtaskId}#${claim.attempt}`)]
      .filter(([, group]) => group.length > 1)
      .map(([ref, group]) => `${ref}: ${group.map((claim) => claim.nonce).join(', ')}`),
  )

  const attempts = admin`select count(*) from attempts`
  await checkRows(
    evidence,
    'every attempt has ended, and before the next one began',
    attempts,
    admin`
      select a.subtask_id, a.attempt, a.outcome, a.ended_at, n.started_at as next from attempts a
      left join attempts n on n.subtask_id = a.subtask_id and n.attempt = a.attempt + 1
      where a.ended_at is null or a.outcome is null or (n.started_at < a.ended_at and not chaos.is_repeated(a.ended_at))`,
  )
  await checkRows(
    evidence,
    'attempts are numbered from 1 to the last one',
    attempts,
    admin`
      select s.id, s.attempt, count(a.attempt), max(a.attempt) from subtasks s left join attempts a on a.subtask_id = s.id
      group by s.id having count(a.attempt) <> s.attempt or coalesce(max(a.attempt), 0) <> s.attempt`,
  )
  await checkRows(
    evidence,
    'no step of an attempt comes after one of a later attempt',
    admin`select count(*) from steps`,
    admin`
      select subtask_id, seq, attempt, before from (
        select subtask_id, seq, attempt, lag(attempt) over (partition by subtask_id order by seq) as before from steps where seq > 0
      ) as step where before > attempt`,
  )
}
